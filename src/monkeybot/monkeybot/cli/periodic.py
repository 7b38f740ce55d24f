"""`accord monkeybot periodic` and `collisionless`: gaits that repeat exactly."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import figure_lines

from monkeybot.cli.options import Changes, Rates, Torque, robot_parameters
from monkeybot.gaits.collisionless import find_collisionless
from monkeybot.gaits.gait import Multipliers, all_multipliers, horizontal
from monkeybot.gaits.search import refine

CONTROL = {
    "state_triggered": "by its events",
    "timed": "by a clock that each gait resets",
    "clock": "by the clock alone",
}


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
    data = {
        "rates": found.rates,
        "torque": torque,
        "residual": found.residual,
        "multipliers": {name: as_pairs(each) for name, each in values.items()},
    }
    rows = {
        "rates": (f"{found.rates[0]:.8f}, {found.rates[1]:.8f}", "rad/s"),
        "residual": (f"{found.residual:.2g}", ""),
    }
    for name, each in values.items():
        rows[f"multipliers, {CONTROL[name]}"] = (multipliers_text(each), "")
    return Result(data, figure_lines(rows))


def multipliers_text(values: Multipliers) -> str:
    """Return complex numbers, to be read."""
    return ", ".join(f"{v.real:.5f}{f'{v.imag:+.5f}i' if v.imag else ''}" for v in values)


def as_pairs(values: Multipliers) -> list[list[float]]:
    """Return complex numbers as pairs of real and imaginary part."""
    return [[float(value.real), float(value.imag)] for value in values]


def collisionless_command(
    angle: Annotated[
        float, typer.Option(help="Guess of the held link's angle, both hands level, in rad.")
    ] = 0.58,
    changes: Changes = None,
) -> Result:
    """Find a passive gait whose free hand comes to the line at rest: no motor, no impact.

    Examples:

      accord monkeybot collisionless --angle 0.58

      accord monkeybot collisionless --angle 1.08 --json
    """
    found = find_collisionless(robot_parameters(changes), angle)
    names = ("angle", "period", "stride", "residual")
    rows = {
        "angle": (f"{found.angle:.8f}", "rad"),
        "period": (f"{found.period:.8f}", "s"),
        "stride": (f"{found.stride:.8f}", "m"),
        "rates half-way": (f"{found.rates[0]:.8f}, {found.rates[1]:.8f}", "rad/s"),
        "residual": (f"{found.residual:.2g}", "rad, rad/s"),
    }
    data = {name: getattr(found, name) for name in names}
    return Result(data, figure_lines(rows))
