"""`accord identify ROBOT BAG`: a robot's parameters from a recorded motion, of robots that have it.

Robots may be added, by a line of `ROBOTS`: a name, and the module that has `identify_command(bag)`.
That module must be imported only when it is asked for. The command itself only passes the bag on.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli import Result
from roboaccord.contract import AccordError
from roboaccord.scenario import find_robot

ROBOTS = {"packbot": "roboaccord_studies.packbot.identification.report"}


def identify_command(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="Name of the robot.")],
    bag: Annotated[Path, typer.Argument(metavar="BAG", help="Bag of a run of it.")],
) -> Result:
    """Identify the parameters of a robot from a recorded motion.

    `accord packbot identify` is the same, and says what is found.

    Examples:

      accord run packbot identify --engine mujoco --out identified

      accord identify packbot identified/bag --json
    """
    name = find_robot(robot).name
    if name not in ROBOTS:
        raise AccordError(f"{name} has no command identify: try {', '.join(ROBOTS)}")
    found: Result = import_module(ROBOTS[name]).identify_command(bag)
    return found
