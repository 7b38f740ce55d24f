"""Check what this project ships for Gazebo: worlds, and robots as they are put into them.

The rules are those of check.py. `problems_of_robot` checks the description of a robot with each
base that it has in its scenarios (`setups_in_gazebo`), and its config/bridge.yaml. `accord check`
without files and the conformance suite of robots call it; it must return an empty list.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from roboaccord.contract.errors import AccordError
from roboaccord.description.checks import check_world
from roboaccord.description.resources import share
from roboaccord.gazebo.form import base_in_gazebo, expand_for_gazebo
from roboaccord.scenario import Setup, find_robot, load_scenario, scenario_names

from roboaccord_files.gazebo.check import check_robot
from roboaccord_files.gazebo.schema import Problem, sdformat_problems


def problems_of_robot(name: str, tool: str) -> list[Problem]:
    """Return the errors of a robot's description and bridge, as it is put into Gazebo."""
    bridge = share(find_robot(name).package) / "config" / "bridge.yaml"
    if not bridge.is_file():
        return ["config/bridge.yaml is missing"]
    shipped = shipped_folder()
    worlds = sorted((shipped / "worlds").glob("*.sdf")) if shipped else []
    problems: list[Problem] = []
    for setup in setups_in_gazebo(name):
        urdf = expand_for_gazebo(setup)
        if tool:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"{name}.urdf"
                path.write_text(urdf, encoding="utf-8")
                problems += sdformat_problems(tool, path, [])
        problems += check_robot(urdf, bridge.read_text(encoding="utf-8"), worlds)
        try:
            check_world(urdf, base_in_gazebo(setup.scenario))
        except AccordError as error:
            problems.append(str(error))
    return list(dict.fromkeys(problems))


def setups_in_gazebo(name: str) -> list[Setup]:
    """Return a setup of a robot for each base that its scenarios have in Gazebo."""
    package = find_robot(name).package
    scenarios = [load_scenario(package, name, scenario) for scenario in scenario_names(package)]
    by_base = {base_in_gazebo(scenario): scenario for scenario in scenarios}
    return [Setup.of(scenario) for scenario in by_base.values()]


def shipped_folder() -> Path | None:
    """Return the folder of worlds and models, if roboaccord_ros is installed."""
    try:
        return share("roboaccord_ros")
    except AccordError:
        return None
