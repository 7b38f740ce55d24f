"""Options that commands share, and the setup of a robot that they describe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup, find_robot

RobotName = Annotated[str, typer.Argument(metavar="ROBOT", help="See `accord list`.")]
ScenarioName = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A scenario of the robot, or a YAML file.")
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a scenario key; may be repeated."),
]
Engine = Annotated[str, typer.Option(metavar="NAME", help="reference, dart or mujoco.")]
Engines = Annotated[
    str,
    typer.Option(
        metavar="LIST",
        help="Engines, separated by commas. Default: all that are installed, with a line for each "
        "that is not.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Of the random numbers.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Folder for the results; one with something else in it is refused. "
        "Default: a new one under runs/.",
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Take --out whatever it holds: files that accord wrote there are deleted, others "
        "stay, unless the results have their names.",
    ),
]


def load_setup(robot: str, scenario: str, changes: list[str] | None = None) -> Setup:
    """Return the setup of a robot's scenario with changes."""
    found = find_robot(robot)
    return Setup.of(load_scenario(found.package, found.name, scenario, changes or []))
