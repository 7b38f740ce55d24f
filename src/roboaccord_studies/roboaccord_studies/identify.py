"""Command `accord identify ROBOT BAG`: the parameters of a robot from a recorded motion.

The command finds the robot's own command, calls it, and prints its result: for the Packbot, two
tables of quantities with units and 95 % intervals, those that the motion identifies and the others.
A robot is a line of ROBOTS: its name, and the module with its `identify_command(bag)`, which is
imported only when it is needed.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli import Result
from roboaccord.contract import AccordError
from roboaccord.scenario import find_robot

# Module of each robot's own command.
ROBOTS = {"packbot": "roboaccord_studies.packbot.identification.report"}


def identify_command(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="Name of the robot.")],
    bag: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder or bag of it.")],
) -> Result:
    """Identify the parameters of a robot from a recorded motion.

    Of the Packbot: the arm's base parameters, friction and payload, each with its 95 % interval.
    Joint states and commanded efforts are enough. Its scenario `identify` moves the arm for a
    minute, so that most of them are excited.

    Examples:

      accord run packbot identify --engine mujoco --out identified

      accord identify packbot identified --json
    """
    name = find_robot(robot).name
    if name not in ROBOTS:
        raise AccordError(f"{name} has no command identify: try {', '.join(ROBOTS)}")
    result: Result = import_module(ROBOTS[name]).identify_command(bag)
    return result
