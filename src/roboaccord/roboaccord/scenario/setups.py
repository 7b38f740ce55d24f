"""Setups by name: of a scenario with changes, and of a recorded run.

A setup is a robot in a scenario, from which simulators and controllers are made. Commands, ROS
nodes and functions of the Python API call `load_setup`, whose arguments are their options.
`recorded_setup` makes the setup that a bag (a recording) or a message states. These come from
anywhere, and may name any file: none of them is opened (test_bag_is_data).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from roboaccord.contract.errors import AccordError
from roboaccord.description.xacro_file import NO_ARGUMENTS
from roboaccord.scenario.files import apply_change, load_scenario, make_scenario
from roboaccord.scenario.installed import RELEASED, is_file, robot_names
from roboaccord.scenario.paths import check_paths, paths_of
from roboaccord.scenario.robot_file import RobotFile
from roboaccord.scenario.setup import Setup, find_robot

NO_PACKAGES: Mapping[str, Path] = {}


def recorded_setup(
    data: Mapping[str, Any], robot: str, urdf: str = "", changes: Sequence[str] = ()
) -> Setup:
    """Return the setup that a bag or a message states, without opening files that it names.

    Args:
        data: of the scenario.
        robot: name of the robot in topics.
        urdf: recorded description, used in place of a robot's file; "" for a message.
        changes: `KEY=VALUE` of a command line, which may name files.

    Raises:
        AccordError: if the setup cannot be made without opening other files.
    """
    data = {"robot": robot, **data}
    changed_keys = [change.partition("=")[0].strip() for change in changes]
    # A file of a robot that the bag or message names is not opened; a command line may name one.
    is_recorded_file = "robot" in paths_of(data) and "robot" not in changed_keys
    for change in changes:
        apply_change(data, change)
    scenario = make_scenario(data)
    recorded_robot = (urdf, robot) if is_recorded_file else ()
    model = find_robot(scenario.robot, *recorded_robot)
    # Of a bag only terrain needs files.
    opened_data = {"terrain": scenario.terrain} if urdf else scenario.data()
    check_paths(opened_data, changes, model.package)
    return Setup.of(scenario, model, changes)


def load_setup(
    robot: str,
    scenario: str = "",
    changes: Sequence[str] = (),
    faults: Sequence[str] = (),
    *,
    base: str = "",
    packages: Mapping[str, Path] = NO_PACKAGES,
    arguments: Mapping[str, str] = NO_ARGUMENTS,
    endless: bool = False,
) -> Setup:
    """Return the setup of a robot's scenario, with changes and faults.

    Args:
        robot: name, or path of a file.
        scenario: name, or a YAML file; by default RELEASED, for a robot that is a file.
        changes: `KEY=VALUE`, values in YAML.
        faults: `JOINT=KIND[@S]`, in place of the scenario's; refused if they begin after its end.
        base: how the root of a file moves: `fixed`, `planar` or `free`; by default as in the file.
        packages: folders of ROS packages that a file names.
        arguments: of a xacro file.
        endless: whether something other than the duration ends the run.

    Raises:
        AccordError: for an unknown robot or scenario, or options that do not fit.
    """
    if scenario in robot_names() and robot not in robot_names():
        raise AccordError(f"the robot comes first: {scenario} {robot}")
    model = find_robot(robot)
    if not is_file(robot) and (base or packages or arguments):
        raise AccordError("--base, --package and NAME:=VALUE are for a robot that is a file")
    if not scenario and not is_file(robot):
        raise AccordError(f"name a scenario of {model.name}: accord list {model.name}")
    # All options as changes `KEY=VALUE` of the scenario; JSON is YAML, too. The base comes first,
    # so that `changes` may set it, and faults last.
    folders = {name: str(Path(path).absolute()) for name, path in packages.items()}
    options = {"packages": folders, "arguments": dict(arguments)}
    all_changes = [f"base={base}"] if base else []
    all_changes += [f"{key}={json.dumps(value)}" for key, value in options.items() if value]
    all_changes += changes
    if faults:
        all_changes.append(f"faults={json.dumps(list(faults))}")
    package, key = model.package, model.key
    setup = Setup.of(load_scenario(package, key, scenario or RELEASED, all_changes), given=changes)
    # Whether a file's base floats is known only of a setup; one that does is free unless something
    # else was asked for.
    if not (scenario or base) and isinstance(model, RobotFile) and model.floats(setup):
        all_changes = ["base=free", *all_changes]
        setup = Setup.of(load_scenario(package, key, RELEASED, all_changes), given=changes)
    if {*setup.scenario.friction} - {"law"} and not setup.robot.friction_laws:
        raise AccordError(f"{setup.robot.name} has no friction law: leave out the key friction")
    for fault in setup.faults:
        if faults and not endless and fault.time >= setup.scenario.duration:
            end = f"{setup.scenario.duration:g} s"
            raise AccordError(f"fault {fault}: the run ends at {end}; --set duration=SECONDS")
    return setup
