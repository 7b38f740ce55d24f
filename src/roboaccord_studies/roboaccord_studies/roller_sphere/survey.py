"""Command `accord roller-sphere survey`: figures of a rig, and the builder's view of its kind.

LIMIT, SPEED_CUT, LATITUDES and TURNS of the builder's maps, and MAPS, their words, may be changed;
then redraw docs/images by `make images`. FIGURES, headings of builder.csv, stay; test_roller_survey
compares its values with each rig's own. STEEPER, the rig drawn by default, may be changed, too.

Figures 1, 2, 4 and 5 are those of the paper, drawn for the rig of the options; the builder sees
slip and speed of mirror-symmetric rigs over roller angle and latitude.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli import Force, Out, Result, command_line, counted, gathers, results
from roboaccord.contract import Array, Degrees, by_option
from roboaccord.report import SQUARE, Still, heat_map, legend, picture, render_plots
from roboaccord.run import made_with, write_columns, write_text
from roller_sphere.cli.rig import PAIRS, RigOptions, Rollers
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.rig import Rig, RigError
from roller_sphere.source.figures import ALPHAS, COLOURS, PHI, QUARTERS

from roboaccord_studies.roller_sphere.reach import blocked, gains, slip_gains, top_speed
from roboaccord_studies.roller_sphere.rig_figures import (
    write_least,
    write_pair,
    write_planar,
    write_roller,
)

LIMIT = 2.0  # roller speed over the ball's, beyond which a heading counts as blocked
SPEED_CUT = 5.0  # of the colours of roller speeds
LATITUDES, TURNS = (-60.0, 85.0), (-85.0, 85.0)  # degrees, of the maps
ALPHA, LATITUDE = "alpha1 = -alpha2 [degrees]", "latitude of both contacts [degrees]"
FIGURES = ("slip_over_speed", "roller_speed_over_speed", "share_blocked", "condition")
MAPS = (  # of the first figures: name, title, caption, largest value with a colour of its own, unit
    ("slip", "Slip", "The largest slip of a roller over all headings, at 1 m/s. None at alpha 0.",
     1.0, "slip / speed of the ball"),
    ("speed", "Roller speed",
     "The largest roller speed over all headings, at 1 m/s. Where it is brightest the rig nears "
     "(X x Y)_z = 0 and cannot drive along some headings.",
     SPEED_CUT, "roller speed / speed of the ball"),
    ("blocked", "Blocked headings",
     f"The share of headings that need a roller faster than {LIMIT:g} times the ball.",
     1.0, "share of the headings"),
)  # fmt: skip

Pair = tuple[float, float]
Grid = tuple[str, Array]  # title of an axis and the values along it


def builders_view(
    kinematics: Kinematics, points: int, folder: Path, done: Callable[[int], None]
) -> tuple[list[Still], dict[str, Mapping[str, Array]]]:
    """Write the builder's figures for rigs with the azimuths of one, and return their tables."""
    first, second = map(math.degrees, kinematics.rig.azimuth[:2])
    height, azimuth = math.degrees(kinematics.rig.latitude[0]), (first, second)
    alphas, latitudes = np.linspace(*TURNS, points), np.linspace(*LATITUDES, points)
    figures = survey(azimuth, latitudes, alphas, done)
    stills = [
        write_map(
            folder / f"builder_{name}.svg", f"{title} over roller angle and latitude", caption,
            (ALPHA, alphas), (LATITUDE, latitudes), values.T, cut, unit,
        )
        for (name, title, caption, cut, unit), values in zip(MAPS, figures)
    ]  # fmt: skip
    headings = np.arange(0.0, 361.0, 2.0)
    speeds = needed(azimuth, height, alphas, headings)
    stills.append(
        write_map(
            folder / "builder_headings.svg",
            f"Roller speed over heading and roller angle, latitude {height:g}",
            "With rollers of at most L times the ball's speed headings brighter than L are "
            "blocked.",
            (PHI, headings), (ALPHA, alphas), speeds.T, SPEED_CUT,
            "faster roller / speed of the ball",
        )
    )  # fmt: skip
    top, fastest = write_top_speed(azimuth, height, folder)
    rows = np.meshgrid(latitudes, alphas, indexing="ij")
    columns = zip(("latitude_deg", "alpha_deg", *FIGURES), (*rows, *figures), strict=True)
    by_alpha = {f"alpha_{alpha:g}_deg": row for alpha, row in zip(alphas, speeds)}
    return [*stills, top], {
        "builder": {name: values.ravel() for name, values in columns},
        "builder_headings": {"phi_deg": headings, **by_alpha},
        "top_speed": fastest,
    }


def survey(azimuth: Pair, latitudes: Array, alphas: Array, done: Callable[[int], None]) -> Array:
    """Return `FIGURES` of mirror-symmetric rigs (4, m, n); angles in degrees.

    They are the largest slip and the largest roller speed over the ball's speed, the share of the
    headings that need more than `LIMIT` times that, and the condition number of the inverse. NaN
    where not every heading can be driven.
    """
    figures = np.full((len(FIGURES), len(latitudes), len(alphas)), np.nan)
    for row, height in enumerate(latitudes):
        for column, turn in enumerate(alphas):
            with suppress(RigError):  # at some latitude the contacts may be antipodal
                figures[:, row, column] = _figures(_mirrored(azimuth, height, turn))
        done(len(alphas))
    return figures


