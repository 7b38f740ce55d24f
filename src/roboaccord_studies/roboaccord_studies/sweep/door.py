"""`ra.sweep`: a scenario run from many seeds, with statistics and a page; `ra` is `roboaccord`.

It is the Python function that does what the command `accord sweep` does. An argument may be added
with a default, and is an option of the command, too. Names of arguments and the type of the result
stay (docs/python.md).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from roboaccord.contract import ROBOTS, Engine, Modes, to_json
from roboaccord.door import Keywords, Settings, Subject, folder_of, setup_of, subject_mode
from roboaccord.run import sweep as seeded
from roboaccord.run import write_text

from roboaccord_studies.sweep.page import render_sweep
from roboaccord_studies.sweep.study import Study


@Modes(lambda given: [subject_mode(given["robot"])], ROBOTS).check_arguments
def sweep(
    robot: Subject,
    scenario: str | Path | None = None,
    *,
    figure: str = "",
    engines: Sequence[Engine] = ("reference",),
    physics_steps: Sequence[float] = (),
    seeds: int = 20,
    settings: Settings | None = None,
    workers: int = 0,
    done: Callable[[str, float, int], None] = lambda engine, step, seed: None,
    command: str = "",
    out: str | Path | None = None,
    **options: Unpack[Keywords],
) -> Study:
    """Run a scenario from many seeds, as `accord sweep` does; write summary.json and report.html.

    Args:
        robot: name or file of a robot, or a robot in a scenario.
        scenario: name, or a YAML file; not needed for a robot's file.
        figure: that is summarised, by its name in `run.metrics`; by default the first of the
            robot's own, such as `speed` [m/s] of the snake.
        engines: by name or specification; each runs all seeds.
        physics_steps: [s]; each engine runs with all of them. By default that of the scenario.
        seeds: number of runs; the seeds are 0, 1, ...
        settings: values by key of the scenario.
        workers: number of processes; 0 for one on each core.
        done: called with engine, physics step [s] and seed of each run that is finished.
        command: command line that repeats the sweep, shown on the page.
        out: folder for the results; by default a new one under runs/.
        **options: `duration`, `control_period` and `physics_step` [s] of the scenario; `faults`,
            and `base`, `packages` and `arguments` of a robot that is a file.

    Returns:
        the study: `cells` with the values and `statistics` of each engine and physics step.

    Raises:
        AccordError: as `roboaccord.run.sweep.sweep`.

    Example:
        >>> study = ra.sweep("snake", "serpenoid", seeds=5, settings={"initial.spread_q": 0.01})
        >>> study.cells[0].statistics.mean  # of the speed [m/s]
    """
    setup = setup_of(robot, scenario, settings, **options)
    cells = seeded.sweep(
        setup,
        figure=figure,
        engines=engines,
        physics_steps=physics_steps,
        seeds=seeds,
        workers=workers,
        done=done,
    )
    figure = next((cell.figure for cell in cells if cell.figure), figure)
    study = Study.of(setup, figure, seeds, cells, command)
    out_folder = folder_of(out, setup, "sweep")
    out_folder.mkdir(parents=True, exist_ok=True)
    write_text(out_folder / "summary.json", json.dumps(to_json(study), indent=1))
    write_text(out_folder / "report.html", render_sweep(study))
    return replace(study, report=out_folder / "report.html")
