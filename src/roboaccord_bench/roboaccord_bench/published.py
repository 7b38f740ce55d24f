"""Files of a bench for the tests of engines: descriptions, exact series, and series of engines.

check.py, which needs numpy alone, compares the series of an engine at several steps with the exact
one; descriptions are URDF, SDF and MJCF of the scene.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from roboaccord.contract import writing

from roboaccord_bench.bench import Json
from roboaccord_bench.found import load_problem
from roboaccord_bench.scene import mjcf, sdf, urdf
from roboaccord_bench.shown import engine_text

ROWS = 400  # of an exact series
STEP = 1e-3  # in descriptions [s]


def publish(data: Json, folder: Path) -> None:
    """Write the files of all cases, a folder for each problem."""
    for entry in data["problems"]:
        problem, case = load_problem(entry["name"]), entry["case"]
        (folder / problem.name).mkdir(exist_ok=True)
        start = folder / problem.name / "_".join(f"{key}_{case[key]:g}" for key in case)
        times = [problem.duration * number / ROWS for number in range(ROWS + 1)]
        exact = [(time, *problem.series(time, **case)) for time in times]
        series = {"exact": exact} | {engine_text(each): each["series"] for each in entry["results"]}
        for name, rows in series.items():
            _write(f"{start}_{name.replace(' ', '_')}.csv", [["time [s]", *problem.columns], *rows])
        scene = problem.scene(**case)
        scene = scene.with_surfaces(scene.mu, scene.restitution)  # those of pairs
        texts = {f"{start}.sdf": sdf(scene, STEP), f"{start}.xml": mjcf(scene)}
        texts |= {f"{start}_{body.name}.urdf": urdf(body) for body in scene.bodies}
        for path, text in texts.items():
            with writing(Path(path)) as draft:
                draft.write_text(text)


def _write(path: str, rows: Iterable[Sequence[object]]) -> None:
    """Write rows as CSV."""
    with writing(Path(path)) as draft, draft.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
