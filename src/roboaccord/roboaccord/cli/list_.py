"""`accord list`: the robots, their scenarios and controllers."""

from __future__ import annotations

from rich.markup import escape

from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table
from roboaccord.description.resources import share
from roboaccord.description.yaml_files import read_yaml
from roboaccord.scenario.files import scenario_names
from roboaccord.scenario.setup import find_robot, robot_names


def list_command() -> Result:
    """List robots, their scenarios and controllers.

    Example:

      accord list
    """
    rows = []
    for name in robot_names():
        robot = find_robot(name)
        for scenario in scenario_names(robot.package):
            path = share(robot.package) / "scenarios" / f"{scenario}.yaml"
            data = read_yaml(path)
            rows.append(
                {
                    "robot": name,
                    "summary": robot.summary,
                    "scenario": scenario,
                    "controller": data.get("controller", {}).get("name", "none"),
                    "description": data.get("description", ""),
                }
            )
    names = ("scenario", "controller")
    table = make_table("robot", *names, "what it is", words=names, text=["what it is"])
    for row in rows:
        cells = (row["robot"], row["scenario"], row["controller"], row["description"])
        table.add_row(*map(escape, cells))
    return Result({"robots": robot_names(), "scenarios": rows}, [table])
