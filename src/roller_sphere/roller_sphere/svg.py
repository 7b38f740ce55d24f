"""Charts, maps and scenes as SVG files, written by hand: nothing to draw with is needed."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from pathlib import Path as File
from xml.sax.saxutils import escape

import numpy as np
from PIL import Image
from roboaccord.errors import AccordError
from roboaccord.state import Array

INK, SOFT, RULE, PAGE, EMPTY = "#1d2430", "#5d6878", "#d5dae1", "#ffffff", "#e3e7ec"
FONT = 13
LETTER = 0.54 * FONT  # pixels, about, of a letter's width
# matplotlib's viridis (CC0): dark is low, and it stays readable without colour.
SCALE = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58",
    "#b5de2b", "#fde725",
)  # fmt: skip


class Drawing:
    """Gather shapes, and write them.

    Args:
        size: width and height [pixels].
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self._parts: list[str] = []

    def text(
        self, at: Sequence[float] | Array, words: str, *, anchor: str = "middle", colour: str = INK,
        turn: float = 0.0,
    ) -> None:  # fmt: skip
        """Write words; `anchor` is start, middle or end, `turn` clockwise [degrees]."""
        x, y = at
        turned = f' transform="rotate({turn:g} {x:.1f} {y:.1f})"' if turn else ""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}"{turned}>'
            f"{escape(words)}</text>"
        )

    def line(
        self, points: Array, colour: str = SOFT, width: float = 1.0, *, dashed: bool = False
    ) -> None:
        """Draw a line through points (m, 2)."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = ' stroke-dasharray="7 4"' if dashed else ""
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
            f'stroke-linejoin="round"{dash}/>'
        )

    def dot(
        self, at: Sequence[float] | Array, colour: str, radius: float, opacity: float = 1.0
    ) -> None:
        """Draw a filled circle."""
        self._parts.append(
            f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius:.1f}" fill="{colour}" '
            f'fill-opacity="{opacity:g}"/>'
        )

    def cells(self, shades: Array, box: tuple[float, float, float, float]) -> None:
        """Fill a box with cells of shades 0 to 1 (rows, columns), its first row on top."""
        anchors = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (*SCALE, EMPTY)])
        known = np.clip(np.nan_to_num(shades), 0.0, 1.0)
        steps = np.linspace(0.0, 1.0, len(SCALE))
        mixed = np.stack([np.interp(known, steps, c) for c in anchors[:-1].T], axis=-1)
        pixels = np.where(np.isnan(shades)[..., None], anchors[-1], mixed).round().astype(np.uint8)
        buffer = io.BytesIO()
        Image.fromarray(pixels).save(buffer, format="PNG", optimize=True)
        x, y, width, height = box
        self._parts.append(
            f'<image x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            'preserveAspectRatio="none" style="image-rendering:pixelated" '
            f'href="data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"/>'
        )

    def legend(self, entries: Sequence[tuple[str, str, bool]], left: float, top: float) -> None:
        """Explain colours on one row or more: name, colour, whether dashed."""
        x, y = left, top
        for name, colour, dashed in entries:
            if x + 34.0 + LETTER * len(name) > self.size[0]:
                x, y = left, y + 20.0
            self.line(np.array([(x, y - 4.0), (x + 22.0, y - 4.0)]), colour, 2.0, dashed=dashed)
            self.text((x + 28.0, y), name, anchor="start", colour=SOFT)
            x += 46.0 + LETTER * len(name)

    def write(self, path: File) -> None:
        """Write the drawing.

        Raises:
            AccordError: for a file that cannot be written.
        """
        width, height = self.size
        opening = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" font-size="{FONT}">'
        )
        page = f'<rect width="100%" height="100%" fill="{PAGE}"/>'
        try:
            path.write_text("\n".join([opening, page, *self._parts, "</svg>", ""]), "utf-8")
        except OSError as error:
            raise AccordError(f"cannot write {path}: {error.strerror or error}") from None


class Frame:
    """Draw in a box of a drawing, in the units of the data.

    Args:
        drawing: where.
        box: left, top, width and height [pixels].
        x, y: ranges.
        titles: of x and y, with units.
        quarters: whether x has its ticks every 45 degrees.
    """

    def __init__(
        self, drawing: Drawing, box: tuple[float, float, float, float],
        x: tuple[float, float], y: tuple[float, float], titles: tuple[str, str],
        *, quarters: bool = False,
    ) -> None:  # fmt: skip
        self._drawing, self._box, self._x, self._y, self._titles = drawing, box, x, y, titles
        self._columns = np.arange(x[0], x[1] + 1.0, 45.0) if quarters else ticks(*x)

    def at(self, points: Array) -> Array:
        """Return the pixels of points (m, 2)."""
        left, top, width, height = self._box
        x, y = np.asarray(points, dtype=float).T
        right = (x - self._x[0]) / (self._x[1] - self._x[0])
        up = (y - self._y[0]) / (self._y[1] - self._y[0])
        return np.column_stack([left + width * right, top + height * (1.0 - up)])

    def rule(self) -> None:
        """Draw the lines of the grid; first, under what the frame holds."""
        left, top, width, height = self._box
        for x, _ in self.at(np.column_stack([self._columns, 0.0 * self._columns])):
            self._drawing.line(np.array([(x, top), (x, top + height)]), RULE)
        rows = ticks(*self._y)
        for _, y in self.at(np.column_stack([0.0 * rows, rows])):
            self._drawing.line(np.array([(left, y), (left + width, y)]), RULE)

    def close(self) -> None:
        """Draw the frame with the numbers and titles; last."""
        left, top, width, height = self._box
        right, bottom = left + width, top + height
        corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        self._drawing.line(np.array(corners))
        for value in self._columns:
            ((x, _),) = self.at(np.array([(value, 0.0)]))
            self._drawing.text((x, bottom + 19.0), f"{value:g}", colour=SOFT)
        for value in ticks(*self._y):
            ((_, y),) = self.at(np.array([(0.0, value)]))
            self._drawing.text((left - 8.0, y + 4.0), f"{value:g}", anchor="end", colour=SOFT)
        self._drawing.text((left + 0.5 * width, bottom + 40.0), self._titles[0])
        self._drawing.text((left - 48.0, top + 0.5 * height), self._titles[1], turn=-90.0)


def ticks(low: float, high: float, about: int = 6) -> Array:
    """Return round numbers from `low` to `high`, some `about` of them."""
    rough = (high - low) / about
    unit = 10.0 ** math.floor(math.log10(rough))
    step = min((m * unit for m in (1.0, 2.0, 5.0, 10.0)), key=lambda s: abs(s - rough))
    count = np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return np.asarray(np.round(step * count, 12) + 0.0)
