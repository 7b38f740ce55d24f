"""Command `accord monkeybot lqr`: the feedback that holds the report's gait."""

from __future__ import annotations

from typing import Annotated

import typer
from monkeybot.cli.options import Changes, robot_parameters
from monkeybot.gaits.orbits import shipped_gait
from roboaccord.cli import Result
from roboaccord.contract import Seconds

from roboaccord_studies.monkeybot.lqr import SAMPLE, held_by_feedback

MADE_WITH = ("roboaccord-monkeybot", "numba")


def lqr_command(
    name: Annotated[
        str, typer.Option("--gait", metavar="NAME", help="A gait of the report's kind.")
    ] = "report_lqr",
    sample: Annotated[
        Seconds,
        typer.Option(
            min=0.0, max=1.0, help="Period of the controller, to which times are rounded."
        ),
    ] = SAMPLE,
    changes: Changes = None,
) -> Result:
    """Find the feedback on the time of the change of hands that holds the report's gait.

    The change comes gain . (x - target) earlier, with x = (th2, w1, w2) where the held link hangs
    straight down. The numbers are those of the scenario `report_lqr`.

    Examples:

      accord monkeybot lqr

      accord monkeybot lqr --json
    """
    parameters = robot_parameters(changes)
    return Result(held_by_feedback(shipped_gait(name, parameters), parameters, sample))
