"""Setups by name: of a scenario with changes, and of a run that was recorded.

`load_setup` is what commands, functions and nodes call; its arguments are options of theirs and
may get others with a default. A recorded run may name any file and opens none (test_bag_is_data).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from roboaccord.contract.errors import AccordError
from roboaccord.description.xacro_file import NO_ARGUMENTS
from roboaccord.scenario.files import apply_change, load_scenario, make_scenario
from roboaccord.scenario.installed import RELEASED, is_file
from roboaccord.scenario.paths import check_paths, paths_of
from roboaccord.scenario.robot_file import RobotFile
from roboaccord.scenario.setup import Setup, find_robot

NO_PACKAGES: Mapping[str, Path] = {}


def recorded_setup(
    data: Mapping[str, Any], robot: str, urdf: str = "", changes: Sequence[str] = ()
) -> Setup:
    """Return the setup of a run as a bag or a message states it, without opening what it names.

    Args:
        data: of its scenario.
        robot: name of its topics.
        urdf: its description, which replaces the file where the robot is one.
        changes: `KEY=VALUE` of the scenario, which may name files.

    Raises:
        AccordError: if it cannot be made without opening other files.
    """
    data, named = {"robot": robot, **data}, "robot" in paths_of(data)
    for change in changes:
        apply_change(data, change)
        named &= change.partition("=")[0].strip() != "robot"
    scenario = make_scenario(data)
    model = find_robot(scenario.robot, *([urdf, robot] if named else ()))
    read = {"terrain": scenario.terrain} if urdf else scenario.data()  # of a bag; of a message
    check_paths(read, changes, model.package)
    return Setup.of(scenario, model)


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
        scenario: name, or a YAML file; "" takes RELEASED, for a robot that is a file.
        changes: `KEY=VALUE`, values in YAML.
        faults: `JOINT=KIND[@S]`, instead of the scenario's; refused after its end.
        base: how the root of a file moves: `fixed`, `planar` or `free`; "" as the file has it.
        packages: folders of ROS packages that a file names.
        arguments: of a xacro file.
        endless: whether something else than the duration ends the run.

    Raises:
        AccordError: for an unknown robot or scenario, or options that do not fit.
    """
    model = find_robot(robot)
    if not is_file(robot) and (base or packages or arguments):
        raise AccordError("--base, --package and NAME:=VALUE are for a robot that is a file")
    if not scenario and not is_file(robot):
        raise AccordError(f"name a scenario of {model.name}: accord list {model.name}")
    every = [f"base={base}"] if base else []
    if packages:
        folders = {name: str(Path(path).absolute()) for name, path in packages.items()}
        every.append(f"packages={json.dumps(folders)}")
    if arguments:
        every.append(f"arguments={json.dumps(dict(arguments))}")
    every += [*changes, *([f"faults={json.dumps(list(faults))}"] if faults else [])]
    setup = Setup.of(load_scenario(model.package, model.key, scenario or RELEASED, every))
    if not (scenario or base) and isinstance(model, RobotFile) and model.floats(setup):
        setup = Setup.of(load_scenario(model.package, model.key, RELEASED, ["base=free", *every]))
    for fault in setup.faults if faults and not endless else ():
        if fault.time >= setup.scenario.duration:
            end = f"{setup.scenario.duration:g} s"
            raise AccordError(f"fault {fault}: the run ends at {end}; --set duration=SECONDS")
    return setup
