"""What is installed: robots and their scenarios, and packages that are broken."""

from __future__ import annotations

from dataclasses import dataclass

from roboaccord.contract.errors import AccordError
from roboaccord.description.resources import share
from roboaccord.description.yaml_files import read_yaml
from roboaccord.scenario.files import scenario_names
from roboaccord.scenario.setup import find_robot, robot_names


@dataclass(frozen=True)
class Row:
    """Hold a scenario: its robot, what that is, its controller, and what it is."""

    robot: str
    summary: str
    scenario: str
    controller: str
    description: str


@dataclass(frozen=True)
class Catalogue:
    """Hold robots that can be used, a row of each scenario, and what is wrong with others."""

    robots: list[str]
    scenarios: list[Row]
    broken: dict[str, str]


def read_catalogue() -> Catalogue:
    """Return what is installed; a package that is broken hides no other."""
    found, broken = list[Row](), dict[str, str]()
    for name in robot_names():
        try:
            found += _scenarios(name)
        except AccordError as error:
            broken[name] = str(error)
    return Catalogue([name for name in robot_names() if name not in broken], found, broken)


def _scenarios(name: str) -> list[Row]:
    """Return a row of each scenario of a robot.

    Raises:
        AccordError: if its package cannot be loaded, or a scenario not be read.
    """
    robot, rows = find_robot(name), []
    for scenario in scenario_names(robot.package):
        data = read_yaml(share(robot.package) / "scenarios" / f"{scenario}.yaml")
        controller = data.get("controller", {}).get("name", "none")
        rows.append(Row(name, robot.summary, scenario, controller, data.get("description", "")))
    return rows
