"""`accord roller-sphere figures`: the paper's figures and claims, and the builder's view."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli import Force, Out, Result, command_line, counted, gathers, results
from roboaccord.contract import Degrees, Quantity
from roboaccord.run import made_with

from roller_sphere.cli.rig import RigOptions, Rollers, used_rig
from roller_sphere.source.claims import Claim, claims
from roller_sphere.source.figures import write_figures


@dataclass(frozen=True)
class Figures:
    """Hold the files that were written, and the claims."""

    files: list[Path]
    table: Annotated[list[Claim], Quantity("", "the claims of section 3")]


STEEPER = RigOptions(alpha=(20.0, -20.0))


@gathers("--roller", "--nu")
def figures_command(
    folder: Out = None,
    force: Force = False,
    points: Annotated[
        int, typer.Option(min=3, max=401, help="Rigs of each side of the builder's maps.")
    ] = 69,
    rig: RigOptions = STEEPER,
    heading: Annotated[Degrees, typer.Option("--heading-deg", help="Of figure 2b.")] = 60.0,
    rollers: Rollers = None,
) -> Result:
    """Draw the paper's figures, try its claims, and survey what a builder can choose.

    Writes index.html with all of it, each figure as SVG, the data as CSV, and the claims as CSV and
    JSON. Figures 3 and the claims are those of the paper's rig. The rig of the options is that of
    figures 1 and 2; its first two azimuths, and its first latitude, are those of the builder's
    view.

    Examples:

      accord roller-sphere figures --out roller_figures

      accord roller-sphere figures --azimuth-deg 150 210 --latitude-deg 20 20 --out mine --json
    """
    kinematics = rig.kinematics(rollers)
    found = claims()
    with (
        results(folder, "roller_sphere_figures", force=force) as place,
        counted(points**2, "rigs") as done,
    ):
        files = write_figures(
            place, kinematics, np.radians(heading), found, points,
            command=command_line(),
            facts=made_with("roboaccord-roller_sphere"),
            done=done,
        )  # fmt: skip
    return Result(Figures(files, found), used=used_rig(rollers))
