"""`accord list`: the robots, their scenarios and controllers."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from roboaccord.cli.console import out, print_json
from roboaccord.description.resources import share
from roboaccord.description.yaml_files import read_yaml
from roboaccord.scenario.files import scenario_names
from roboaccord.scenario.setup import find_robot, robot_names


def list_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
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
    if as_json:
        print_json({"robots": robot_names(), "scenarios": rows})
        return
    table = Table("robot", "scenario", "controller", "what it is")
    for row in rows:
        table.add_row(row["robot"], row["scenario"], row["controller"], row["description"])
    out.print(table)