def needed(azimuth: Pair, latitude: float, alphas: Array, headings: Array) -> Array:
    """Return the required roller speed over alphas (n,) and headings (k,) [degrees] (n, k)."""
    speeds = np.full((len(alphas), len(headings)), np.nan)
    for row, turn in enumerate(alphas):
        kinematics = _mirrored(azimuth, latitude, turn)
        if kinematics.remaining is None:
            speeds[row] = 1.0 / top_speed(kinematics, np.radians(headings), 1.0)
    return speeds


def write_map(
    path: Path, title: str, caption: str, x: Grid, y: Grid, values: Array, cut: float, unit: str
) -> Still:
    """Write values (n, m) over a grid (n,), (m,) as colours, the same from `cut` on."""
    with picture(path, SQUARE) as axes:
        heat_map(axes, x[1], y[1], values, unit, cut=cut)
        axes.set(xlabel=x[0], ylabel=y[0])
    return Still(path, title, caption)


def write_top_speed(
    azimuth: Pair, latitude: float, folder: Path
) -> tuple[Still, Mapping[str, Array]]:
    """Write the largest speed of the ball over headings, at the paper's roller angles."""
    heading, path = np.arange(361.0), folder / "top_speed.svg"
    columns = {"phi_deg": heading}
    with picture(path) as axes:
        for alpha, colour in zip(ALPHAS, COLOURS, strict=True):
            kinematics = _mirrored(azimuth, latitude, alpha)
            if kinematics.remaining is None:
                top = top_speed(kinematics, np.radians(heading), 1.0)
                axes.plot(heading, top, color=colour, label=f"alpha {alpha:g} deg")
                columns[f"alpha_{alpha:g}_m_s"] = top
        axes.set(xlabel=PHI, ylabel="speed of the ball [m/s]", xlim=(0.0, 360.0), xticks=QUARTERS)
        legend(axes)
    still = Still(
        path, f"Largest speed of the ball by heading, latitude {latitude:g}",
        "With rollers of at most 1 m/s. Headings below a wanted speed are blocked at that speed.",
    )  # fmt: skip
    return still, columns


def _mirrored(azimuth: Pair, latitude: float, alpha: float) -> Kinematics:
    """Return the kinematics of a rig of radius 1 m; angles in degrees."""
    return Kinematics(Rig.degrees(1.0, azimuth, (latitude, latitude), (alpha, -alpha)))


def _figures(kinematics: Kinematics) -> tuple[float, float, float, float]:
    if kinematics.remaining is not None:
        return np.nan, np.nan, np.nan, kinematics.condition
    spans = blocked(kinematics, 1.0, LIMIT)
    share = sum(stop - start for start, stop in spans) / (2.0 * np.pi)
    return (
        float(slip_gains(kinematics).max()), float(gains(kinematics).max()), share,
        kinematics.condition,
    )  # fmt: skip


STEEPER = RigOptions(alpha=(20.0, -20.0))


@dataclass(frozen=True)
class Surveyed:
    """The files that were written."""

    files: list[Path]


@by_option("roller", "", PAIRS, "radius out force points heading-deg")
@gathers("--roller", "--nu")
def survey_command(
    folder: Out = None,
    force: Force = False,
    points: Annotated[
        int, typer.Option(min=3, max=401, help="Grid points along each side of the builder's maps.")
    ] = 69,
    rig: RigOptions = STEEPER,
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
        more, tables = builders_view(kinematics, points, out_folder, done)
        for name, table in tables.items():
            write_columns(out_folder / f"{name}.csv", table)
        page = render_plots(
            "A rig of rollers",
            "The lines to which rollers confine w, and what they mean to a builder.",
            [*stills, *more],
            command=command_line(),
            facts=made_with("roboaccord-roller_sphere"),
        )
        write_text(out_folder / "index.html", page)
        files = [file for still in (*stills, *more) for file in still.files]
        files += [out_folder / f"{name}.csv" for name in tables]
    return Result(Surveyed([out_folder / "index.html", *sorted(files)]))


def write_rig(kinematics: Kinematics, heading: float, folder: Path) -> list[Still]:
    """Write figures 1, 2, 4 and 5 of a rig that drives along a heading [rad].

    Those that show how two lines lie need two rollers: 2a, without slip, where they meet; 4 and 5.
    """
    stills = [write_roller(kinematics, heading, folder)]
    if kinematics.rig.count == 2:
        meeting = slipless_heading(kinematics)
        title = "Figure 2a: the lines meet, and nothing slips"
        stills.append(write_pair(kinematics, meeting, folder, "figure_2a", title))
    title = "Figure 2b: the lines miss each other"
    stills.append(write_pair(kinematics, heading, folder, "figure_2b", title))
    if kinematics.rig.count == 2:
        stills += write_least(kinematics, heading, folder)
        stills.append(write_planar(kinematics, heading, folder))
    return stills


def slipless_heading(kinematics: Kinematics) -> float:
    """Return the heading along which two rollers drive without slip [rad].

    S_1 = -S_2 is linear in (w_x, w_y), so there is one, and its opposite; at alpha 0 all are.
    """
    row = (kinematics.slipping @ kinematics.driving)[0]
    # (w_x, w_y) along (row_y, -row_x); rounding at alpha 0, and x then.
    if math.hypot(*row) < 1e-12 * kinematics.rig.radius:
        return 0.0
    heading = math.atan2(-row[1], -row[0]) % math.pi
    return 0.0 if heading > math.pi - 1e-9 else heading
