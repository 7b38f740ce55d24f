"""Maps for builders of rigs: slip and speed over the rollers' angle and the contacts' latitude.

A rig is a ball that two rollers drive by friction. The rigs of these maps are mirror-symmetric:
both contacts have the same latitude [degrees above the ball's equator], and the rollers' axes
opposite angles alpha; the azimuths are those of a given rig. `write_builder_figures` draws them for
`accord roller-sphere survey` (survey.py), by the closed forms of reach.py.

Constants may be changed; docs/images is then drawn anew by `make images`. FIGURES are headings of
builder.csv and stay; test_roller_survey compares the values with those of single rigs.
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

# Ratio of roller speed to ball speed above which a heading counts as blocked. By choice: that of
# the defaults of `accord roller-sphere reach`, 2 m/s and 1 m/s.
SPEED_LIMIT = 2.0
# Ratio of roller speed to ball speed from which on the colour stays the same: two and a half times
# SPEED_LIMIT, where it is blocked already.
SPEED_CUT = 5.0
# Degrees; ranges of latitude and angle in maps: at a latitude of 90 both contacts are one, at -60
# only rollers of less than 7 % of the ball's radius clear the ground, and at an angle of 90 none
# drives (1 / cos(85 degrees) is 11).
LATITUDE_RANGE, ALPHA_RANGE = (-60.0, 85.0), (-85.0, 85.0)
# Labels of the axes of maps.
ALPHA_LABEL, LATITUDE_LABEL = "alpha1 = -alpha2 [degrees]", "latitude of both contacts [degrees]"
# Figures of a rig over all headings, as `figures_over_grid` explains them.
FIGURES = ("slip_over_speed", "roller_speed_over_speed", "share_blocked", "condition")

Pair = tuple[float, float]  # azimuths of both contacts [degrees]
Table = Mapping[str, Array]  # columns of a CSV file by heading


class Axis(NamedTuple):
    """An axis of a map: its label, and the values along it (n,)."""

    label: str
    values: Array


class GridMap(NamedTuple):
    """A map of values (n, m) over the grid of two axes.

    Args:
        x, y: axes of n and m values.
        values: over the grid (n, m); NaN where there are none.
        unit: label of the colour bar.
        cut: value from which on the colour stays the same.
    """

    x: Axis
    y: Axis
    values: Array
    unit: str
    cut: float

    def write(self, path: Path, title: str, caption: str) -> Still:
        """Write the map as colours, with a title and a caption for the page."""
        with picture(path, SQUARE) as axes:
            heat_map(axes, self.x.values, self.y.values, self.values, self.unit, cut=self.cut)
            axes.set(xlabel=self.x.label, ylabel=self.y.label)
        return Still(path, title, caption)


def write_builder_figures(
    kinematics: Kinematics, points: int, folder: Path, done: Callable[[int], None]
) -> tuple[list[Still], dict[str, Table]]:
    """Write the builder's figures for rigs with the azimuths of one rig.

    Args:
        kinematics: of that rig.
        points: grid points along each side of a map.
        folder: for the pictures.
        done: called after each row of the grid with its number of rigs.

    Returns:
        the figures, and their tables by the name of their file.
    """
    first, second = map(math.degrees, kinematics.rig.azimuth[:2])
    azimuth, latitude = (first, second), math.degrees(kinematics.rig.latitude[0])
    maps, grid_table = write_grid_maps(azimuth, points, folder, done)
    heading_map, heading_table = write_heading_map(azimuth, latitude, points, folder)
    top_speed_plot, top_speeds = write_top_speed(azimuth, latitude, folder)
    tables = {"builder": grid_table, "builder_headings": heading_table, "top_speed": top_speeds}
    return [*maps, heading_map, top_speed_plot], tables


def write_grid_maps(
    azimuth: Pair, points: int, folder: Path, done: Callable[[int], None]
) -> tuple[list[Still], Table]:
    """Write the maps of the first three FIGURES over roller angle and latitude.

    Args:
        azimuth: of both contacts [degrees].
        points: grid points along each side of a map.
        folder: for the pictures.
        done: called after each row of the grid with its number of rigs.
    """
    alphas, latitudes = np.linspace(*ALPHA_RANGE, points), np.linspace(*LATITUDE_RANGE, points)
    figures = figures_over_grid(azimuth, latitudes, alphas, done)
    slips, speeds, shares = (values.T for values in figures[:3])
    x, y = Axis(ALPHA_LABEL, alphas), Axis(LATITUDE_LABEL, latitudes)
    maps = [
        GridMap(x, y, slips, "slip / speed of the ball", 1.0).write(
            folder / "builder_slip.svg",
            "Slip over roller angle and latitude",
            "The largest slip of a roller over all headings, at 1 m/s. None at alpha 0.",
        ),
        GridMap(x, y, speeds, "roller speed / speed of the ball", SPEED_CUT).write(
            folder / "builder_speed.svg",
            "Roller speed over roller angle and latitude",
            "The largest roller speed over all headings, at 1 m/s. Where it is brightest the rig "
            "nears (X x Y)_z = 0 and cannot drive along some headings.",
        ),
        GridMap(x, y, shares, "share of the headings", 1.0).write(
            folder / "builder_blocked.svg",
            "Blocked headings over roller angle and latitude",
            f"The share of headings that need a roller faster than {SPEED_LIMIT:g} times the ball.",
        ),
    ]
    grids = np.meshgrid(latitudes, alphas, indexing="ij")
    columns = zip(("latitude_deg", "alpha_deg", *FIGURES), (*grids, *figures), strict=True)
    return maps, {name: values.ravel() for name, values in columns}


def write_heading_map(
    azimuth: Pair, latitude: float, points: int, folder: Path
) -> tuple[Still, Table]:
    """Write the map of the roller speed over heading and roller angle; angles in degrees."""
    alphas, headings = np.linspace(*ALPHA_RANGE, points), np.arange(0.0, 361.0, 2.0)
    speeds = needed_speeds(azimuth, latitude, alphas, headings)
    x, y = Axis(PHI, headings), Axis(ALPHA_LABEL, alphas)
    still = GridMap(x, y, speeds.T, "faster roller / speed of the ball", SPEED_CUT).write(
        folder / "builder_headings.svg",
        f"Roller speed over heading and roller angle, latitude {latitude:g}",
        "With rollers of at most L times the ball's speed headings brighter than L are blocked.",
    )
    by_alpha = {f"alpha_{alpha:g}_deg": row for alpha, row in zip(alphas, speeds)}
    return still, {"phi_deg": headings, **by_alpha}


def figures_over_grid(
    azimuth: Pair, latitudes: Array, alphas: Array, done: Callable[[int], None]
) -> Array:
    """Return FIGURES of mirror-symmetric rigs (4, m, n); angles in degrees.

    They are the largest slip and the largest roller speed over the ball's speed, the share of
    headings that need more than SPEED_LIMIT times that speed, and the condition number of the
    inverse map. The first three are NaN if not every heading can be driven.
    """
    figures = np.full((len(FIGURES), len(latitudes), len(alphas)), np.nan)
    for row, latitude in enumerate(latitudes):
        for column, alpha in enumerate(alphas):
            with suppress(RigError):  # at some latitude the contacts may be antipodal
                figures[:, row, column] = _figures_of_rig(_mirrored(azimuth, latitude, alpha))
        done(len(alphas))
    return figures


def needed_speeds(azimuth: Pair, latitude: float, alphas: Array, headings: Array) -> Array:
    """Return the faster roller's speed over the ball's, by alphas (n,) and headings (k,) (n, k).

    Angles are in degrees; NaN if not every heading can be driven.
    """
    speeds = np.full((len(alphas), len(headings)), np.nan)
    for row, alpha in enumerate(alphas):
        kinematics = _mirrored(azimuth, latitude, alpha)
        if kinematics.remaining is None:
            speeds[row] = 1.0 / top_speed(kinematics, np.radians(headings), 1.0)
    return speeds


def write_top_speed(azimuth: Pair, latitude: float, folder: Path) -> tuple[Still, Table]:
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
    title = f"Largest speed of the ball by heading, latitude {latitude:g}"
    caption = (
        "With rollers of at most 1 m/s. Headings below a wanted speed are blocked at that speed."
    )
    return Still(path, title, caption), columns


def _mirrored(azimuth: Pair, latitude: float, alpha: float) -> Kinematics:
    """Return the kinematics of a rig of radius 1 m; angles in degrees."""
    return Kinematics(Rig.degrees(1.0, azimuth, (latitude, latitude), (alpha, -alpha)))


def _figures_of_rig(kinematics: Kinematics) -> list[float]:
    """Return FIGURES of a rig."""
    if kinematics.remaining is not None:  # not every heading can be driven
        return [np.nan, np.nan, np.nan, kinematics.condition]
    slip, roller_speed = slip_gains(kinematics).max(), gains(kinematics).max()
    spans = blocked(kinematics, 1.0, SPEED_LIMIT)
    share_blocked = sum(stop - start for start, stop in spans) / (2.0 * np.pi)
    return [float(slip), float(roller_speed), share_blocked, kinematics.condition]
