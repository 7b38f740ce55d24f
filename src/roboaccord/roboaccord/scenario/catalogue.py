"""What is installed: robots and their scenarios, and packages that are broken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from roboaccord.contract.errors import AccordError
from roboaccord.description.resources import share
from roboaccord.description.yaml_files import read_yaml
from roboaccord.scenario.files import scenario_names
from roboaccord.scenario.setup import find_robot, robot_names


@dataclass(frozen=True)
class Catalogue:
    """Hold a row of each scenario, and by robot what is wrong with its package."""

    scenarios: list[dict[str, Any]]
    broken: dict[str, str]

    @property
    def robots(self) -> list[str]:
        """Names of the robots that can be used."""
        return [name for name in robot_names() if name not in self.broken]


def read_catalogue() -> Catalogue:
    """Return what is installed; a package that is broken hides no other."""
    found, broken = list[dict[str, Any]](), dict[str, str]()
    for name in robot_names():
        try:
            found += _scenarios(name)
        except AccordError as error:
            broken[name] = str(error)
    return Catalogue(found, broken)


def _scenarios(name: str) -> list[dict[str, Any]]:
    """Return a row of each scenario of a robot.

    Raises:
        AccordError: if its package cannot be loaded, or a scenario not be read.
    """
    robot, rows = find_robot(name), []
    for scenario in scenario_names(robot.package):
        data = read_yaml(share(robot.package) / "scenarios" / f"{scenario}.yaml")
        rows.append(
            {
                "robot": name,
                "summary": robot.summary,
                "scenario": scenario,
                "controller": data.get("controller", {}).get("name", "none"),
                "description": data.get("description", ""),
            }
        )
    return rows
