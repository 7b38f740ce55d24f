"""The robots in their simulators: moving, speed, agreement and report (`make gallery`).

A robot whose report is there already is not run again. `make site` shows the page.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import roboaccord as ra
from rich.progress import track
from roboaccord.engines import installed_names

OUT = Path("runs/gallery")
SCENES = {
    "snake": "serpenoid",
    "monkeybot": "brachiate",
    "packbot": "shelf",
    "roller_sphere": "figure_eight",
    "voxel_sphere": "bowl",
}
WIDTH, RATE = "320x200", 10.0  # pixels, 1/s: small files, several to a page


def cell(robot: str, scenario: str, engine: str) -> str:
    """Run a robot in one simulator, and return its picture and speed."""
    try:
        for _ in range(2):  # the first run compiles
            run = ra.run(robot, scenario, engine=engine, out=OUT / "work" / f"{robot}_{engine}")
    except ra.AccordError as error:
        return str(error)
    film = OUT / robot / f"{engine}.gif"
    ra.view(run, gif=film, size=WIDTH, fps=RATE)
    picture = f"![{robot} in {engine}](gallery/{robot}/{engine}.gif){{width=200}}"
    return f"{picture}<br>{run.speed:.3g} x real time"


def row(robot: str, scenario: str, engines: list[str]) -> list[str]:
    """Return the cells of a robot's row, kept in a file once they are made."""
    folder = OUT / robot
    kept = folder / "row.json"
    if kept.is_file():
        return list(json.loads(kept.read_text(encoding="utf-8")))
    folder.mkdir(parents=True, exist_ok=True)
    cells = [cell(robot, scenario, engine) for engine in engines]
    report = ra.crosscheck(robot, scenario, out=folder)
    assert isinstance(report, ra.Report)
    for place, engine in enumerate(engines[1:], 1):
        found = [by[engine] for by in report.levels.values() if engine in by]
        off = [f"{f.level}: {f.outcome}" for f in found if f.outcome in ("outside", "not_judged")]
        if found:
            cells[place] += f"<br>{', '.join(off).replace('_', ' ') or 'in agreement'}"
    words = f"{robot} {scenario}<br>[{report.verdict}](gallery/{robot}/report.html)"
    kept.write_text(json.dumps([words, *cells]), encoding="utf-8")
    return [words, *cells]


def main() -> None:
    """Run, film and check each robot, and write the page."""
    engines = installed_names(lambda line: print(line, file=sys.stderr))
    rows = [row(*scene, engines) for scene in track(SCENES.items(), "robots")]
    lines = [
        "# Gallery",
        "",
        "Each robot in its simulators: simulated time over wall time of one run, and what the",
        "cross-check reports of that engine. The verdict links to the report.",
        "",
        *(f"| {' | '.join(cells)} |" for cells in [["robot", *engines]]),
        "|---" * (len(engines) + 1) + "|",
        *(f"| {' | '.join(cells)} |" for cells in rows),
    ]
    (OUT / "gallery.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{OUT}/gallery.md; make site shows it")


if __name__ == "__main__":
    main()
