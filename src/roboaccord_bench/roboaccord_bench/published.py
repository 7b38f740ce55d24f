"""Files of a bench for the tests of engines: descriptions, exact series, and series of engines.

check.py, which needs numpy alone, compares the series of an engine at several steps with the exact
one; descriptions are URDF, SDF and MJCF of the scene at the largest step.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from roboaccord.contract import writing

from roboaccord_bench.bench import Json
from roboaccord_bench.found import load_problem
from roboaccord_bench.scene import Scene, mjcf, sdf, urdf
from roboaccord_bench.shown import case_name, engine_text

ROWS = 400  # of an exact series


def publish(data: Json, folder: Path) -> list[Path]:
    """Write the files of all problems, in a folder each, and return the folders."""
    folders = dict[Path, None]()
    for entry in data["problems"]:
        problem, case = load_problem(entry["name"]), entry["case"]
        name = case_name(entry)
        place = folder / problem.name
        place.mkdir(exist_ok=True)
        folders[place] = None
        head = ["time [s]", *problem.columns]
        for result in entry["results"]:
            label = f"{name}_{engine_text(result).replace(' ', '_')}"
            _write_rows(place / f"{label}.csv", head, result["series"])
        scene, duration = problem.scene(**case), problem.duration
        times = [duration * number / ROWS for number in range(ROWS + 1)]
        exact = [(time, *problem.series(time, **case)) for time in times]
        _write_rows(place / f"{name}_exact.csv", head, exact)
        _write_scene(place, name, scene)
    return [*folders]


def _write_scene(place: Path, name: str, scene: Scene) -> None:
    """Write a scene in three formats, with a URDF for each body; surfaces are those of pairs."""
    bodies = tuple(
        replace(body, mu=scene.mu, restitution=scene.restitution) if body.mu is None else body
        for body in scene.bodies
    )
    scene = replace(scene, bodies=bodies)
    texts = {f"{name}.sdf": sdf(scene, 1e-3), f"{name}.xml": mjcf(scene)}
    texts |= {f"{name}_{body.name}.urdf": urdf(body) for body in scene.bodies}
    for file, text in texts.items():
        with writing(place / file) as draft:
            draft.write_text(text)


def _write_rows(path: Path, head: Sequence[str], rows: Iterable[Sequence[float]]) -> None:
    """Write rows of numbers as CSV."""
    with writing(path) as draft, draft.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
