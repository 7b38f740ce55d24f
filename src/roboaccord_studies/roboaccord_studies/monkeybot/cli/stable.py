"""Command `accord monkeybot stable`: the horizontal gait of constant torque of a period."""

from __future__ import annotations

from typing import Annotated

import typer
from monkeybot.cli.options import Changes, robot_parameters
from roboaccord.cli import Result, lines_of
from roboaccord.contract import Seconds

from roboaccord_studies.monkeybot.level import clocked_gait


def stable_command(
    period: Annotated[Seconds, typer.Option(help="From one change of hands to the next.")],
    changes: Changes = None,
) -> Result:
    """Find the horizontal gait of constant torque whose hands change by a clock.

    It is stable if its spectral radius, the size of its largest multiplier, is below 1.

    Examples:

      accord monkeybot stable --period 0.943

      accord monkeybot stable --period 0.93 --json
    """
    found = clocked_gait(robot_parameters(changes), period)
    figures = found.to_json()
    del figures["controls"]
    return Result({**found.controls, **figures}, lines_of(found))
