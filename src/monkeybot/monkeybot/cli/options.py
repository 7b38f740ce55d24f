"""Options that the MonkeyBot's commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import NewtonMetres, Quantity, Ratio
from roboaccord.description.parameters import load_parameters
from roboaccord.scenario.files import apply_change

from monkeybot.model.parameters import MonkeyBotParameters

Rates = Annotated[
    tuple[float, float],
    Quantity("rad/s"),
    typer.Option(metavar="W1 W2", help="Rates of th1 and th2, both hanging straight."),
]
Torque = Annotated[NewtonMetres, typer.Option(help="Of the motor, in the frame of the held hand.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a parameter of the robot, mass_a say."),
]
Tolerance = Annotated[
    Ratio, typer.Option(min=1e-14, max=0.1, help="Of each step of the integrator.")
]
GaitName = Annotated[
    str, typer.Option("--gait", metavar="NAME", help="A gait of `accord monkeybot gaits`.")
]
Samples = Annotated[int, typer.Option(min=1, help="Number of walks.")]
Steps = Annotated[int, typer.Option(min=1, help="Changes of hands of every walk.")]
Span = tuple[float, float, int]


def robot_parameters(changes: list[str] | None) -> MonkeyBotParameters:
    """Return the MonkeyBot's parameters with `KEY=VALUE` changes.

    Raises:
        AccordError: for an unknown parameter, or a value that makes no robot.
    """
    values: dict[str, Any] = {}
    for change in changes or ():
        apply_change(values, change)
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise AccordError(f"parameters.{name}: {value!r} is no number")
    return load_parameters(MonkeyBotParameters, "monkeybot", values)
