"""Command `accord monkeybot basin`: the share of disturbed starts that converge to a gait."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import typer
from monkeybot.cli.options import Changes, robot_parameters
from roboaccord.cli import Result, Seed, counted, in_pieces
from roboaccord.contract import INLINE, Radians, RadiansPerSecond

from roboaccord_studies.monkeybot.basin import Basin, Draws, basin
from roboaccord_studies.monkeybot.lqr import held_gait
from roboaccord_studies.monkeybot.options import GaitName, Samples, Steps

MADE_WITH = ("roboaccord-monkeybot", "numba")


@dataclass(frozen=True)
class Walked:
    """Hold what was asked, and the share of walks that survived."""

    gait: str
    sd_angle: Radians
    sd_rate: RadiansPerSecond
    draws: Draws = field(metadata=INLINE)
    found: Basin = field(metadata=INLINE)


@in_pieces()
def basin_command(
    name: GaitName,
    sd_angle: Annotated[
        Radians, typer.Option("--sd-angle", help="Standard deviation of the initial angles.")
    ],
    sd_rate: Annotated[
        RadiansPerSecond, typer.Option("--sd-rate", help="Standard deviation of the initial rates.")
    ],
    samples: Samples = 1000,
    steps: Steps = 100,
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Walk from starts beside a gait's orbit, normally distributed, and report how many survive.

    A walk leaves its gait in the first cycle in which it misses an event, its elbow makes a full
    turn, or it does not move forwards. One that never leaves it survives if it ends within 0.2 rad
    and 1 rad/s of the orbit. The report's gait is stabilised by its feedback on the time at which
    the hands change.

    Examples:

      accord monkeybot basin --gait clocked --sd-angle 0.02 --sd-rate 0.1 --samples 1000

      accord monkeybot basin --gait report_lqr --sd-angle 0.01 --sd-rate 0.05 --json
    """
    parameters, draws = robot_parameters(changes), Draws(samples, steps, seed)
    orbit, feedback = held_gait(name, parameters)
    with counted(samples, "walking") as done:
        found = basin(
            orbit, parameters, sd_angle=sd_angle, sd_rate=sd_rate, feedback=feedback, draws=draws,
            done=done,
        )  # fmt: skip
    return Result(Walked(name, sd_angle, sd_rate, draws, found))
