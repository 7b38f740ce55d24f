"""The robots that are installed and their scenarios, as `accord list` shows them.

A column may be added, as a field of `Listed`. A package that is broken hides no other: its error
is listed instead (test_commands).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import Quantity, Word
from roboaccord.scenario.files import _shipped, read_scenario, scenario_names
from roboaccord.scenario.installed import robot_names
from roboaccord.scenario.setup import find_robot


@dataclass(frozen=True)
class Listed:
    """Hold a scenario: its robot, what that is, its controller, and what it is."""

    robot: Word
    summary: str
    scenario: Word
    controller: Word
    description: Annotated[str, Quantity("", name="what it is", form="text")]


@dataclass(frozen=True)
class Catalogue:
    """Hold robots that can be used, a row of each scenario, and what is wrong with others."""

    robots: list[str]
    scenarios: Annotated[list[Listed], Quantity("", "robots and their scenarios")]
    broken: dict[str, str]


def read_catalogue(robot: str = "") -> Catalogue:
    """Return what is installed, of one robot or of all; a broken package hides no other.

    Raises:
        AccordError: if the robot that is named is unknown or broken.
    """
    if robot:
        rows = _scenarios(robot)
        return Catalogue([rows[0].robot] if rows else [], rows, {})
    found, broken = list[Listed](), dict[str, str]()
    for name in robot_names():
        try:
            found += _scenarios(name)
        except AccordError as error:
            broken[name] = str(error)
    return Catalogue([name for name in robot_names() if name not in broken], found, broken)


def _scenarios(name: str) -> list[Listed]:
    """Return a row of each scenario of a robot.

    Raises:
        AccordError: if its package cannot be loaded, or a scenario not be read.
    """
    robot, rows = find_robot(name), []
    for scenario in scenario_names(robot.package):
        data = read_scenario(_shipped(robot.package, robot.name, scenario))
        what = data.get("controller", {}).get("name", "none"), data.get("description", "")
        rows.append(Listed(robot.name, robot.summary, scenario, *what))
    return rows
