"""`accord monkeybot basin`: how far from its orbit a gait may start, by Monte Carlo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import COMPILING, figure_lines, progress
from roboaccord.cli.options import Seed
from roboaccord.cli.pieces import in_pieces
from roboaccord.contract.results import Quantity, Radians, RadiansPerSecond, Ratio

from monkeybot.cli.options import Changes, GaitName, Samples, Steps, robot_parameters
from monkeybot.stability.basin import Draws, basin
from monkeybot.stability.lqr import held_gait


@dataclass(frozen=True)
class BasinResult:
    """Hold what was asked, and the share of walks that survived with its interval."""

    gait: str
    sd_angle: Radians
    sd_rate: RadiansPerSecond
    samples: int
    steps: int
    seed: int
    survived: Ratio
    low: Ratio
    high: Ratio
    height_sd: Annotated[float | None, Quantity("m")]


@in_pieces()
def basin_command(
    name: GaitName,
    sd_angle: Annotated[
        Radians, typer.Option("--sd-angle", help="Standard deviation of the angles.")
    ],
    sd_rate: Annotated[RadiansPerSecond, typer.Option("--sd-rate", help="Of the rates.")],
    samples: Samples = 1000,
    steps: Steps = 100,
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Walk from starts beside a gait's orbit, normally distributed, and tell how many survive.

    A walk has fallen out of its gait in the first cycle in which it misses an event, in which its
    elbow goes round, or which does not lead forwards. One that lasts survives if at its end it is
    within 0.2 rad and 1 rad/s of the orbit. The report's gait is held by its feedback on the time.

    Examples:

      accord monkeybot basin --gait clocked --sd-angle 0.02 --sd-rate 0.1 --samples 1000

      accord monkeybot basin --gait report_lqr --sd-angle 0.01 --sd-rate 0.05 --json
    """
    parameters = robot_parameters(changes)
    orbit, feedback = held_gait(name, parameters)
    with progress() as bar:
        task = bar.add_task(COMPILING, total=samples)
        found = basin(
            orbit, parameters, sd_angle=sd_angle, sd_rate=sd_rate, feedback=feedback,
            draws=Draws(samples, steps, seed),
            done=lambda count: bar.update(task, advance=count, description="walking"),
        )  # fmt: skip
    height = found.height_gained(orbit)
    data = BasinResult(
        name, sd_angle, sd_rate, samples, steps, seed, found.survived, found.low, found.high,
        float(np.std(height)) if len(height) else None,
    )  # fmt: skip
    rows = {
        "survived": (f"{found.survived:.3f}", f"of {samples} walks of {steps} steps"),
        "95 % confidence": (f"{found.low:.3f} to {found.high:.3f}", "(Wilson)"),
    }
    if len(height):
        rows["height of survivors"] = (f"{np.std(height):.3f}", "m off the orbit's, deviation")
    return Result(data, figure_lines(rows))
