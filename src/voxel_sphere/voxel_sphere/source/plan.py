"""The plan of a run as a picture: where the sphere went, over the heights of the ground."""

from __future__ import annotations

from pathlib import Path as File

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.report.axes import Axes, colour_bar, ticks
from roboaccord.report.colours import EMPTY, INK, PAGE, RED, colours
from roboaccord.report.contours import contour
from roboaccord.report.svg import Drawing

from voxel_sphere.rolling.path import Path
from voxel_sphere.source.relief import ground_and_walls
from voxel_sphere.terrain.workspace import Terrain

SIZE, BOX, BAR = (660, 540), (76.0, 40.0, 440.0, 440.0), (546.0, 40.0, 18.0, 440.0)
LEVELS = 12  # contours, about
CONTACT = "#ff5fd2"  # seen on all of the scale of heights
FLAT = 0.1  # voxels, between the highest and the lowest ground without contours
WORDS = 9.0  # pixels, of words beside their dot


def write_plan(path: Path, terrain: Terrain, file: File) -> None:
    """Write where the centre and the contact went, over contours of the ground, as SVG.

    Raises:
        AccordError: if the file cannot be written.
    """
    heights, walls = ground_and_walls(path, terrain)
    drawing = Drawing(SIZE)
    edge = 0.0, float(terrain.n)
    axes = Axes(drawing, BOX, edge, edge, ("x [voxels]", "y [voxels]"))
    span = draw_ground(axes, heights)
    drawing.line(axes.at(path.contact[:, :2]), CONTACT, 1.8, dashed=True)
    drawing.line(axes.at(path.centre[:, :2]), RED, 2.4)
    ends = axes.at(path.centre[[0, -1], :2])
    drawing.dots(ends[:1], PAGE, 5.0, INK)
    drawing.dots(ends[1:], RED, 5.0, PAGE)
    for event in path.events:
        ((x, y),) = place = axes.at(np.array([event.centre[:2]]))
        drawing.dots(place, PAGE, 3.0, INK)
        left = x > BOX[0] + 0.8 * BOX[2]
        at = (x - WORDS, y - WORDS) if left else (x + WORDS, y - WORDS)
        words = f"{event.kind}, {event.time:.3g} s"
        drawing.text(at, words, anchor="end" if left else "start", halo=True)
    axes.frame()
    colour_bar(drawing, BAR, span, "height [voxels]")
    legend = [("centre", RED, False), ("contact", CONTACT, True), ("contours", INK, False)]
    if not np.isnan(walls).all():
        legend.append(("walls", EMPTY, False))
    drawing.legend(legend, BOX[0], 22.0)
    drawing.write(file)


def draw_ground(axes: Axes, heights: Array) -> tuple[float, float]:
    """Fill a frame with heights (n, n) as colours and contours; return what the colours span."""
    low, high = float(np.nanmin(heights)), float(np.nanmax(heights))
    level = high - low < FLAT
    if level:
        low, high = low - 0.5, high + 0.5
    shades = colours((heights.T[::-1] - low) / (high - low))
    axes.drawing.image(shades.round().astype(np.uint8), axes.box)
    places = np.linspace(0.5, len(heights) - 0.5, len(heights))
    for value in () if level else ticks(low, high, LEVELS):
        pieces = contour(places, places, heights, float(value))
        if len(pieces):
            axes.drawing.strokes(axes.at(pieces.reshape(-1, 2)).reshape(-1, 2, 2), INK, 0.6)
    return low, high
