"""Arguments of the functions of the Python API: robots, scenarios with settings, recorded runs.

`run` (runs.py) and `crosscheck` (checks.py) share the types below, which are in signatures that
users read, and whose names stay. `subject_mode` tells robots, files and recorded runs apart,
`setup_of` makes a setup (a robot in a scenario) of a robot or a file. An option for every robot is
a field of `Options`, named in ROBOTS (contract/modes.py). Messages go to the logger `roboaccord`,
never to stdout.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypedDict, Unpack

from roboaccord.contract import SETUP, to_json
from roboaccord.run.output import check_own, fresh
from roboaccord.scenario import Setup, is_file, robot_names
from roboaccord.scenario.setups import load_setup

if TYPE_CHECKING:
    from roboaccord.run.runner import Run

# A robot by its name or its file (URDF, xacro, SDF, MJCF), or a robot in a scenario.
Subject: TypeAlias = str | Path | Setup
# A recorded run: the folder or a file of its bag, or the result of `run`.
Recording: TypeAlias = "str | Path | Run"
# Values by key of the scenario, as for `--set`: `{"friction.mu_along": 0.5}`.
Settings: TypeAlias = Mapping[str, object]

tell = logging.getLogger("roboaccord").info  # reports a line that a person may want to read


class Options(TypedDict, total=False):
    """Options for a robot in a scenario.

    Args:
        faults: `JOINT=KIND[@S]`, in place of the scenario's.
        base: how the root of a file moves: `fixed`, `planar` or `free`.
        packages: folders of ROS packages that a file names.
        arguments: of a xacro file.
    """

    faults: Sequence[str]
    base: str
    packages: Mapping[str, Path]
    arguments: Mapping[str, str]


def setup_of(
    robot: Subject,
    scenario: str | Path | None = None,
    settings: Settings | None = None,
    **options: Unpack[Options],
) -> Setup:
    """Return a robot in a scenario, with settings and options; errors as in `load_setup`."""
    if isinstance(robot, Setup):
        return robot
    return load_setup(str(robot), str(scenario or ""), changes_of(settings), **options)


def subject_mode(subject: Subject | Recording) -> str:
    """Return the mode of a command: SETUP, "FILE", "FILE.xacro", "ROBOT" or, for a run, "BAG"."""
    if isinstance(subject, Setup):
        return SETUP
    if not isinstance(subject, str | Path):
        return "BAG"
    name = str(subject)
    if is_file(name):
        return "FILE.xacro" if name.endswith(".xacro") else "FILE"
    is_bag = os.path.lexists(name) or "/" in name or name.endswith((".mcap", ".db3"))
    return "BAG" if is_bag and name.replace("-", "_") not in robot_names() else "ROBOT"


def changes_of(settings: Settings | None) -> list[str]:
    """Return settings as `KEY=VALUE` texts, with the values in YAML."""
    from roboaccord.scenario.keys import in_yaml

    return [f"{key}={in_yaml(to_json(value))}" for key, value in (settings or {}).items()]


def bag_of(recording: Recording) -> Path:
    """Return the path of the bag of a recorded run."""
    return Path(recording) if isinstance(recording, str | Path) else recording.request.bag


def folder_of(out: str | Path | None, setup: Setup, ending: str) -> Path:
    """Return the folder for results: `out`, or a new one under runs/, ROBOT_SCENARIO_ENDING."""
    name = f"{setup.robot.name}_{setup.scenario.name}_{ending}"
    return fresh(Path("runs") / name) if out is None else check_own(Path(out))
