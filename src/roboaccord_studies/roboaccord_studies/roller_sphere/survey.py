"""Command `accord roller-sphere survey`: figures of a rig, and maps for those who build one.

Figures 1, 2, 4 and 5 are those of the paper (roller_sphere/model/rig.py), drawn for the rig of the
options (rig_figures.py); builder_maps.py shows how slip and speed depend on what a builder can
choose. DEFAULT_RIG may be changed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli import Force, Out, Result, command_line, counted, gathers, results
from roboaccord.contract import Degrees, by_option
from roboaccord.report import Still, render_plots
from roboaccord.run import made_with, write_columns, write_text
from roller_sphere.cli.rig import PAIRS, RigOptions, Rollers
from roller_sphere.model.kinematics import Kinematics

from roboaccord_studies.roller_sphere import rig_figures
from roboaccord_studies.roller_sphere.builder_maps import write_builder_figures

DEFAULT_RIG = RigOptions(alpha=(20.0, -20.0))  # the default: a rig whose lines are well apart
SLIP_ROUND_OFF = 1e-12  # slip over the radius below which it is round-off: 4500 eps
# rad; angle below which a heading is round-off: headings of a grid are degrees apart.
HEADING_ROUND_OFF = 1e-9


@dataclass(frozen=True)
class Surveyed:
    """Files that were written."""

    files: list[Path]


POINTS = typer.Option(min=3, max=401, help="Grid points along each side of the builder's maps.")


@by_option("roller", "", PAIRS, "radius out force points heading-deg")
@gathers("--roller", "--nu")
def survey_command(
    folder: Out = None,
    force: Force = False,
    points: Annotated[int, POINTS] = 69,
    rig: RigOptions = DEFAULT_RIG,
    heading: Annotated[Degrees, typer.Option("--heading-deg", help="Heading of figure 2b.")] = 60.0,
    rollers: Rollers = None,
) -> Result:
    """Draw the paper's figures 1, 2, 4 and 5 for a rig, and survey what a builder can choose.

    Writes index.html with all of it, each figure as SVG, and the data as CSV. The first two
    azimuths of the rig, and its first latitude, are used for the builder's view.

    Examples:

      accord roller-sphere survey --out roller_survey

      accord roller-sphere survey --roller 150 20 5 --roller 210 20 -5 --out other

      accord roller-sphere survey --azimuth-deg 150 210 --latitude-deg 20 20 --out mine --json
    """
    kinematics = rig.kinematics(rollers)
    with (
        results(folder, "roller_sphere_survey", force=force) as out_folder,
        counted(points**2, "rigs") as done,
    ):
        stills = write_rig(kinematics, np.radians(heading), out_folder)
        maps, tables = write_builder_figures(kinematics, points, out_folder, done)
        for name, table in tables.items():
            write_columns(out_folder / f"{name}.csv", table)
        stills += maps
        lead = "The lines to which rollers confine w, and what they mean to a builder."
        command, facts = command_line(), made_with("roboaccord-roller_sphere")
        page = render_plots("A rig of rollers", lead, stills, command=command, facts=facts)
        write_text(out_folder / "index.html", page)
        files = [file for still in stills for file in still.files]
        files += [out_folder / f"{name}.csv" for name in tables]
    return Result(Surveyed([out_folder / "index.html", *sorted(files)]))


def write_rig(kinematics: Kinematics, heading: float, folder: Path) -> list[Still]:
    """Write figures 1, 2, 4 and 5 of a rig that drives along a heading [rad].

    Figures 2a, 4 and 5 show how two lines lie, so they are drawn for two rollers only.
    """
    stills = [rig_figures.write_roller(kinematics, heading, folder)]
    if kinematics.rig.count == 2:
        meeting = slipless_heading(kinematics)
        title = "Figure 2a: the lines meet, and nothing slips"
        stills.append(rig_figures.write_pair(kinematics, meeting, folder, "figure_2a", title))
    title = "Figure 2b: the lines miss each other"
    stills.append(rig_figures.write_pair(kinematics, heading, folder, "figure_2b", title))
    if kinematics.rig.count == 2:
        stills += rig_figures.write_least(kinematics, heading, folder)
        stills.append(rig_figures.write_planar(kinematics, heading, folder))
    return stills


def slipless_heading(kinematics: Kinematics) -> float:
    """Return the heading along which two rollers drive without slip [rad].

    S_1 = -S_2 is linear in (w_x, w_y), so it is 0 for one heading and its opposite. At alpha 0
    there is no slip along any heading, and 0 is returned.
    """
    row = (kinematics.slipping @ kinematics.driving)[0]  # of S_1 by (w_x, w_y)
    if math.hypot(*row) < SLIP_ROUND_OFF * kinematics.rig.radius:
        return 0.0
    heading = math.atan2(-row[1], -row[0]) % math.pi  # (w_x, w_y) is along (row_y, -row_x)
    return 0.0 if heading > math.pi - HEADING_ROUND_OFF else heading
