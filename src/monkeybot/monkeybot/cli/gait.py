"""The report's gait: its error, the least near it, gaits that repeat, repetition, and figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import numpy as np
import typer
from rich.text import Text
from roboaccord.cli import Force, Out, Result, counted, in_pieces, make_table, results
from roboaccord.contract import INLINE, AccordError, Array, NewtonMetres, Quantity, Radians, Seconds

from monkeybot.cli.options import Changes, Rates, Tolerance, Torque, robot_parameters
from monkeybot.gaits.collisionless import find_collisionless
from monkeybot.gaits.gait import Figures, Multipliers, all_multipliers, evaluate, horizontal
from monkeybot.gaits.repeat import repeat
from monkeybot.gaits.search import FINE, minimise, missed, refine
from monkeybot.source.figures import RANGES, draw_all


class Clock(StrEnum):
    """Clock of the open loop: free-running, or reset in every gait."""

    reset = "reset"
    pure = "pure"


@dataclass(frozen=True)
class Final:
    """Hold the state at the end, with th1 = 0."""

    th2: Annotated[float, Quantity("rad", form=".8f")]
    w1: Annotated[float, Quantity("rad/s", form=".8f")]
    w2: Annotated[float, Quantity("rad/s", form=".8f")]


@dataclass(frozen=True)
class GaitError:
    """Hold the error of a gait, and its end."""

    figures: Figures = field(metadata=INLINE)
    final: Final


@dataclass(frozen=True)
class Repeating:
    """Hold a gait that repeats, and its multipliers by what changes its hands."""

    rates: Annotated[Array, Quantity("rad/s", form=".8f")]
    torque: NewtonMetres
    residual: Annotated[float, Quantity("rad, rad/s", form=".2g")]
    multipliers: Annotated[
        Mapping[str, Multipliers],
        Quantity("1", "by events, by a clock that each gait resets, by a clock", "", ".5f"),
    ]


def gait_command(
    rates: Rates = (0.902, 10.935),
    torque: Torque = 2.0,
    changes: Changes = None,
    tolerance: Tolerance = FINE,
) -> Result:
    """Evaluate the report's gait: swing up, change hands on the line, motor, coast to the vertical.

    Its error is th2^2 + (w1 - w1')^2 + (w2 - w2')^2 between start and end.

    Examples:

      accord monkeybot gait --rates 0.902 10.935 --torque 2

      accord monkeybot gait --set inertia_a=0.0544 --set inertia_b=0.0544 --json
    """
    parameters = robot_parameters(changes)
    found = evaluate(horizontal(torque), parameters, np.array(rates), tolerance=tolerance)
    if not np.isfinite(found.error[0]):
        raise AccordError(missed(np.array(rates)))
    return Result(GaitError(found.figures, Final(*found.final[0, 1:].tolist())))


def minimise_command(
    rates: Rates = (1.0, 12.0),
    torque: Torque = 2.0,
    changes: Changes = None,
    tolerance: Tolerance = FINE,
) -> Result:
    """Find the rates of least error near a guess, by the method of Nelder and Mead.

    Examples:

      accord monkeybot minimise --rates 1 12 --torque 2
    """
    parameters = robot_parameters(changes)
    return Result(minimise(horizontal(torque), parameters, np.array(rates), tolerance=tolerance))


def periodic_command(
    rates: Rates = (0.63, 11.21), torque: Torque = 10.0, changes: Changes = None
) -> Result:
    """Refine a gait to one that repeats exactly, and tell whether it is stable.

    A gait is stable if all its multipliers, the eigenvalues of its return map, are below 1.

    Examples:

      accord monkeybot periodic --rates 0.63 11.21 --torque 10
    """
    parameters, gait = robot_parameters(changes), horizontal(torque)
    found = refine(gait, parameters, np.array(rates))
    values = all_multipliers(gait, parameters, np.array([0.0, 0.0, *found.rates]))
    return Result(Repeating(found.rates, torque, found.residual, values))


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
    return Result(find_collisionless(robot_parameters(changes), angle))


def repeat_command(
    rates: Rates = (0.902, 10.935),
    torque: Torque = 2.0,
    steps: Annotated[int, typer.Option(min=1, help="Number of gaits.")] = 20,
    sample: Annotated[
        Seconds,
        typer.Option(min=0.0, max=1.0, help="Period of the controller; 0: times are not rounded."),
    ] = 0.001,
    clock: Annotated[
        Clock, typer.Option(help="reset: it starts again at the vertical; pure: it never does.")
    ] = Clock.reset,
    changes: Changes = None,
) -> Result:
    """Repeat the report's gait open-loop, by the times of one evaluation (figures 5 to 8).

    A gait that never hangs straight down has no error; with a clock that it would have to reset,
    it is the last one.

    Examples:

      accord monkeybot repeat --rates 0.902 10.935 --torque 2 --steps 20

      accord monkeybot repeat --rates 0.768 11.094 --clock pure --json
    """
    found = repeat(
        robot_parameters(changes), np.array(rates), torque,
        steps=steps, sample=sample, clock=clock.value,
    )  # fmt: skip
    table = make_table("gait", "error", "kinetic energy [J]", "height [m]")
    for i, row in enumerate(zip(found.error, found.kinetic_energy, found.height, strict=True), 1):
        table.add_row(str(i), *("-" if np.isnan(value) else f"{value:.4g}" for value in row))
    explained = "error: th2^2 + (w1 - w1')^2 + (w2 - w2')^2; -: it never hung straight down"
    return Result(found, [table, Text(explained)])


@in_pieces()
def figures_command(
    folder: Out = None,
    force: Force = False,
    count: Annotated[
        int, typer.Option("--points", min=3, max=2001, help="Rates of each side of a landscape.")
    ] = 301,
    torque: Torque = 2.0,
    changes: Changes = None,
) -> Result:
    """Draw the report's figures 1 to 10 from this code, with the data beside them.

    Also repeats its two searches the way it did them: events on samples of 1 ms, and MATLAB's
    fminsearch with its usual tolerances.

    Examples:

      accord monkeybot figures --out monkeybot_figures

      accord monkeybot figures --points 101 --out monkeybot_figures --json
    """
    parameters = robot_parameters(changes)
    with (
        results(folder, "monkeybot_figures", force=force) as place,
        counted(len(RANGES) * count**2, "landscapes") as done,
    ):
        return Result(draw_all(parameters, torque, count, place, done))
