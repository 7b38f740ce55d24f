"""The builder's view: slip and speed of mirror-symmetric rigs over roller angle and latitude."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from roboaccord.contract import Array
from roboaccord.report import SQUARE, Still, heat_map, legend, picture
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.rig import Rig, RigError
from roller_sphere.source.figures import ALPHAS, COLOURS, PHI, QUARTERS

from roboaccord_studies.roller_sphere.reach import blocked, gains, slip_gains, top_speed

LIMIT = 2.0  # roller speed over the ball's, beyond which a heading counts as blocked
SLIP_CUT, SPEED_CUT = 1.0, 5.0  # of the colours
LATITUDES, TURNS = (-60.0, 85.0), (-85.0, 85.0)  # degrees, of the maps
ALPHA, LATITUDE = "alpha1 = -alpha2 [degrees]", "latitude of both contacts [degrees]"

Grid = tuple[str, Array]  # title of an axis and the values along it


FIGURES = ("slip_over_speed", "roller_speed_over_speed", "share_blocked", "condition")


@dataclass(frozen=True, eq=False)
class Survey:
    """Hold figures of rigs over latitude (m,) and alpha (n,) [degrees]; NaN: not every heading.

    Args:
        alpha, latitude: the grid.
        figures: by name (m, n): the largest slip and the largest roller speed over the ball's
            speed, the share of the headings that need more than `LIMIT` times that, and the
            condition number of the inverse.
    """

    alpha: Array
    latitude: Array
    figures: Mapping[str, Array]

    @property
    def table(self) -> Mapping[str, Array]:
        """The figures as columns, a row a rig."""
        latitude, alpha = np.meshgrid(self.latitude, self.alpha, indexing="ij")
        columns = {"latitude_deg": latitude, "alpha_deg": alpha, **self.figures}
        return {name: values.ravel() for name, values in columns.items()}


def survey(
    azimuth: tuple[float, float], points: int, *, done: Callable[[int], None] = lambda count: None
) -> Survey:
    """Return the figures of mirror-symmetric rigs with contacts at two azimuths [degrees]."""
    alpha, latitude = np.linspace(*TURNS, points), np.linspace(*LATITUDES, points)
    found = np.full((4, points, points), np.nan)
    for row, height in enumerate(latitude):
        for column, turn in enumerate(alpha):
            with suppress(RigError):  # at some latitude the contacts may be antipodal
                found[:, row, column] = _figures(_mirrored(azimuth, height, turn))
        done(points)
    return Survey(alpha, latitude, dict(zip(FIGURES, found, strict=True)))


def needed(
    azimuth: tuple[float, float], latitude: float, points: int
) -> tuple[Array, Array, Array]:
    """Return headings (k,) and alphas (n,) [degrees], and the required roller speed (n, k)."""
    heading, alpha = np.arange(0.0, 361.0, 2.0), np.linspace(*TURNS, points)
    speeds = np.full((points, len(heading)), np.nan)
    for row, turn in enumerate(alpha):
        kinematics = _mirrored(azimuth, latitude, turn)
        if kinematics.remaining is None:
            speeds[row] = 1.0 / top_speed(kinematics, np.radians(heading), 1.0)
    return heading, alpha, speeds


def write_maps(found: Survey, folder: Path) -> list[Still]:
    """Write the maps over roller angle and latitude."""
    grid = (ALPHA, found.alpha), (LATITUDE, found.latitude)
    slip, speed, share, _ = (found.figures[name].T for name in FIGURES)
    return [
        write_map(
            folder / "builder_slip.svg", "Slip over roller angle and latitude",
            "The largest slip of a roller over all headings, at 1 m/s. None at alpha 0.",
            *grid, slip, SLIP_CUT, "slip / speed of the ball",
        ),
        write_map(
            folder / "builder_speed.svg", "Roller speed over roller angle and latitude",
            "The largest roller speed over all headings, at 1 m/s. Where it is brightest the rig "
            "nears (X x Y)_z = 0 and cannot drive along some headings.",
            *grid, speed, SPEED_CUT, "roller speed / speed of the ball",
        ),
        write_map(
            folder / "builder_blocked.svg", "Blocked headings over roller angle and latitude",
            f"The share of headings that need a roller faster than {LIMIT:g} times the ball.",
            *grid, share, 1.0, "share of the headings",
        ),
    ]  # fmt: skip


def write_needed(
    heading: Array, alpha: Array, speeds: Array, latitude: float, folder: Path
) -> Still:
    """Write the map of the roller speed (n, k) over alphas (n,) and headings (k,) [degrees]."""
    return write_map(
        folder / "builder_headings.svg",
        f"Roller speed over heading and roller angle, latitude {latitude:g}",
        "With rollers of at most L times the ball's speed headings brighter than L are blocked.",
        (PHI, heading), (ALPHA, alpha), speeds.T, SPEED_CUT, "faster roller / speed of the ball",
    )  # fmt: skip


def write_map(
    path: Path, title: str, caption: str, x: Grid, y: Grid, values: Array, cut: float, unit: str
) -> Still:
    """Write values (n, m) over a grid (n,), (m,) as colours, the same from `cut` on."""
    with picture(path, SQUARE) as axes:
        heat_map(axes, x[1], y[1], values, unit, cut=cut)
        axes.set(xlabel=x[0], ylabel=y[0])
    return Still(path, title, caption)


def write_top_speed(
    azimuth: tuple[float, float], latitude: float, folder: Path
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


def _mirrored(azimuth: tuple[float, float], latitude: float, alpha: float) -> Kinematics:
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


def builders_view(
    kinematics: Kinematics, points: int, folder: Path, done: Callable[[int], None]
) -> tuple[list[Still], dict[str, Mapping[str, Array]]]:
    """Write the builder's figures for rigs with the azimuths of one, and return their tables."""
    first, second = map(math.degrees, kinematics.rig.azimuth[:2])
    latitude = math.degrees(kinematics.rig.latitude[0])
    azimuth = (first, second)
    surveyed = survey(azimuth, points, done=done)
    headings, alphas, speeds = needed(azimuth, latitude, points)
    top, columns = write_top_speed(azimuth, latitude, folder)
    stills = [
        *write_maps(surveyed, folder),
        write_needed(headings, alphas, speeds, latitude, folder),
        top,
    ]
    by_alpha = {f"alpha_{alpha:g}_deg": row for alpha, row in zip(alphas, speeds)}
    return stills, {
        "builder": surveyed.table,
        "builder_headings": {"phi_deg": headings, **by_alpha},
        "top_speed": columns,
    }
