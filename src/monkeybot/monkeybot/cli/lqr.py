"""`accord monkeybot lqr`: what a controller needs to hold the report's gait."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import figure_lines
from roboaccord.contract.results import Seconds

from monkeybot.cli.options import Changes, robot_parameters
from monkeybot.gaits.kinds import shipped_gait
from monkeybot.stability.lqr import (
    SAMPLE,
    conditioning,
    controllability,
    held_multipliers,
    linearise,
    time_law,
)


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
    orbit = shipped_gait(name, parameters)
    law = time_law(orbit, parameters, sample=sample)
    A, B = linearise(orbit, parameters)
    closed = float(np.abs(held_multipliers(orbit, parameters)).max())
    reach = controllability(A, B[:, 0])
    condition = conditioning(B, law.torque)
    data = {
        **asdict(law),
        "open_radius": orbit.spectral_radius,
        "closed_radius": closed,
        "controllability": reach,
        "three_inputs_condition": condition,
    }
    rows = {
        "switch": (f"{law.switch:.7f}", "s"),
        "motor": (f"{law.motor:g}", "s"),
        "torque": (f"{law.torque:g}", "N m"),
        "target th2, w1, w2": (", ".join(f"{v:.7f}" for v in law.target), "rad, rad/s"),
        "gain": (", ".join(f"{v:.7f}" for v in law.gain), "s/rad, s^2/rad"),
        "spectral radius": (f"{orbit.spectral_radius:.4f}, with feedback {closed:.4f}", ""),
        "controllability": (", ".join(f"{v:.3g}" for v in reach), "singular values"),
        "three inputs at once": (f"{condition:.0f}", "condition number"),
    }
    return Result(data, figure_lines(rows))
