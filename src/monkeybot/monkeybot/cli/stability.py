"""`accord monkeybot stability`: which clocked gaits are stable, over period and torque."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import COMPILING, figure_lines, file_line, progress
from roboaccord.cli.folder import results
from roboaccord.cli.options import Force, Out
from roboaccord.cli.pieces import in_pieces
from roboaccord.contract.results import NewtonMetres, Quantity, Ratio, Seconds
from roboaccord.run.versions import made_with

from monkeybot.cli.options import Changes, Span, robot_parameters
from monkeybot.gaits.landscape import span
from monkeybot.gaits.level import shipped_level
from monkeybot.stability.stability_map import save_map, stability_map
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
    lowest, best = field.best, level.best
    found = Stability(
        gaits=int(np.isfinite(field.radius).sum()),
        stable=field.stable,
        best=Best(*lowest),
        best_horizontal=Best(best.period, best.torque, best.radius),
        stable_periods=level.stable,
        files=files,
    )
    rows = {
        "gaits": (f"{found.gaits} of {field.radius.size}", ""),
        "stable": (f"{found.stable}", ""),
        "most stable": (str(found.best), ""),
        "most stable horizontal": (str(found.best_horizontal), ""),
        "stable horizontal": ("{:.5g} to {:.5g}".format(*found.stable_periods), "s"),
    }
    return Result(found, [*figure_lines(rows), file_line(files)])


@dataclass(frozen=True)
class Best:
    """Hold the gait with the smallest spectral radius."""

    period: Seconds
    torque: NewtonMetres
    spectral_radius: Ratio

    def __str__(self) -> str:
        return f"{self.period:.5g} s, {self.torque:.5g} N m, radius {self.spectral_radius:.4f}"


@dataclass(frozen=True, kw_only=True)
class Stability:
    """Hold how many gaits there are and are stable, and the best."""

    gaits: int
    stable: int
    best: Best
    best_horizontal: Best
    stable_periods: Annotated[tuple[float, float], Quantity("s")]
    files: list[Path]
