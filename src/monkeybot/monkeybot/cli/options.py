"""Options that the MonkeyBot's commands share, and those of a kind of gait and its controls."""

from __future__ import annotations

from typing import Annotated

import typer
from roboaccord.cli import LARGEST
from roboaccord.contract import AccordError, Metres, NewtonMetres, Quantity, Ratio, check_known
from roboaccord.description import load_parameters
from roboaccord.scenario import apply_change

from monkeybot.gaits.orbits import KINDS, Kind
from monkeybot.model.parameters import MonkeyBotParameters

Rates = Annotated[
    tuple[float, float],
    Quantity("rad/s"),
    typer.Option(metavar="W1 W2", help="Rates of th1 and th2 where both links hang straight down."),
]
Torque = Annotated[
    NewtonMetres, typer.Option(help="Torque of the motor, in the frame of the held hand.")
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a parameter of the robot, such as mass_a."
    ),
]
Tolerance = Annotated[
    Ratio, typer.Option(min=1e-14, max=0.1, help="Error tolerance of each step of the integrator.")
]
GaitName = Annotated[
    str, typer.Option("--gait", metavar="NAME", help="A gait of `accord monkeybot gaits`.")
]
Samples = Annotated[int, typer.Option(min=1, help="Number of walks.")]
Steps = Annotated[int, typer.Option(min=1, help="Number of changes of hands of every walk.")]
Span = tuple[float, float, int]


def robot_parameters(changes: list[str] | None) -> MonkeyBotParameters:
    """Return the MonkeyBot's parameters with `KEY=VALUE` changes.

    Raises:
        AccordError: for an unknown parameter, or a value that makes no robot.
    """
    return load_parameters(MonkeyBotParameters, "monkeybot", changed({}, changes, "parameters."))


def changed(
    values: dict[str, float], changes: list[str] | None, place: str = ""
) -> dict[str, float]:
    """Return numbers by name with `NAME=VALUE` changes; `place` is named before one.

    Raises:
        AccordError: for a value that is not a number.
    """
    for change in changes or ():
        apply_change(values, change)
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise AccordError(f"{place}{name}: {value!r} is not a number")
    return values


DEFAULTS = {
    "period": 0.935, "torque": 0.7, "flight": 0.01, "first": 0.933, "second": 0.953, "more": 0.0,
    "switch": 0.44, "motor": 0.006,
}  # fmt: skip

TIMES = {*DEFAULTS} - {"torque", "more"}

Controls = Annotated[
    list[str] | None,
    typer.Option(
        "--at", metavar="CONTROL=VALUE", help="A control of the gait, such as torque=0.7."
    ),
]
Rise = Annotated[Metres, typer.Option(help="Rise of a cycle; where a control can meet it.")]
KindName = Annotated[str, typer.Option("--kind", help=f"Kind of gait: {', '.join(KINDS)}.")]


def kind_of(name: str) -> Kind:
    """Return a kind of gait by name.

    Raises:
        AccordError: for an unknown one.
    """
    check_known("unknown kind of gait ", name, KINDS)
    return KINDS[name]


def controls_of(kind: Kind, changes: list[str] | None) -> dict[str, float]:
    """Return a kind's controls by default, with `CONTROL=VALUE` changes.

    Raises:
        AccordError: for a control that the kind has not, or no number.
    """
    controls = changed({name: DEFAULTS[name] for name in kind.controls}, changes)
    for name, value in controls.items():
        if name not in kind.controls:
            raise AccordError(f"{kind.name} takes {', '.join(kind.controls)}, not {name}")
        if not abs(value) <= LARGEST or (name in TIMES and value <= 0.0):
            raise AccordError(f"{name} is {value:g}; times are positive, and numbers finite")
    return {name: float(value) for name, value in controls.items()}
