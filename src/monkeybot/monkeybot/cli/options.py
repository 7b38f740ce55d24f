"""Options that the MonkeyBot's commands share, and the parameters that `--set` changes.

Names stay, for commands here and in other packages share them. Help texts may be changed, for all
at once; an option is added once a second command takes it. Defaults stand with each command.
"""

from __future__ import annotations

from typing import Annotated

from roboaccord import description
from roboaccord.contract import AccordError, Ratio
from roboaccord.scenario import apply_change
from typer import Option

from monkeybot.model.parameters import MonkeyBotParameters

RATES = Option(metavar="W1 W2", help="Rates of th1 and th2 where both links hang straight down.")
TORQUE = Option(help="Torque of the motor, in the frame of the held hand.")
Changes = Annotated[
    list[str] | None,
    Option("--set", metavar="KEY=VALUE", help="Change a parameter of the robot, such as mass_a."),
]
Tolerance = Annotated[
    Ratio, Option(min=1e-14, max=0.1, help="Error tolerance of each step of the integrator.")
]


def robot_parameters(changes: list[str] | None) -> MonkeyBotParameters:
    """Return the MonkeyBot's parameters with `KEY=VALUE` changes.

    Raises:
        AccordError: for an unknown parameter, or a value that makes no robot.
    """
    return description.load_parameters(
        MonkeyBotParameters, "monkeybot", changed({}, changes, "parameters.")
    )


def changed(
    values: dict[str, float], changes: list[str] | None, prefix: str = ""
) -> dict[str, float]:
    """Return numbers by name with `NAME=VALUE` changes; `prefix` is named before one.

    Raises:
        AccordError: for a value that is not a number.
    """
    for change in changes or ():
        apply_change(values, change)
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise AccordError(f"{prefix}{name}: {value!r} is not a number")
    return values
