"""`accord monkeybot periodic` and `collisionless`: gaits that repeat exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import figure_lines
from roboaccord.cli.rendering import lines_of, text_of
from roboaccord.contract.results import NewtonMetres, Quantity, Radians
from roboaccord.contract.state import Array

from monkeybot.cli.options import Changes, Rates, Torque, robot_parameters
from monkeybot.gaits.collisionless import find_collisionless
from monkeybot.gaits.gait import Multipliers, all_multipliers, horizontal
from monkeybot.gaits.search import refine

CONTROL = {
    "state_triggered": "by its events",
    "timed": "by a clock that each gait resets",
    "clock": "by the clock alone",
}


@dataclass(frozen=True)
class Repeating:
    """Hold a gait that repeats, and its multipliers by what changes its hands."""

    rates: Annotated[Array, Quantity("rad/s")]
    torque: NewtonMetres
    residual: float
    multipliers: Mapping[str, Multipliers]


def periodic_command(
    rates: Rates = (0.63, 11.21),
    torque: Torque = 10.0,
    changes: Changes = None,
) -> Result:
    """Refine a gait to one that repeats exactly, and tell whether it is stable.

    A gait is stable if all its multipliers, the eigenvalues of its return map, are below 1.

    Examples:

      accord monkeybot periodic --rates 0.63 11.21 --torque 10
    """
    parameters, gait = robot_parameters(changes), horizontal(torque)
    found = refine(gait, parameters, np.array(rates))
    values = all_multipliers(gait, parameters, np.array([0.0, 0.0, *found.rates]))
    rows = {
        "rates": (f"{found.rates[0]:.8f}, {found.rates[1]:.8f}", "rad/s"),
        "residual": (f"{found.residual:.2g}", ""),
    }
    for name, each in values.items():
        rows[f"multipliers, {CONTROL[name]}"] = (multipliers_text(each), "")
    return Result(Repeating(found.rates, torque, found.residual, values), figure_lines(rows))


def multipliers_text(values: Multipliers) -> str:
    """Return complex numbers, to be read."""
    return text_of(values, Quantity("1", form=".5f"))


def collisionless_command(
    angle: Annotated[
        Radians, typer.Option(help="Guess of the held link's angle, both hands level.")
    ] = 0.58,
    changes: Changes = None,
) -> Result:
    """Find a passive gait whose free hand comes to the line at rest: no motor, no impact.

    Examples:

      accord monkeybot collisionless --angle 0.58

      accord monkeybot collisionless --angle 1.08 --json
    """
    found = find_collisionless(robot_parameters(changes), angle)
    shown = lines_of(found, "angle", "period", "stride", "rates", "residual")
    data = {name: getattr(found, name) for name in ("angle", "period", "stride", "residual")}
    return Result(data, shown)
