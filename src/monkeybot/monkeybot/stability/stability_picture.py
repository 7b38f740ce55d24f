"""Pictures of maps of stability: the radius as colours, its border of 1, and another line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.report.axes import Axes, colour_bar
from roboaccord.report.colours import BLUE, INK, PAGE, RED, SOFT, colours
from roboaccord.report.contours import contour
from roboaccord.report.svg import Drawing

from monkeybot.gaits.level import Level
from monkeybot.stability.design import DesignMap, Robot
from monkeybot.stability.maps import BAR, BOX, MARK, SIZE
from monkeybot.stability.stability_map import StabilityMap

CUT = 2.0  # of the radius
TITLES = ("period [s]", "torque [N m]")
SHAPE_TITLES = ("hand to centre of gravity, c [lengths]", "inertia, k [m L^2]")
CUTS = {
    "radius": (CUT, "smallest spectral radius"),
    "width": (0.06, "range of stable periods over their middle"),
}
ROOM = 26  # pixels on top, for the words


class RadiusMap:
    """Draw a radius over a grid, with a word on each line that is added.

    Args:
        x, y: of the grid (n,), (m,).
        radius: (n, m); NaN is left grey.
        titles: of x and y.
        cut: radius above which all colours are the same.
        name: of the colours.
    """

    def __init__(
        self, x: Array, y: Array, radius: Array, titles: tuple[str, str],
        *, cut: float = CUT, name: str = "spectral radius",
    ) -> None:  # fmt: skip
        self._picture = Drawing((SIZE[0], SIZE[1] + ROOM))
        left, top, width, height = BOX
        box = left, top + ROOM, width, height
        self._axes = Axes(self._picture, box, _ends(x), _ends(y), titles)
        pixels = colours(np.minimum(radius, cut).T[::-1] / cut).round().astype(np.uint8)
        # Each value fills its cell: smoothed, the border to where there is none would lie.
        self._picture.image(pixels, box)
        bar = BAR[0], BAR[1] + ROOM, BAR[2], BAR[3]
        colour_bar(self._picture, bar, (0.0, cut), name, more=True)
        self._next = left

    def line(self, pieces: Array, colour: str, words: str, width: float = 2.0) -> None:
        """Draw a line, in pieces (k, 2, 2)."""
        for piece in pieces:
            self._picture.line(self._axes.at(piece), colour, width)
        self._say(colour, words)

    def dot(self, place: tuple[float, float], colour: str, words: str) -> None:
        """Mark a place."""
        self._picture.dots(self._axes.at(np.array([place])), colour, 5.0, INK)
        self._say(colour, words)

    def write(self, path: Path) -> None:
        """Write the picture as SVG."""
        self._axes.frame()
        self._picture.write(path)

    def _say(self, colour: str, words: str) -> None:
        self._picture.dots(np.array([(self._next + 6.0, 24.0)]), colour, 5.0, SOFT)
        self._picture.text((self._next + 16.0, 28.0), words, anchor="start", colour=SOFT)
        self._next += 34.0 + 7.2 * len(words)


def write_stability(field: StabilityMap, level: Level, path: Path) -> None:
    """Write the map of a robot's clocked gaits as SVG, with its horizontal gaits."""
    picture = RadiusMap(field.period, field.torque, field.radius, TITLES)
    picture.line(field.border, PAGE, "border of stability")
    picture.line(field.horizontal, RED, "horizontal")
    stable = [(step.period, step.torque) for step in level.steps if step.radius < 1.0]
    picture.line(np.array([stable]), MARK, "and stable", 4.0)
    picture.dot((level.best.period, level.best.torque), RED, f"the best, {level.best.radius:.4f}")
    picture.write(path)


def write_design(field: DesignMap, margin: str, robot: Robot, better: Robot, path: Path) -> None:
    """Write the map of a margin over the shape of the links as SVG, with two robots on it."""
    arrays = field.arrays
    x, y = field.centre, field.inertia
    cut, name = CUTS[margin]
    picture = RadiusMap(x, y, arrays[margin], SHAPE_TITLES, cut=cut, name=name)
    picture.line(contour(x, y, arrays["radius"], 1.0), PAGE, "border of stability")
    picture.dot((robot.shape.centre, robot.shape.inertia), BLUE, "this robot")
    picture.dot((better.shape.centre, better.shape.inertia), RED, "the best by this")
    picture.write(path)


def _ends(values: Array) -> tuple[float, float]:
    """Return the range that the cells of a grid fill."""
    half = 0.5 * (values[1] - values[0])
    return float(values[0] - half), float(values[-1] + half)
