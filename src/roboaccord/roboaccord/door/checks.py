"""The cross-check as a function: of engines against the reference, and of recorded runs.

A cross-check compares physics engines such as DART and MuJoCo with the reference, the simulator
whose equations of motion are written out in this project. `crosscheck` is what `ra.crosscheck` and
the command call. For a robot it runs the check of the folder crosscheck/ and writes the page
report.html; for a recorded run it calls `check_recording`, which compares every control period.

CROSSCHECK states which options go with which mode (contract/modes.py): a robot by its name
("ROBOT"), its file ("FILE", "FILE.xacro") or a recorded run ("BAG"). A new argument is named there,
too. Names of arguments and types of results stay (docs/python.md). Logs (tables of a motion that
was recorded elsewhere) have the mode "BAG" here, and are recognised by TABLE_SUFFIXES; another
package checks them, by its mode `crosscheck.LOG`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from roboaccord.contract import ROBOTS, AccordError, Engine, Modes, plugins
from roboaccord.contract.errors import missing
from roboaccord.crosscheck.runs import QUIET, Progress
from roboaccord.door import arguments
from roboaccord.door.arguments import Keywords, Options, Recording, Settings, Subject, subject_mode
from roboaccord.engines import installed_names
from roboaccord.run import Run, write_text
from roboaccord.scenario import Setup, find_robot, is_file, load_scenario
from roboaccord.scenario.setups import load_setup

if TYPE_CHECKING:
    from roboaccord.bag.reader import BagRun
    from roboaccord.crosscheck.level import AnyLevel
    from roboaccord.crosscheck.report import Report

TABLE_SUFFIXES = (".csv", ".txt", ".tsv", ".npz", ".mat", ".parquet")


def _modes(options: Mapping[str, Any]) -> list[str]:
    """Return the mode that options choose, by their names on the command line.

    Raises:
        AccordError: for a log, if no installed package checks logs.
    """
    subject = options["what"]
    mode = subject_mode(subject)
    if mode == "BAG":
        has_robot_file = is_file(str(options.get("robot")))
        is_log = is_table(subject) or (has_robot_file and not options.get("words"))
        advice = plugins.lacking("commands", "crosscheck.LOG", "the check of a log")
        if is_log and advice:
            raise AccordError(advice)
    return [mode]


def is_table(recording: Recording) -> bool:
    """Return whether a recording is the path of a log that is a table."""
    return isinstance(recording, str | Path) and Path(recording).suffix.lower() in TABLE_SUFFIXES


# Options and arguments that go with a check of engines, separated by blanks; those that describe
# the robot are in ROBOTS.
ENGINE_OPTIONS = (
    "engines refine perturb profile verbose out force refused progress changed command all levels"
)
OPTIONS = {mode: f"{robot_options} {ENGINE_OPTIONS}" for mode, robot_options in ROBOTS.items()}
CROSSCHECK = Modes(_modes, {**OPTIONS, "BAG": "words robot set trust"})


@CROSSCHECK.check_arguments
def crosscheck(
    robot_or_recording: Subject | Recording,
    scenario: str | Path | None = None,
    *,
    robot: str | Path | None = None,
    engines: Sequence[Engine] | None = None,
    settings: Settings | None = None,
    refine: int = 3,
    refused: Callable[[str, AccordError], None] | None = None,
    progress: Progress = QUIET,
    changed: bool = False,
    command: str = "",
    levels: Sequence[AnyLevel] = (),
    every: bool = False,
    out: str | Path | None = None,
    **options: Unpack[Keywords],
) -> Report:
    """Check engines, or a recorded run, against the reference, as `accord crosscheck` does.

    Args:
        robot_or_recording: a robot, or a recorded run, of which every control period is checked: a
            bag, a run folder, or what `run` returned.
        scenario: name, or a YAML file; by default that of the recorded run.
        robot: robot of a recorded run that does not name it.
        engines: names or specifications; by default the installed ones.
        settings: values by key of the scenario; `crosscheck.duration` [s] is the length of the
            runs that are judged.
        refine: number of physics steps at which the motion is compared, each half of the last.
        refused: called with each engine that cannot run the scenario, and why; the engine is left
            out. Without it, such an engine is an error if it was named.
        progress: shows how far the check is; by default nothing is shown.
        changed: whether the setup is no longer that of the scenario's file.
        command: shell command that repeats the check, for the page.
        levels: further levels, each a `crosscheck.level.Level`.
        every: whether the engines' expert settings are checked, too.
        out: folder for report.html, summary.json and bags; by default a new one under runs/.
        **options: `duration`, `control_period`, `physics_step` [s] and `seed` of the scenario, and
            the options of a robot that is a file: see `Keywords`.

    Returns:
        a report, whose `verdict` is pass, fail or undecided; `print(report)` explains it.

    Raises:
        AccordError: if something that is needed is missing, or an argument is wrong.

    Example:
        >>> report = ra.crosscheck("snake", "serpenoid", engines=["mujoco"], duration=1)
        >>> one_step = report.checks["one_step"]
        >>> report.verdict, one_step["mujoco"].max
        >>> ra.crosscheck(ra.run("snake", "serpenoid", engine="dart")).line()
    """
    if not isinstance(robot_or_recording, Setup) and subject_mode(robot_or_recording) == "BAG":
        from roboaccord.bag.reader import read_run

        run = read_run(arguments.bag_of(robot_or_recording))
        changes, robot_options = arguments.changes_and_options(settings, options)
        return check_recording(run, str(robot or ""), str(scenario or ""), changes, **robot_options)
    from roboaccord.crosscheck.run import run_crosscheck
    from roboaccord.robots.excitation import excited

    assert not isinstance(robot_or_recording, Run)
    setup = arguments.setup_of(robot_or_recording, scenario, settings, **options)
    folder = arguments.folder_of(out, setup, "crosscheck")
    setup, notes = excited(setup)
    if engines is None:
        engines = installed_names(arguments.tell)
        refused = refused or _tell_refused
    report = run_crosscheck(
        setup,
        engines,
        refine=refine,
        out=folder,
        command=command,
        refused=refused,
        changed=changed or bool(settings or options.keys() - {"base", "packages", "arguments"}),
        progress=progress,
        levels=levels,
        every=every,
        notes=notes,
    )
    _write_page(report, folder)
    return report


def _write_page(report: Report, folder: Path) -> None:
    """Write report.html, if the libraries for it are installed."""
    if missing_library := missing("report"):
        arguments.tell(f"no report.html beside summary.json: it needs {missing_library}")
        return
    from roboaccord.report.figures import render_report

    write_text(folder / "report.html", render_report(report))


def _tell_refused(name: str, error: AccordError) -> None:
    """Log that an engine is left out, and why."""
    arguments.tell(f"left out: {name}: {error}")


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

    # 1. A named scenario, or a named robot where the bag has no scenario: they are loaded.
    if scenario or (robot and not run.scenario):
        name = robot or str(run.scenario.get("robot", run.robot))
        if robot or not is_file(name):
            return check_bag(run, setup=load_setup(name, scenario, changes, **options))
        # The recorded robot is a file, which may be gone: the bag has its description.
        recorded_robot = run.setup().robot
        named = load_scenario(recorded_robot.package, recorded_robot.key, scenario, changes)
        return check_bag(run, setup=Setup.of(named, recorded_robot))
    # 2. No scenario at all: `check_bag` refuses the bag.
    if not run.scenario:
        return check_bag(run, setup=None)
    # 3. The recorded scenario, with another robot if one is named.
    robot_change = [f"robot={json.dumps(find_robot(robot).key)}"] if robot else []
    return check_bag(run, setup=run.setup([*robot_change, *changes]))
