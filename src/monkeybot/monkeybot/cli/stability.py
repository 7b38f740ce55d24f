"""`accord monkeybot stability`: which clocked gaits are stable, over period and torque."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import COMPILING, figure_lines, file_line, progress
from roboaccord.cli.folder import results
from roboaccord.cli.options import Force, Out
from roboaccord.cli.pieces import in_pieces
from roboaccord.contract.results import Quantity
from roboaccord.run.versions import made_with

from monkeybot.cli.options import Changes, Span, robot_parameters
from monkeybot.gaits.clocked import Step
from monkeybot.gaits.landscape import span
from monkeybot.gaits.level import Level, shipped_level
from monkeybot.stability.stability_map import StabilityMap, save_map, stability_map
from monkeybot.stability.stability_picture import write_stability


@in_pieces()
def stability_command(
    period: Annotated[
        Span, Quantity("s"), typer.Option(metavar="A B N", help="Of a step, N from A to B.")
    ] = (0.88, 1.0, 49),
    torque: Annotated[
        Span, Quantity("N m"), typer.Option(metavar="A B N", help="On the elbow, likewise.")
    ] = (0.0, 1.0, 41),
    folder: Out = None,
    force: Force = False,
    changes: Changes = None,
) -> Result:
    """Follow the gait of constant torque, hands changed by the clock, over a grid.

    Writes stability.npz and stability.svg: the spectral radius (stable below 1), drop and stride of
    each gait. On one line of the map the gaits keep their height, elsewhere they drop or rise. Grey
    in the picture and NaN in the data: the sheet of these gaits does not reach there.

    Examples:

      accord monkeybot stability --out stability

      accord monkeybot stability --period 0.92 0.95 31 --torque 0.4 0.8 41 --out near --json
    """
    periods, torques = span(*period, "--period", above=0.0), span(*torque, "--torque")
    parameters = robot_parameters(changes)
    with results(folder, "monkeybot_stability", force=force) as place, progress() as bar:
        task = bar.add_task(COMPILING, total=len(periods) * len(torques))
        field = stability_map(
            parameters, periods, torques,
            done=lambda n: bar.update(task, advance=n, description="following"),
        )  # fmt: skip
        level = shipped_level(parameters)
        files = [place / "stability.npz", place / "stability.svg"]
        save_map(vars(field), files[0], parameters, made_with("roboaccord-monkeybot", "numba"))
        write_stability(field, level, files[1])
    data = {**figures(field, level), "files": [str(file) for file in files]}
    return Result(data, [*figure_lines(rows_of(field, level)), file_line(files)])


def figures(field: StabilityMap, level: Level) -> dict[str, Any]:
    """Return what is to be said of a map."""
    names = ("period", "torque", "spectral_radius")
    return {
        "gaits": int(np.isfinite(field.radius).sum()),
        "stable": field.stable,
        "best": dict(zip(names, field.best, strict=True)),
        "best_horizontal": dict(zip(names, of(level.best), strict=True)),
        "stable_periods": level.stable,
    }


def rows_of(field: StabilityMap, level: Level) -> dict[str, tuple[str, str]]:
    """Return the result for people."""
    at = "{0:.5g} s, {1:.5g} N m, radius {2:.4f}"
    return {
        "gaits": (f"{np.isfinite(field.radius).sum()} of {field.radius.size}", ""),
        "stable": (f"{field.stable}", ""),
        "most stable": (at.format(*field.best), ""),
        "most stable horizontal": (at.format(*of(level.best)), ""),
        "stable horizontal": ("{:.5g} to {:.5g}".format(*level.stable), "s"),
    }


def of(step: Step) -> tuple[float, float, float]:
    """Return period [s], torque [N m] and spectral radius of a gait."""
    return step.period, step.torque, step.radius
