"""The cross-check as a function: of engines against the reference, and of recorded runs.

`crosscheck` is what `ra.crosscheck` and the command call. For a robot it runs the check of the room
crosscheck/ and writes the page; for a recorded run it calls `check_recording`. CROSSCHECK states
which arguments go with a robot, a file or a bag: a new argument is named there, too. Names of
arguments and types of results stay (docs/python.md). Logs are only recognised here, by their
endings TABLES; another package checks them, by its mode `crosscheck.LOG`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from roboaccord.contract.errors import AccordError, missing
from roboaccord.contract.interfaces import Engine
from roboaccord.contract.modes import ROBOTS, Modes
from roboaccord.contract.plugins import lacking
from roboaccord.crosscheck.runs import QUIET, Progress
from roboaccord.door import arguments as common
from roboaccord.door.arguments import (
    Options,
    Recording,
    Settings,
    Subject,
    bag_of,
    folder_of,
    setup_of,
)
from roboaccord.engines import installed_names
from roboaccord.run.output import write_text
from roboaccord.run.runner import Run
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.installed import is_file
from roboaccord.scenario.setup import Setup, find_robot
from roboaccord.scenario.setups import load_setup

if TYPE_CHECKING:
    from roboaccord.bag.reader import BagRun
    from roboaccord.crosscheck.level import AnyLevel
    from roboaccord.crosscheck.report import Report

Refused = Callable[[str, AccordError], None]  # called with an engine and why it is left out
TABLES = (".csv", ".txt", ".tsv", ".npz", ".mat", ".parquet")  # endings of files that are logs


def _modes(given: Mapping[str, Any]) -> list[str]:
    """Return the mode in force; refuse a log if no installed package checks logs."""
    mode, robot = common.subject_mode(given["what"]), given.get("robot")
    line = lacking("commands", "crosscheck.LOG", "the check of a log") if mode == "BAG" else ""
    if line and (is_table(given["what"]) or (is_file(str(robot)) and not given.get("words"))):
        raise AccordError(line)
    return [mode]


def is_table(what: Recording) -> bool:
    """Return whether a recording is the path of a log that is a table."""
    return isinstance(what, str | Path) and Path(what).suffix.lower() in TABLES


WHOLE = "engines refine perturb profile verbose out force refused progress changed command "
WHOLE += "all levels"
CROSSCHECK = Modes(_modes, {
    **{mode: f"{names} {WHOLE}" for mode, names in ROBOTS.items()},
    "BAG": "words robot set trust",
})  # fmt: skip


@CROSSCHECK.guard
def crosscheck(
    robot_or_recording: Subject | Recording,
    scenario: str | Path | None = None,
    *,
    robot: str | Path | None = None,
    engines: Sequence[Engine] | None = None,
    settings: Settings | None = None,
    refine: int = 3,
    refused: Refused | None = None,
    progress: Progress = QUIET,
    changed: bool = False,
    command: str = "",
    levels: Sequence[AnyLevel] = (),
    every: bool = False,
    out: str | Path | None = None,
    **options: Unpack[Options],
) -> Report:
    """Check engines, or a recorded run, against the reference, as `accord crosscheck` does.

    Args:
        robot_or_recording: a robot, or a recorded run, of which every control period is checked.
        scenario: name, or a YAML file; by default that of the recorded run.
        robot: robot of a recorded run that does not name it.
        engines: names or specifications; by default the installed ones.
        settings: values by key of the scenario.
        refine, progress, changed, command, levels, every: as in `run_crosscheck`.
        refused: called with each engine that cannot run the scenario, and why; the engine is left
            out. Without it, such an engine is an error if it was named.
        out: folder for report.html, summary.json and bags; by default a new one under runs/.
        **options: see `Options`.

    Raises:
        AccordError: if something that is needed is missing, or an argument is wrong.
    """
    if not isinstance(robot_or_recording, Setup) and (
        common.subject_mode(robot_or_recording) == "BAG"
    ):
        from roboaccord.bag.reader import read_run

        run, changes = read_run(bag_of(robot_or_recording)), common.changes_of(settings)
        return check_recording(run, str(robot or ""), str(scenario or ""), changes, **options)
    from roboaccord.crosscheck.run import run_crosscheck
    from roboaccord.robots.excitation import excited

    assert not isinstance(robot_or_recording, Run)
    setup = setup_of(robot_or_recording, scenario, settings, **options)
    folder = folder_of(out, setup, "crosscheck")
    setup, notes = excited(setup)
    if engines is None:
        engines, refused = installed_names(common.tell), refused or _tell_refused
    report = run_crosscheck(
        setup, engines, refine=refine, out=folder, command=command, refused=refused,
        changed=changed or bool(settings or options.get("faults")), progress=progress,
        levels=levels, every=every, notes=notes,
    )  # fmt: skip
    _write_page(report, folder)
    return report


def _write_page(report: Report, folder: Path) -> None:
    """Write report.html, if the libraries for it are installed."""
    if lacking := missing("report"):
        common.tell(f"no report.html beside summary.json: it needs {lacking}")
        return
    from roboaccord.report.figures import render_report

    write_text(folder / "report.html", render_report(report))


def _tell_refused(name: str, error: AccordError) -> None:
    """Log that an engine is left out, and why."""
    common.tell(f"left out: {name}: {error}")


def check_recording(
    run: BagRun,
    robot: str = "",
    scenario: str = "",
    changes: Sequence[str] = (),
    **options: Unpack[Options],
) -> Report:
    """Compare every control period of a recorded run with the reference.

    Args:
        run: run that was read from a bag.
        robot, scenario: in place of those that the bag names.
        changes: `KEY=VALUE`, applied to the scenario.
        **options: for a robot that is a file; see `Options`.
    """
    from roboaccord.crosscheck.recorded import check_bag

    # A scenario by name: of a named robot, or of the recorded one, whose file is not opened.
    if scenario or (robot and not run.scenario):
        name = robot or str(run.scenario.get("robot", run.robot))
        if robot or not is_file(name):
            return check_bag(run, setup=load_setup(name, scenario, changes, **options))
        recorded = run.setup().robot
        named = load_scenario(recorded.package, recorded.key, scenario, changes)
        return check_bag(run, setup=Setup.of(named, recorded))
    changes = [*([f"robot={json.dumps(find_robot(robot).key)}"] if robot else ()), *changes]
    return check_bag(run, setup=run.setup(changes) if run.scenario else None)
