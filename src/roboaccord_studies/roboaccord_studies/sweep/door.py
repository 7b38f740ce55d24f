"""`ra.sweep`: runs a scenario from many seeds, with statistics and their page.

It is the Python function that does what `accord sweep` does. An argument may be added with a
default, and is an option of the command, too. Names of arguments and the type of the result stay
(docs/python.md).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from roboaccord.contract import ROBOTS, Engine, Modes, to_json
from roboaccord.door import Options, Settings, Subject, folder_of, setup_of, subject_mode
from roboaccord.run import sweep as seeded
from roboaccord.run import write_text

from roboaccord_studies.sweep.page import render_sweep
from roboaccord_studies.sweep.study import Study


@Modes(lambda given: [subject_mode(given["robot"])], ROBOTS).guard
def sweep(
    robot: Subject,
    scenario: str | Path | None = None,
    *,
    figure: str = "speed",
    engines: Sequence[Engine] = ("reference",),
    physics_steps: Sequence[float] = (),
    seeds: int = 20,
    settings: Settings | None = None,
    workers: int = 0,
    done: Callable[[str, float, int], None] = lambda engine, step, seed: None,
    command: str = "",
    out: str | Path | None = None,
    **options: Unpack[Options],
) -> Study:
    """Run a scenario from many seeds, as `accord sweep` does; write summary.json and report.html.

    Args:
        robot, scenario, settings, out, **options: see `roboaccord.door.run`.
        figure, engines, physics_steps, seeds, workers, done: see `roboaccord.run.sweep.sweep`.
        command: command line that repeats the sweep, shown on the page.

    Raises:
        AccordError: as `roboaccord.run.sweep.sweep`.
    """
    setup = setup_of(robot, scenario, settings, **options)
    cells = seeded.sweep(
        setup, figure=figure, engines=engines, physics_steps=physics_steps, seeds=seeds,
        workers=workers, done=done,
    )  # fmt: skip
    study = Study.of(setup, figure, seeds, cells, command)
    out_folder = folder_of(out, setup, "sweep")
    out_folder.mkdir(parents=True, exist_ok=True)
    write_text(out_folder / "summary.json", json.dumps(to_json(study), indent=1))
    write_text(out_folder / "report.html", render_sweep(study))
    return replace(study, report=out_folder / "report.html")
