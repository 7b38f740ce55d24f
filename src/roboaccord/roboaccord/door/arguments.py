"""Arguments of the functions of the Python API: robots, scenarios with settings, recorded runs.

`run` (runs.py) and `crosscheck` (checks.py) share the types below, which are in signatures that
users read, and whose names stay. `subject_mode` tells robots, files and recorded runs apart,
`setup_of` makes a setup (a robot in a scenario) of a robot or a file. An option for every robot is
a field of `Options`, named in ROBOTS (contract/modes.py); a key of the scenario that is a keyword,
too, is one of `Keywords`. Messages go to the logger `roboaccord`, never to stdout.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack, cast

from roboaccord.contract import SETUP, AccordError, to_json
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


class Keywords(Options, total=False):
    """Keys of the scenario that are keywords, too, beside the options.

    A key is one if it has no section, and no argument has its name. All others, such as
    `friction.mu_along`, are in `settings`.

    Args:
        duration: length of the run [s].
        control_period: time for which a command is held [s].
        physics_step: step of the simulators [s], which divides the control period.
        seed: of all that is random.
    """

    duration: float
    control_period: float
    physics_step: float
    seed: int


def setup_of(
    robot: Subject,
    scenario: str | Path | None = None,
    settings: Settings | None = None,
    **options: Unpack[Keywords],
) -> Setup:
    """Return a robot in a scenario, from which simulators and controllers are made.

    Args:
        robot: name or file of a robot; a setup is returned as it is.
        scenario: name, or a YAML file; not needed for a robot's file.
        settings: values by key of the scenario.
        **options: `duration`, `control_period`, `physics_step` [s] and `seed`; for a robot that is
            a file see `Options`.

    Raises:
        AccordError: for an unknown robot, scenario or key.

    Example:
        >>> setup = ra.setup_of("snake", "serpenoid", {"friction.mu_along": 0.5}, duration=2)
        >>> simulator = ra.make_simulator(setup, "mujoco")
        >>> state = simulator.step(ra.Command(effort), setup.scenario.control_period)
    """
    changes, robot_options = changes_and_options(settings, options)
    if isinstance(robot, Setup):
        if options.keys() - robot_options.keys():
            raise AccordError("a setup is complete: give settings to `setup_of`")
        return robot
    return load_setup(str(robot), str(scenario or ""), changes, **robot_options)


def changes_and_options(
    settings: Settings | None, keywords: Mapping[str, Any]
) -> tuple[list[str], Options]:
    """Return `KEY=VALUE` texts of settings and of keywords that are keys; the other keywords.

    Raises:
        AccordError: for a keyword that is neither a key of `Keywords` nor an option.
    """
    options = {key: value for key, value in keywords.items() if key in Options.__annotations__}
    keys = {key: value for key, value in keywords.items() if key not in options}
    for key in keys.keys() - Keywords.__annotations__.keys():
        hint = f"settings={{'SECTION.{key}': {keys[key]!r}}}"
        raise AccordError(f"no argument {key}; a key of the scenario goes by its name: {hint}")
    return changes_of({**(settings or {}), **keys}), cast("Options", options)


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
