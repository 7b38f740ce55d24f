"""Command-line options that several MonkeyBot commands have in common.

RATES and TORQUE are the declarations of `--rates` [rad/s] and `--torque` [N m] for typer; a command
adds type and default. `Changes` and `Tolerance` are complete types of arguments. `robot_parameters`
loads the robot's parameters with the changes of `--set KEY=VALUE` applied, and `with_changes`
applies such changes to any numbers by name.

The names stay, for commands of another package use them as well.
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
CHANGES_HELP = "Change a parameter of the robot, parameters.mass_a; may be repeated."
Changes = Annotated[list[str] | None, Option("--set", metavar="KEY=VALUE", help=CHANGES_HELP)]
# Bounds: the round-off of a float, 2.2e-16, lets no step meet much less than 1e-14, and at 0.1 an
# angle in rad has one digit.
TOLERANCE_HELP = "Error tolerance of each step of the integrator."
Tolerance = Annotated[Ratio, Option(min=1e-14, max=0.1, help=TOLERANCE_HELP)]


def robot_parameters(changes: list[str] | None) -> MonkeyBotParameters:
    """Return the MonkeyBot's parameters with `KEY=VALUE` changes.

    Raises:
        AccordError: for an unknown parameter, or a value that makes no robot.
    """
    changed = with_changes({}, changes, "parameters.")
    return description.load_parameters(MonkeyBotParameters, "monkeybot", changed)


def with_changes(
    values: dict[str, float], changes: list[str] | None, prefix: str = ""
) -> dict[str, float]:
    """Apply changes `NAME=VALUE` to numbers by name, and return them.

    Args:
        values: numbers by name, changed in place.
        changes: each as `NAME=VALUE`; None for none.
        prefix: of the names in scenarios and errors, such as "parameters."; it may be left out.

    Raises:
        AccordError: for a value that is not a number.
    """
    for change in changes or ():
        apply_change(values, change.removeprefix(prefix))
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise AccordError(f"{prefix}{name}: {value!r} is not a number")
    return values
