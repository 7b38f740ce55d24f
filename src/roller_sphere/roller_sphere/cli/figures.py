"""`accord roller-sphere figures`: the paper's figures and claims, and the builder's view."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table
from roboaccord.cli.console import out, print_json, progress
from roboaccord.run.output import make_folder
from roboaccord.run.versions import made_with

from roller_sphere.cli.options import (
    AZIMUTH,
    LATITUDE,
    Alpha,
    Azimuth,
    Json,
    Latitude,
    Radius,
    Rollers,
    kinematics_of,
)
from roller_sphere.source.claims import claims
from roller_sphere.source.figures import write_figures


def figures_command(
    folder: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for pictures, data and page.")
    ] = Path("runs/roller_sphere_figures"),
    points: Annotated[
        int, typer.Option(min=3, max=401, help="Rigs of each side of the builder's maps.")
    ] = 69,
    radius: Radius = 1.0,
    azimuth: Azimuth = AZIMUTH,
    latitude: Latitude = LATITUDE,
    alpha: Alpha = (20.0, -20.0),
    heading: Annotated[
        float, typer.Option("--heading-deg", help="Of figure 2b, in degrees.")
    ] = 60.0,
    rollers: Rollers = None,
    as_json: Json = False,
) -> None:
    """Draw the paper's figures, try its claims, and survey what a builder can choose.

    Writes index.html with all of it, each figure as SVG, the data as CSV, and the claims as CSV and
    JSON. Figures 3 and the claims are those of the paper's rig. The rig of the options is that of
    figures 1 and 2; its first two azimuths, and its first latitude, are those of the builder's
    view.

    Examples:

      accord roller-sphere figures --out figures

      accord roller-sphere figures --azimuth-deg 150 210 --latitude-deg 20 20 --out mine --json
    """
    kinematics = kinematics_of(radius, azimuth, latitude, alpha, rollers)
    place = make_folder(folder)
    found = claims()
    with progress(as_json) as bar:
        task = bar.add_task("rigs", total=points**2)
        files = write_figures(
            place, kinematics, np.radians(heading), found, points,
            command=shlex.join(["accord", *sys.argv[1:]]),
            facts=made_with("roboaccord-roller_sphere"),
            done=lambda n: bar.advance(task, n),
        )  # fmt: skip
    data = {"files": [str(file) for file in files], "table": [asdict(claim) for claim in found]}
    print_json(data) if as_json else show(data)


def show(data: dict[str, Any]) -> None:
    """Print the result for people."""
    table = Table("claim of section 3", "printed", "found", "holds", box=None)
    for row in data["table"]:
        printed = "" if row["printed"] == "sentence" else row["printed"]
        table.add_row(row["claim"], printed, row["found"], "yes" if row["holds"] else "NO")
    out.print(table)
    out.print("files: " + ", ".join(data["files"]), highlight=False, soft_wrap=True)
