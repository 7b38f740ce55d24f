"""Pictures as SVG, written by hand: no display, no browser, no library to draw with."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from roboaccord.errors import AccordError
from roboaccord.state import Array

INK, SOFT, RULE, PAGE = "#1d2430", "#5d6878", "#d5dae1", "#ffffff"
BLUE, RED, GREEN = "#3366cc", "#d1495b", "#12a594"
EMPTY = "#e3e7ec"  # where there is no value
FONT = 13
# matplotlib's viridis (CC0): dark is low, and it stays readable without colour.
SCALE = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58",
    "#b5de2b", "#fde725",
)  # fmt: skip

Pixels = NDArray[np.uint8]


def rgb(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of #rrggbb, each 0 to 255."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return red, green, blue


def colours(values: Array) -> Array:
    """Return colours (..., 3), 0 to 255, of values from 0 to 1; those of `EMPTY` for NaN."""
    anchors = np.array([rgb(colour) for colour in SCALE], dtype=float)
    at = np.linspace(0.0, 1.0, len(anchors))
    known = np.clip(np.nan_to_num(values), 0.0, 1.0)
    mixed = np.stack([np.interp(known, at, channel) for channel in anchors.T], axis=-1)
    return np.asarray(np.where(np.isnan(values)[..., None], rgb(EMPTY), mixed))


def ticks(low: float, high: float, about: int = 6) -> Array:
    """Return round numbers from `low` to `high`, some `about` of them."""
    rough = (high - low) / about
    unit = 10.0 ** math.floor(math.log10(rough))
    step = min((m * unit for m in (1.0, 2.0, 5.0, 10.0)), key=lambda s: abs(s - rough))
    return np.asarray(step * np.arange(math.ceil(low / step - 1e-9), high / step + 1e-9))


class Picture:
    """Gather shapes, and write them as SVG.

    Args:
        width, height: [pixels].
    """

    def __init__(self, width: int, height: int) -> None:
        self._size = width, height
        self._parts: list[str] = []

    def text(
        self, x: float, y: float, words: str, *, anchor: str = "middle", colour: str = INK,
        turn: float = 0.0,
    ) -> None:  # fmt: skip
        """Write words; `anchor` is start, middle or end, `turn` clockwise [degrees]."""
        turned = f' transform="rotate({turn:g} {x:.1f} {y:.1f})"' if turn else ""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}"{turned}>'
            f"{escape(words)}</text>"
        )

    def line(self, points: Array, colour: str = INK, width: float = 1.0) -> None:
        """Draw a line through points (m, 2)."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
            'stroke-linejoin="round"/>'
        )

    def dots(self, points: Array, colour: str, radius: float = 3.0, edge: str = "none") -> None:
        """Draw a dot at each of some points (m, 2)."""
        for x, y in points:
            self._parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}" '
                f'stroke="{edge}" stroke-width="1.2"/>'
            )

    def image(self, pixels: Pixels, x: float, y: float, width: float, height: float) -> None:
        """Place an image (rows, columns, 3), its first row on top."""
        buffer = io.BytesIO()
        small = Image.fromarray(pixels).quantize(192, dither=Image.Dither.NONE)
        small.save(buffer, format="PNG", optimize=True)
        data = base64.b64encode(buffer.getvalue()).decode()
        self._parts.append(
            f'<image x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            'preserveAspectRatio="none" style="image-rendering:auto" '
            f'href="data:image/png;base64,{data}"/>'
        )

    def write(self, path: Path) -> None:
        """Write the picture.

        Raises:
            AccordError: for a file that cannot be written.
        """
        width, height = self._size
        opening = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" font-size="{FONT}">'
        )
        page = f'<rect width="100%" height="100%" fill="{PAGE}"/>'
        try:
            path.write_text("\n".join([opening, page, *self._parts, "</svg>", ""]), "utf-8")
        except OSError as error:
            raise AccordError(f"cannot write {path}: {error.strerror or error}") from None


class Axes:
    """Draw in a frame of a picture, in the units of the data.

    Args:
        picture: where.
        box: left, top, width and height of the frame [pixels].
        x, y: ranges.
        titles: of x and y, with units.
        log: whether y is logarithmic.
    """

    def __init__(
        self,
        picture: Picture,
        box: tuple[float, float, float, float],
        x: tuple[float, float],
        y: tuple[float, float],
        titles: tuple[str, str],
        *,
        log: bool = False,
    ) -> None:
        self.picture, self.box, self._x, self._log = picture, box, x, log
        self._y = (math.log10(y[0]), math.log10(y[1])) if log else y
        self._titles = titles

    def at(self, points: Array) -> Array:
        """Return the pixels of points (m, 2)."""
        left, top, width, height = self.box
        x, y = np.asarray(points, dtype=float).T
        y = np.log10(y) if self._log else y
        right = (x - self._x[0]) / (self._x[1] - self._x[0])
        up = (y - self._y[0]) / (self._y[1] - self._y[0])
        return np.column_stack([left + width * right, top + height * (1.0 - up)])

    def frame(self) -> None:
        """Draw the frame with its ticks, and the titles; last, over what it holds."""
        left, top, width, height = self.box
        right, bottom = left + width, top + height
        corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        self.picture.line(np.array(corners), SOFT)
        for value in ticks(*self._x):
            x = left + width * (value - self._x[0]) / (self._x[1] - self._x[0])
            self.picture.line(np.array([(x, bottom), (x, bottom + 5)]), SOFT)
            self.picture.text(x, bottom + 19, f"{value:g}", colour=SOFT)
        for value, words in self._rows():
            y = bottom - height * (value - self._y[0]) / (self._y[1] - self._y[0])
            self.picture.line(np.array([(left - 5, y), (left, y)]), SOFT)
            self.picture.text(left - 8, y + 4, words, anchor="end", colour=SOFT)
        self.picture.text(left + 0.5 * width, bottom + 40, self._titles[0])
        self.picture.text(left - 48, top + 0.5 * height, self._titles[1], turn=-90.0)

    def _rows(self) -> Sequence[tuple[float, str]]:
        if self._log:
            decades = range(math.ceil(self._y[0] - 1e-9), math.floor(self._y[1] + 1e-9) + 1)
            return [(float(k), f"1e{k}" if abs(k) > 2 else f"{10.0**k:g}") for k in decades]
        return [(float(value), f"{value:g}") for value in ticks(*self._y)]
