"""Check a user's log from Python: `ra.crosscheck("log.csv", robot="arm.urdf")`.

`crosscheck_log` loads the robot's file, reads the log, compares the two (check.py) and writes the
files of the result. LOG registers it with `ra.crosscheck`, which calls it when `is_log` says that
what is checked is a log.

An option is added as a parameter here and in command.py, and as a word of TAKES. A base that moves
without a recorded pose, and mimic joints, stay refused: the equations of windows.py do not have
them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from roboaccord.contract import AccordError, AddedMode, to_json
from roboaccord.contract.files import check_file
from roboaccord.crosscheck.report import Report
from roboaccord.door.arguments import Options, Settings, changes_of
from roboaccord.door.checks import is_table
from roboaccord.run.output import write_text
from roboaccord.scenario.installed import is_file
from roboaccord.scenario.setups import load_setup

from roboaccord_files.excitation.suitable import check_fixed, check_joints
from roboaccord_files.logs.actuators import ENDINGS, read_actuators
from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.check import check_log
from roboaccord_files.logs.figure import draw
from roboaccord_files.logs.flight import where_known
from roboaccord_files.logs.log import Choice, read_log


def is_log(given: Mapping[str, Any]) -> bool:
    """Return whether what is checked is a log: a table, or a bag given with a robot's file.

    Args:
        given: arguments of `ra.crosscheck` by name; `words` are those of a scenario.
    """
    what, robot = given["what"], given.get("robot")
    if not isinstance(what, str | Path) or is_file(str(what)):
        return False
    return is_table(what) or bool(robot and is_file(str(robot)) and not given.get("words"))


def crosscheck_log(
    robot_or_recording: str | Path,
    *,
    robot: str | Path | None = None,
    settings: Settings | None = None,
    columns: Mapping[str, str] | None = None,
    out: str | Path | None = None,
    changes: Sequence[str] = (),
    topic: str = "",
    names: str = "",
    run: int = 0,
    passive: bool = False,
    effort: str = "",
    **options: Unpack[Options],
) -> Report:
    """Check the log of somebody's own simulator or robot against a robot's file.

    Args:
        robot_or_recording: path of the log: text, NPZ, MAT, Parquet or a bag.
        robot: path of the robot's file; its dry friction is on unless `settings` turn it off.
        settings: changed parameters of the robot, by key.
        columns: what the columns of the log hold, as for `read_log`.
        out: folder for summary.json and efforts.svg; None writes nothing.
        changes: more settings, each as `KEY=VALUE`.
        topic, names, run, passive: as for `Choice`.
        effort: what the efforts of the log are, as for `Choice`; or path of a YAML file of
            actuators (actuators.py).
        **options: base, packages and other options of a robot that is a file.

    Raises:
        AccordError: if the log or the robot cannot be read, or the base moves and what touches it
            is unknown.
    """
    path = Path(robot_or_recording)
    if not path.exists():
        check_file(path)
    if robot is None:
        raise AccordError(f"{path} is a log: --robot FILE names the file of its robot")
    # The robot, with the dry friction of its file.
    defaults = ["parameters.dry_friction=1"] if is_file(str(robot)) else []
    setup = load_setup(str(robot), "", [*defaults, *changes_of(settings), *changes], **options)
    check_joints(setup, str(robot), "a log can be checked")
    # The log, with the largest angle of each hinge [rad] to tell degrees from radians, and the
    # factors from recorded efforts to torques that a file of actuators gives.
    hinges = (joint for joint in setup.tree.moving if joint.name in setup.tree.hinges)
    limits = {joint.name: float(np.abs(joint.ends).max()) for joint in hinges}
    factors = dict[str, float]()
    if Path(effort).suffix in ENDINGS:
        factors, effort = read_actuators(Path(effort), setup.joints), "torque"
    choice = Choice(topic, names, run, passive, effort, factors)
    log = read_log(path, setup.joints, columns or {}, limits, choice)
    if not log.base:
        check_fixed(setup, str(robot), "a log can be checked without its pose")
    # The equations of the robot, with the joints of a floating base, where the log has one.
    parameters = setup.parameters
    damping = getattr(parameters, "damping", 1.0)
    dry = getattr(parameters, "dry_friction", 1.0)
    tree = log.base.carrying(setup.tree) if log.base else setup.tree
    body = LogBody.of(tree, log.joints, parameters.gravity, damping, dry)
    # The comparison; of a floating base only where contacts are known.
    log = where_known(log, body) if log.base else log
    report = check_log(log, body, effort or ("commanded" if log.commanded else ""))
    if out is not None:
        Path(out).mkdir(parents=True, exist_ok=True)
        write_text(Path(out) / "summary.json", json.dumps(to_json(report), indent=2))
        draw(log, body, report.step, Path(out) / "efforts.svg")
    return report


# Options of the command line that a log takes, by name without --; := stands for KEY:=VALUE words.
TAKES = "robot map topic names run passive effort set base package trust := out"
LOG = AddedMode(is_log, TAKES, crosscheck_log)
