"""`accord monkeybot repeat`: the gait again and again by the clock."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import numpy as np
import typer
from rich.text import Text
from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table
from roboaccord.contract.results import Seconds

from monkeybot.cli.options import Changes, Rates, Torque, robot_parameters
from monkeybot.gaits.repeat import repeat


class Clock(StrEnum):
    """Clock of the open loop: free-running, or reset in every gait."""

    reset = "reset"
    pure = "pure"


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
    names = ("error", "kinetic_energy", "height")
    table = make_table("gait", "error", "kinetic energy [J]", "height [m]")
    for i, row in enumerate(zip(found.error, found.kinetic_energy, found.height, strict=True), 1):
        table.add_row(str(i), *("-" if np.isnan(value) else f"{value:.4g}" for value in row))
    explained = "error: th2^2 + (w1 - w1')^2 + (w2 - w2')^2; -: it never hung straight down"
    return Result({name: getattr(found, name) for name in names}, [table, Text(explained)])
