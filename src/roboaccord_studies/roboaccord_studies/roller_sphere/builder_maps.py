"""Maps for builders of rigs: slip and speed over the rollers' angle and the contacts' latitude.

The rigs are mirror-symmetric: both contacts have the same latitude, and the rollers opposite
angles; the azimuths are those of a given rig. Constants may be changed; docs/images is then drawn
anew by `make images`. FIGURES are headings of builder.csv and stay; test_roller_survey compares the
values with those of single rigs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from roboaccord.contract import Array
from roboaccord.report import SQUARE, Still, heat_map, legend, picture
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.rig import Rig, RigError
from roller_sphere.source.figures import ALPHAS, COLOURS, PHI, QUARTERS

from roboaccord_studies.roller_sphere.reach import blocked, gains, slip_gains, top_speed

LIMIT = 2.0  # ratio of roller speed to ball speed above which a heading counts as blocked
# Ratio of roller speed to ball speed from which on the colour stays the same: two and a half times
# LIMIT, where it is blocked already.
SPEED_CUT = 5.0
# Degrees; ranges of latitude and angle in maps: at a latitude of 90 both contacts are one, at -60
# only rollers of less than 7 % of the ball's radius clear the ground, and at an angle of 90 none
# drives (1 / cos(85 degrees) is 11).
LATITUDES, TURNS = (-60.0, 85.0), (-85.0, 85.0)
ALPHA, LATITUDE = "alpha1 = -alpha2 [degrees]", "latitude of both contacts [degrees]"
FIGURES = ("slip_over_speed", "roller_speed_over_speed", "share_blocked", "condition")


class MapDesign(NamedTuple):
    """How a map of one of FIGURES is drawn.

    Args:
        name: name of its file.
        title, caption: title and caption of the figure.
        cut: value from which on the colour stays the same.
        unit: label of the colour bar.
    """

    name: str
    title: str
    caption: str
    cut: float
    unit: str


# Maps of the first three of FIGURES.
MAPS = (
    MapDesign("slip", "Slip",
        "The largest slip of a roller over all headings, at 1 m/s. None at alpha 0.",
        1.0, "slip / speed of the ball"),
    MapDesign("speed", "Roller speed",
        "The largest roller speed over all headings, at 1 m/s. Where it is brightest the rig nears "
        "(X x Y)_z = 0 and cannot drive along some headings.",
        SPEED_CUT, "roller speed / speed of the ball"),
    MapDesign("blocked", "Blocked headings",
        f"The share of headings that need a roller faster than {LIMIT:g} times the ball.",
        1.0, "share of the headings"),
)  # fmt: skip

# Values of both rollers.
Pair = tuple[float, float]
# Title of an axis, and the values along it.
Grid = tuple[str, Array]


def write_builder_figures(
    kinematics: Kinematics, points: int, folder: Path, done: Callable[[int], None]
) -> tuple[list[Still], dict[str, Mapping[str, Array]]]:
    """Write the builder's figures for rigs with the azimuths of one, and return their tables."""
    first, second = map(math.degrees, kinematics.rig.azimuth[:2])
    height, azimuth = math.degrees(kinematics.rig.latitude[0]), (first, second)
    alphas, latitudes = np.linspace(*TURNS, points), np.linspace(*LATITUDES, points)
    figures = figures_over_grid(azimuth, latitudes, alphas, done)
    stills = [
        write_map(
            folder / f"builder_{design.name}.svg",
            f"{design.title} over roller angle and latitude", design.caption,
            (ALPHA, alphas), (LATITUDE, latitudes), values.T, design.cut, design.unit,
        )
        for design, values in zip(MAPS, figures)
    ]  # fmt: skip
    headings = np.arange(0.0, 361.0, 2.0)
    speeds = needed_speeds(azimuth, height, alphas, headings)
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
    grids = np.meshgrid(latitudes, alphas, indexing="ij")
    columns = zip(("latitude_deg", "alpha_deg", *FIGURES), (*grids, *figures), strict=True)
    by_alpha = {f"alpha_{alpha:g}_deg": row for alpha, row in zip(alphas, speeds)}
    return [*stills, top], {
        "builder": {name: values.ravel() for name, values in columns},
        "builder_headings": {"phi_deg": headings, **by_alpha},
        "top_speed": fastest,
    }


def figures_over_grid(
    azimuth: Pair, latitudes: Array, alphas: Array, done: Callable[[int], None]
) -> Array:
    """Return FIGURES of mirror-symmetric rigs (4, m, n); angles in degrees.

    They are the largest slip and the largest roller speed over the ball's speed, the share of
    headings that need more than LIMIT times that speed, and the condition number of the inverse
    map. The first three are NaN if not every heading can be driven.
    """
    figures = np.full((len(FIGURES), len(latitudes), len(alphas)), np.nan)
    for row, height in enumerate(latitudes):
        for column, turn in enumerate(alphas):
            with suppress(RigError):  # at some latitude the contacts may be antipodal
                figures[:, row, column] = _figures_of_rig(_mirrored(azimuth, height, turn))
        done(len(alphas))
    return figures


def needed_speeds(azimuth: Pair, latitude: float, alphas: Array, headings: Array) -> Array:
    """Return the faster roller's speed over the ball's, by alphas (n,) and headings (k,) (n, k).

    Angles are in degrees; NaN if not every heading can be driven.
    """
    speeds = np.full((len(alphas), len(headings)), np.nan)
    for row, turn in enumerate(alphas):
        kinematics = _mirrored(azimuth, latitude, turn)
        if kinematics.remaining is None:
            speeds[row] = 1.0 / top_speed(kinematics, np.radians(headings), 1.0)
    return speeds


def write_map(
    path: Path, title: str, caption: str, x: Grid, y: Grid, values: Array, cut: float, unit: str
) -> Still:
    """Write values (n, m) over a grid (n,), (m,) as colours, one colour from `cut` on."""
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


def _figures_of_rig(kinematics: Kinematics) -> tuple[float, float, float, float]:
    """Return FIGURES of a rig."""
    if kinematics.remaining is not None:
        return np.nan, np.nan, np.nan, kinematics.condition
    spans = blocked(kinematics, 1.0, LIMIT)
    share = sum(stop - start for start, stop in spans) / (2.0 * np.pi)
    return (
        float(slip_gains(kinematics).max()), float(gains(kinematics).max()), share,
        kinematics.condition,
    )  # fmt: skip
