"""`accord list`: the robots, their scenarios and controllers."""

from __future__ import annotations

from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table, warn
from roboaccord.scenario.catalogue import read_catalogue


def list_command() -> Result:
    """List robots, their scenarios and controllers.

    Example:

      accord list
    """
    found = read_catalogue()
    for name, reason in found.broken.items():
        warn(f"robot {name} is left out: {reason}")
    names = ("scenario", "controller")
    table = make_table("robot", *names, "what it is", words=names, text=["what it is"])
    for row in found.scenarios:
        table.add_row(row.robot, row.scenario, row.controller, row.description)
    return Result(found, [table])
