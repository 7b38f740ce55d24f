"""Verdicts: engines against the reference, and against a robot's file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from roboaccord.contract.errors import AccordError, missing
from roboaccord.contract.interfaces import Engine
from roboaccord.contract.modes import ROBOTS, Modes
from roboaccord.contract.results import to_json
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
from roboaccord.scenario.files import load_scenario, load_setup
from roboaccord.scenario.setup import Setup, find_robot, is_file

if TYPE_CHECKING:
    from roboaccord.bag.reader import BagRun
    from roboaccord.crosscheck.own_log import LogReport
    from roboaccord.crosscheck.recorded import RecordedReport
    from roboaccord.crosscheck.report import Report

Refused = Callable[[str, AccordError], None]
GUESSED: Mapping[str, str] = {}  # columns of a log


def _modes(given: Mapping[str, Any]) -> list[str]:
    what = given["what"]
    if not isinstance(what, Setup) and is_log(what, given.get("robot"), given.get("words")):
        return ["LOG"]
    return [common.subject_mode(what)]


WHOLE = "engines refine perturb profile verbose out force refused progress changed command"
CROSSCHECK = Modes(_modes, {
    **{mode: f"{names} {WHOLE}" for mode, names in ROBOTS.items()},
    "BAG": "words robot set trust",
    "LOG": "robot map set base package trust := out",
})  # fmt: skip


@overload
def crosscheck(
    robot_or_recording: Setup,
    *,
    engines: Sequence[Engine] | None = None,
    refine: int = 3,
    refused: Refused | None = None,
    progress: Progress = QUIET,
    changed: bool = False,
    command: str = "",
    out: str | Path | None = None,
) -> Report: ...


@overload
def crosscheck(
    robot_or_recording: Subject | Recording,
    scenario: str | Path | None = None,
    *,
    robot: str | Path | None = None,
    engines: Sequence[Engine] | None = None,
    settings: Settings | None = None,
    refine: int = 3,
    out: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    **options: Unpack[Options],
) -> Report | RecordedReport | LogReport: ...


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
    out: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    **options: Unpack[Options],
) -> Report | RecordedReport | LogReport:
    """Check engines, or a recorded run, against the reference, as `accord crosscheck` does.

    Args:
        robot_or_recording: a robot, or a recorded run, of which every control period is checked,
            or the log of somebody's own simulator or robot: CSV, NPZ or a bag.
        scenario: name, or a YAML file; of a recorded run its own where None.
        robot: for a recorded run that does not name its robot; for a log, the file against which
            it is checked.
        engines: by name or specification; those installed where None.
        settings: values by key.
        refine, progress, changed, command: as of `run_crosscheck`.
        refused: called with each engine that does not take the scenario, which is then left out;
            None: it is an error if such an engine is named.
        out: folder for report.html, summary.json and bags; None: a new one under runs/, or no
            folder for a log.
        columns: of a log, where a guess would be wrong, as in `read_log`.
        **options: of the robot.

    Raises:
        AccordError: if something that is needed is missing or wrong.
    """
    if isinstance(robot_or_recording, str | Path) and is_log(robot_or_recording, robot, scenario):
        changes, given = common.changes_of(settings), columns or {}
        return check_own_log(robot_or_recording, robot, changes, given, out, **options)
    if not isinstance(robot_or_recording, Setup) and (
        common.subject_mode(robot_or_recording) == "BAG"
    ):
        from roboaccord.bag.reader import read_run

        run, changes = read_run(bag_of(robot_or_recording)), common.changes_of(settings)
        return check_recording(run, str(robot or ""), str(scenario or ""), changes, **options)
    from roboaccord.crosscheck.run import run_crosscheck

    assert not isinstance(robot_or_recording, Run)
    setup = setup_of(robot_or_recording, scenario, settings, **options)
    place = folder_of(out, setup, "crosscheck")
    if refused is None and engines is None:
        refused = _tell_refused
    report = run_crosscheck(
        setup,
        installed_names(common.tell) if engines is None else engines,
        refine=refine,
        out=place,
        command=command,
        refused=refused,
        changed=changed or bool(settings or options.get("faults")),
        progress=progress,
    )
    if lacking := missing("report"):
        common.tell(f"no report.html beside summary.json: it needs {lacking}")
    else:
        from roboaccord.report.figures import render_report

        write_text(place / "report.html", render_report(report))
    return report


def _tell_refused(name: str, error: AccordError) -> None:
    common.tell(f"left out: {name}: {error}")


def is_log(
    subject: str | Path | Run, robot: str | Path | None, scenario: str | Path | None = None
) -> bool:
    """Return whether what is checked is somebody's log: a table, or a bag beside a robot's file."""
    from roboaccord.bag.log import TABLES

    if isinstance(subject, Run) or is_file(str(subject)):
        return False
    table = Path(subject).suffix.lower() in TABLES
    return table or bool(robot and is_file(str(robot)) and not scenario)


def check_own_log(
    log: str | Path,
    robot: str | Path | None,
    changes: Sequence[str] = (),
    columns: Mapping[str, str] = GUESSED,
    out: str | Path | None = None,
    **options: Unpack[Options],
) -> LogReport:
    """Check the log of somebody's own simulator or robot against a robot's file.

    Args:
        log: CSV, NPZ or a bag.
        robot: the file; its dry friction counts unless the settings change that.
        changes: `KEY=VALUE`, of the parameters of a robot that is a file.
        columns: as of `read_log`.
        out: folder for summary.json; none is written where None.
        **options: of a robot that is a file.

    Raises:
        AccordError: for what cannot be read, or a base that moves.
    """
    from roboaccord.bag.log import read_log
    from roboaccord.crosscheck.own_log import body_of, check_log

    path = Path(log)
    if not path.exists():
        raise AccordError(f"no log {path}")
    if robot is None:
        raise AccordError(f"{path} is a log: --robot FILE names the file of its robot")
    every = ["parameters.dry_friction=1"] if is_file(str(robot)) else []
    setup = load_setup(str(robot), "", [*every, *changes], **options)
    if setup.scenario.base != "fixed" or setup.tree.frame:
        raise AccordError(f"{robot}: the base moves; a log can be checked only for a fixed base")
    if mimic := [joint.name for joint in setup.tree.moving if joint.mimic]:
        raise AccordError(
            f"{robot}: {mimic[0]} mimics another joint; a log of that cannot be checked"
        )
    if not setup.joints:
        raise AccordError(f"{robot}: it has no joint that moves")
    hinges = [joint for joint in setup.tree.moving if joint.kind == "revolute"]
    limits = {joint.name: max(abs(joint.lower), abs(joint.upper)) for joint in hinges}
    samples, parameters = read_log(path, setup.joints, columns, limits), setup.parameters
    friction = (getattr(parameters, name, 1.0) for name in ("damping", "dry_friction"))
    body = body_of(setup.tree, samples.joints, parameters.gravity, *friction)
    found = check_log(samples, body)
    if out is not None:
        Path(out).mkdir(parents=True, exist_ok=True)
        write_text(Path(out) / "summary.json", json.dumps(to_json(found), indent=2))
    return found


def check_recording(
    run: BagRun,
    robot: str = "",
    scenario: str = "",
    changes: Sequence[str] = (),
    **options: Unpack[Options],
) -> RecordedReport:
    """Compare every control period of a recorded run with the reference.

    Args:
        run: from a bag.
        robot, scenario: that the bag does not name.
        changes: `KEY=VALUE` of its scenario.
        **options: of a robot that is a file.
    """
    from roboaccord.crosscheck.recorded import check_bag

    if scenario or (robot and not run.scenario):
        name = robot or str(run.scenario.get("robot", run.robot))
        if robot or not is_file(name):
            return check_bag(run, setup=load_setup(name, scenario, changes, **options))
        found = run.setup().robot
        named = load_scenario(found.package, found.key, scenario, changes)
        return check_bag(run, setup=Setup.of(named, found))
    changes = [*([f"robot={json.dumps(find_robot(robot).key)}"] if robot else ()), *changes]
    return check_bag(run, setup=run.setup(changes) if run.scenario else None)
