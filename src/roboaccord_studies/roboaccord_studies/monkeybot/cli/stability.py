"""Command `accord monkeybot stability`: the gaits of constant torque over period and torque."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from monkeybot.cli.options import Changes, robot_parameters
from monkeybot.gaits.landscape import save_map
from roboaccord.cli import Force, Out, Result, counted, in_pieces, results
from roboaccord.contract import Quantity
from roboaccord.run import made_with

from roboaccord_studies.monkeybot.level import shipped_level
from roboaccord_studies.monkeybot.options import MADE_WITH, Span, span
from roboaccord_studies.monkeybot.pictures import write_stability
from roboaccord_studies.monkeybot.stability import Best, stability_map


@in_pieces()
def stability_command(
    period: Annotated[
        Span,
        Quantity("s"),
        typer.Option(metavar="A B N", help="Grid of the period of a step: N values from A to B."),
    ] = (0.88, 1.0, 49),
    torque: Annotated[
        Span,
        Quantity("N m"),
        typer.Option(
            metavar="A B N", help="Grid of the torque on the elbow: N values from A to B."
        ),
    ] = (0.0, 1.0, 41),
    folder: Out = None,
    force: Force = False,
    changes: Changes = None,
) -> Result:
    """Follow the gait of constant torque, hands changed by the clock, over a grid.

    Writes stability.npz and stability.svg: the spectral radius (stable below 1), drop and stride of
    each gait. On one line of the map the gaits keep their height, elsewhere they drop or rise. Grey
    in the picture and NaN in the data: the branch of these gaits does not extend that far.

    Examples:

      accord monkeybot stability --out stability

      accord monkeybot stability --period 0.92 0.95 31 --torque 0.4 0.8 41 --out near --json
    """
    periods, torques = span(*period, "--period", above=0.0), span(*torque, "--torque")
    parameters = robot_parameters(changes)
    with (
        results(folder, "monkeybot_stability", force=force) as place,
        counted(len(periods) * len(torques), "following") as done,
    ):
        found = stability_map(parameters, periods, torques, done=done)
        level = shipped_level(parameters)
        files = [place / "stability.npz", place / "stability.svg"]
        save_map(vars(found), files[0], parameters, made_with(*MADE_WITH))
        write_stability(found, level, files[1])
    best = level.best
    return Result(
        Stability(
            gaits=int(np.isfinite(found.radius).sum()),
            stable=found.stable,
            best=found.best,
            best_horizontal=Best(best.period, best.torque, best.radius),
            stable_periods=level.stable,
            files=files,
        )
    )


@dataclass(frozen=True, kw_only=True)
class Stability:
    """Hold how many gaits there are and are stable, and the best."""

    gaits: Annotated[int, Quantity("", "to which the shipped one was followed")]
    stable: Annotated[int, Quantity("")]
    best: Best
    best_horizontal: Best
    stable_periods: Annotated[tuple[float, float], Quantity("s", "of horizontal gaits", form=".5g")]
    files: list[Path]
