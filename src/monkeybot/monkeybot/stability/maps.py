"""Pictures of a landscape: the root of its error, cut off above, as a surface and as a map."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from roboaccord.contract.state import Array
from roboaccord.report.axes import Axes, colour_bar, ticks
from roboaccord.report.colours import INK, PAGE, RED, SOFT, colours, rgb
from roboaccord.report.svg import Drawing, Pixels

from monkeybot.gaits.landscape import Landscape

MARK = "#ffb000"
CUT = 5.0  # as in the report
HEIGHT = "root of the error"
TITLES = ("w1 at the start [rad/s]", "w2 at the start [rad/s]")
SIZE = (720, 520)
BOX = (76.0, 22.0, 520.0, 430.0)
BAR = (626.0, 22.0, 18.0, 430.0)
DOWN = np.array([0.0, 6.0])  # pixels, of words from their place
FINE = 2  # a surface is drawn with so many times the pixels
TURN, TILT, RISE = math.radians(-58.0), math.radians(28.0), 0.62  # of the view; height by width
MARKED = 40  # minima that are marked, lowest first: on a slanting valley a grid makes many


def root(field: Landscape) -> Array:
    """Return the root of the error, at most `CUT` (n1, n2); NaN where there is none."""
    return np.asarray(np.minimum(np.sqrt(field.error), CUT))


def write_map(field: Landscape, path: Path, marks: Array | None = None) -> None:
    """Write the intensity map as SVG; dark is low.

    Args:
        field: the landscape.
        path: of the file.
        marks: further points (w1, w2) to mark (m, 2).
    """
    picture = Drawing(SIZE)
    axes = Axes(picture, BOX, _ends(field.w1), _ends(field.w2), TITLES)
    pixels = colours(root(field).T[::-1] / CUT).round().astype(np.uint8)
    picture.image(pixels, BOX, smooth=True)
    picture.dots(axes.at(field.minima[:MARKED, :2]), PAGE, 1.6)
    if marks is not None:
        picture.dots(axes.at(marks), MARK, 4.5, INK)
    picture.dots(axes.at(field.lowest[None, :2]), RED, 5.0, PAGE)
    axes.frame()
    colour_bar(picture, BAR, (0.0, CUT), HEIGHT, more=True)
    picture.write(path)


def write_surface(field: Landscape, path: Path) -> None:
    """Write the surface as SVG, seen from above."""
    picture = Drawing(SIZE)
    view = View(SIZE)
    height = root(field) / CUT
    x, y = np.meshgrid(np.linspace(0, 1, len(field.w1)), np.linspace(0, 1, len(field.w2)))
    corners = view.see(np.stack([x.T, y.T, np.nan_to_num(height)], axis=-1))
    picture.image(_painted(corners, height, view), (0.0, 0.0, *SIZE), smooth=True)
    picture.dots(view.see(_in_box(field, field.minima[:MARKED])), MARK, 1.6)
    picture.dots(view.see(_in_box(field, field.lowest[None])), RED, 5.0, PAGE)
    _edges(picture, view, field)
    colour_bar(picture, BAR, (0.0, CUT), HEIGHT, more=True)
    picture.write(path)


def _in_box(field: Landscape, points: Array) -> Array:
    """Return rows w1, w2, error as places in the unit box (m, 3)."""
    (a, b), (c, d) = _ends(field.w1), _ends(field.w2)
    height = np.minimum(np.sqrt(points[:, 2]), CUT) / CUT
    return np.column_stack([(points[:, 0] - a) / (b - a), (points[:, 1] - c) / (d - c), height])


class View:
    """See the unit box from above and aside, without perspective.

    Args:
        size: of the picture [pixels].
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self._size = size

    def see(self, points: Array) -> Array:
        """Return pixels of points (..., 3) of the unit box (..., 2)."""
        x, y, z = np.moveaxis(np.asarray(points, dtype=float), -1, 0)
        x, y = x - 0.5, y - 0.5
        right = math.cos(TURN) * y - math.sin(TURN) * x
        near = math.cos(TURN) * x + math.sin(TURN) * y
        up = -near * math.sin(TILT) + RISE * math.cos(TILT) * z
        scale = 0.5 * self._size[0]
        middle = 0.44 * self._size[0], 0.64 * self._size[1]
        return np.stack([middle[0] + scale * right, middle[1] - scale * up], axis=-1)

    def order(self, shape: tuple[int, int]) -> NDArray[np.intp]:
        """Return the indices of the cells of a grid (n, 2), farthest first."""
        i, j = np.meshgrid(np.arange(shape[0]), np.arange(shape[1]), indexing="ij")
        near = math.cos(TURN) * i / shape[0] + math.sin(TURN) * j / shape[1]
        return np.stack([i.ravel(), j.ravel()], axis=-1)[np.argsort(near.ravel(), kind="stable")]


def _painted(corners: Array, height: Array, view: View) -> Pixels:
    """Return the surface (rows, columns, 3), painted from the far end to the near one."""
    image = Image.new("RGB", (FINE * SIZE[0], FINE * SIZE[1]), PAGE)
    pen = ImageDraw.Draw(image)
    floor = view.see(np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]))
    pen.polygon([(float(x), float(y)) for x, y in FINE * floor], fill=rgb("#eef0f3"))
    quads = np.stack(
        [corners[:-1, :-1], corners[1:, :-1], corners[1:, 1:], corners[:-1, 1:]], axis=2
    )
    level = 0.25 * (height[:-1, :-1] + height[1:, :-1] + height[1:, 1:] + height[:-1, 1:])
    slope = np.diff(height, axis=0)[:, :-1] * len(height)
    shade = 1.0 - 0.25 * np.clip(slope, -1.0, 1.0)[..., None] / (1.0 + abs(slope))[..., None]
    paint = np.clip(colours(level) * shade, 0, 255)
    for i, j in view.order(level.shape):
        if not np.isnan(level[i, j]):
            points = [(float(x), float(y)) for x, y in FINE * quads[i, j]]
            red, green, blue = (int(c) for c in paint[i, j])
            pen.polygon(points, fill=(red, green, blue))
    return np.asarray(image)


def _edges(picture: Drawing, view: View, field: Landscape) -> None:
    """Draw the box's edges that carry the numbers: w1 and w2 in front, the height aside."""
    ranges = _ends(field.w1), _ends(field.w2), (0.0, CUT)
    start = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    outward = np.array([[0.0, -0.05, 0.0], [0.05, 0.0, 0.0], [-0.03, -0.02, 0.0]])
    for k, (low, high) in enumerate(ranges):
        along = np.eye(3)[k]
        picture.line(view.see(np.array([start[k], start[k] + along])), SOFT)
        for value in ticks(low, high, 5)[int(k == 2) :]:  # two zeros would meet in the corner
            foot = start[k] + along * (value - low) / (high - low)
            picture.line(view.see(np.array([foot, foot + 0.3 * outward[k]])), SOFT)
            picture.text(view.see(foot + outward[k]) + DOWN, f"{value:g}", colour=SOFT)
        words = (*TITLES, HEIGHT)[k]
        place = view.see(start[k] + 0.5 * along + (3.2 if k == 2 else 4.4) * outward[k])
        picture.text(place + DOWN, words, turn=-90.0 if k == 2 else 0.0)


def _ends(values: Array) -> tuple[float, float]:
    return float(values[0]), float(values[-1])
