"""Axes of a picture: a frame with numbers, in the units of the data, and a scale of colours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.report.colours import RULE, SOFT, colours
from roboaccord.report.svg import Box, Drawing

Value = TypeVar("Value", float, Array)
SHADES = 128  # of a scale of colours


class Axes:
    """Draw in a frame of a drawing, in the units of the data.

    Args:
        drawing: where.
        box: left, top, width and height of the frame [pixels].
        x, y: ranges.
        titles: of x and y, with units.
        log: whether y is logarithmic.
        columns: numbers on x; round ones by default.
    """

    def __init__(
        self, drawing: Drawing, box: Box, x: tuple[float, float], y: tuple[float, float],
        titles: tuple[str, str], *, log: bool = False, columns: Iterable[float] | None = None,
    ) -> None:  # fmt: skip
        self.drawing, self.box, self._x, self._log, self._titles = drawing, box, x, log, titles
        self._y = (math.log10(y[0]), math.log10(y[1])) if log else y
        self._columns = list(ticks(*x) if columns is None else columns)

    def at(self, points: Array) -> Array:
        """Return the pixels of points (m, 2)."""
        x, y = np.asarray(points, dtype=float).T
        return np.column_stack([self._across(x), self._down(np.log10(y) if self._log else y)])

    def rule(self) -> None:
        """Draw the lines of the grid; first, under what the frame holds."""
        left, top, width, height = self.box
        for value in self._columns:
            x = self._across(value)
            self.drawing.line(np.array([(x, top), (x, top + height)]), RULE)
        for value, _ in self._rows():
            y = self._down(value)
            self.drawing.line(np.array([(left, y), (left + width, y)]), RULE)

    def frame(self) -> None:
        """Draw the frame with its ticks, and the titles; last, over what it holds."""
        left, top, width, height = self.box
        bottom = top + height
        self.drawing.line(_edges(self.box), SOFT)
        for value in self._columns:
            x = self._across(value)
            self.drawing.line(np.array([(x, bottom), (x, bottom + 5)]), SOFT)
            self.drawing.text((x, bottom + 19), f"{value:g}", colour=SOFT)
        for value, words in self._rows():
            y = self._down(value)
            self.drawing.line(np.array([(left - 5, y), (left, y)]), SOFT)
            self.drawing.text((left - 8, y + 4), words, anchor="end", colour=SOFT)
        self.drawing.text((left + 0.5 * width, bottom + 40), self._titles[0])
        self.drawing.text((left - 48, top + 0.5 * height), self._titles[1], turn=-90.0)

    def _across(self, x: Value) -> Value:
        left, _, width, _ = self.box
        return left + width * ((x - self._x[0]) / (self._x[1] - self._x[0]))

    def _down(self, y: Value) -> Value:
        _, top, _, height = self.box
        return top + height * (1.0 - (y - self._y[0]) / (self._y[1] - self._y[0]))

    def _rows(self) -> Sequence[tuple[float, str]]:
        if self._log:
            decades = range(math.ceil(self._y[0] - 1e-9), math.floor(self._y[1] + 1e-9) + 1)
            return [(float(k), f"1e{k}" if abs(k) > 2 else f"{10.0**k:g}") for k in decades]
        return [(float(value), f"{value:g}") for value in ticks(*self._y)]


def colour_bar(
    drawing: Drawing, box: Box, span: tuple[float, float], title: str, *, more: bool = False
) -> None:
    """Draw the scale of colours over a range; `more` says that the last colour has values above."""
    left, top, width, height = box
    column = colours(np.linspace(1.0, 0.0, SHADES))[:, None].repeat(4, axis=1)
    drawing.image(column.round().astype(np.uint8), box, smooth=True)
    low, high = span
    for value in ticks(low, high, 5):
        y = top + height * (high - value) / (high - low)
        words = f"{value:g}+" if more and value >= high - 1e-9 else f"{value:g}"
        drawing.line(np.array([(left + width, y), (left + width + 4, y)]), SOFT)
        drawing.text((left + width + 8, y + 4), words, anchor="start", colour=SOFT)
    drawing.text((left + width + 48, top + 0.5 * height), title, turn=90.0)
    drawing.line(_edges(box), RULE)


def ticks(low: float, high: float, about: int = 6) -> Array:
    """Return round numbers from `low` to `high`, some `about` of them."""
    rough = (high - low) / about
    unit = 10.0 ** math.floor(math.log10(rough))
    step = min((m * unit for m in (1.0, 2.0, 5.0, 10.0)), key=lambda s: abs(s - rough))
    count = np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return np.asarray(step * count + 0.0)


def _edges(box: Box) -> Array:
    """Return the outline of a box (5, 2)."""
    left, top, width, height = box
    right, bottom = left + width, top + height
    return np.array([(left, top), (right, top), (right, bottom), (left, bottom), (left, top)])
