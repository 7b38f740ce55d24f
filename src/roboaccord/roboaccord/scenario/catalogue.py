"""The robots that are installed and their scenarios, as `accord list` prints them.

A scenario is an experiment that is shipped with a robot. `read_catalogue` returns a row, a
`ListedScenario`, for each. A package that is broken does not hide the others: its error is listed
instead (test_commands). A new column is a field of `ListedScenario`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import Quantity, Word
from roboaccord.scenario.files import read_scenario, scenario_names, shipped_file
from roboaccord.scenario.installed import robot_names
from roboaccord.scenario.setup import find_robot


@dataclass(frozen=True)
class ListedScenario:
    """A row of the list: a robot with its summary in a line, and one of its scenarios.

    Args:
        robot: name of the robot.
        summary: the robot in one line.
        scenario: name of the scenario.
        controller: name of the controller that drives the robot in it.
        description: what the scenario shows, in one line.
    """

    robot: Word
    summary: str
    scenario: Word
    controller: Word
    description: Annotated[str, Quantity("", name="what it is", form="text")]


@dataclass(frozen=True)
class Catalogue:
    """Robots that can be used, a row for each scenario, and the errors of broken robots by name."""

    robots: list[str]
    scenarios: Annotated[list[ListedScenario], Quantity("", "robots and their scenarios")]
    broken: dict[str, str]


def read_catalogue(robot: str = "") -> Catalogue:
    """Return the scenarios of one robot, or of all that are installed.

    Raises:
        AccordError: if the named robot is unknown or broken.
    """
    if robot:
        rows = _scenario_rows(robot)
        return Catalogue([row.robot for row in rows[:1]], rows, {})
    robots, rows, broken = list[str](), list[ListedScenario](), dict[str, str]()
    for name in robot_names():
        try:
            rows += _scenario_rows(name)
            robots.append(name)
        except AccordError as error:
            broken[name] = str(error)
    return Catalogue(robots, rows, broken)


def _scenario_rows(name: str) -> list[ListedScenario]:
    """Return a row for each scenario of a robot.

    Raises:
        AccordError: if its package cannot be loaded, or a scenario cannot be read.
    """
    robot = find_robot(name)
    rows = []
    for scenario in scenario_names(robot.package):
        data = read_scenario(shipped_file(robot.package, robot.name, scenario))
        controller = data.get("controller", {}).get("name", "none")
        description = data.get("description", "")
        rows.append(ListedScenario(robot.name, robot.summary, scenario, controller, description))
    return rows
