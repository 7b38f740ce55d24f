"""The plan of a run as a picture: where the sphere went, over the heights of the ground."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.report.colours import EMPTY, INK, PAGE, RED
from roboaccord.report.drawing import SQUARE, heat_map, label_dots, legend, picture

from voxel_sphere.rolling.path import RolledPath
from voxel_sphere.source.relief import ground_and_walls
from voxel_sphere.terrain.workspace import Terrain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVELS = 12  # contours, about
CONTACT = "#ff5fd2"  # seen on all of the scale of heights
FLAT = 0.1  # voxels, between the highest and the lowest ground without contours


def write_plan(path: RolledPath, terrain: Terrain, file: Path) -> None:
    """Write where the centre and the contact went, over contours of the ground, as SVG.

    Raises:
        AccordError: if the file cannot be written.
    """
    heights, walls = ground_and_walls(path, terrain)
    with picture(file, SQUARE) as axes:
        draw_ground(axes, heights)
        axes.plot(*path.contact[:, :2].T, color=CONTACT, ls="--", label="contact")
        axes.plot(*path.centre[:, :2].T, color=RED, lw=1.8, label="centre")
        if not np.isnan(walls).all():
            axes.fill([], [], color=EMPTY, label="walls")
        for place, fill, edge in ((path.centre[0], PAGE, INK), (path.centre[-1], RED, PAGE)):
            axes.plot(*place[:2], "o", color=fill, mec=edge, ms=7.5, clip_on=False)
        dots = [(float(event.centre[0]), float(event.centre[1])) for event in path.events]
        for x, y in dots:
            axes.plot(x, y, "o", color=PAGE, mec=INK, ms=4.5, clip_on=False)
        axes.set(xlabel="x [voxels]", ylabel="y [voxels]", xlim=(0, terrain.n), ylim=(0, terrain.n))
        axes.set_aspect("equal")
        legend(axes)
        label_dots(axes, dots, [f"{event.kind}, {event.time:.3g} s" for event in path.events])


def draw_ground(axes: Axes, heights: Array) -> None:
    """Show heights (n, n) as colours, with contours where they are not all alike."""
    places = np.arange(float(len(heights))) + 0.5
    heat_map(axes, places, places, heights, "height [voxels]")
    if np.nanmax(heights) - np.nanmin(heights) >= FLAT:
        axes.contour(places, places, heights.T, LEVELS, colors=INK, linewidths=0.5)
        axes.plot([], [], color=INK, lw=0.8, label="contours")
