"""Pictures as SVG, written by hand: no display, no browser, no library to draw with."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.report.colours import INK, PAGE, SOFT

FONT = 13
LETTER = 0.54 * FONT  # pixels, about, of a letter's width
PALETTE = 192  # colours of a smooth image: a third of the file, and no difference to be seen

Point = Sequence[float] | Array
Box = tuple[float, float, float, float]
Pixels = NDArray[np.uint8]


class Drawing:
    """Gather shapes, and write them.

    Args:
        size: width and height [pixels].
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self._parts: list[str] = []

    def text(
        self, at: Point, words: str, *, anchor: str = "middle", colour: str = INK,
        turn: float = 0.0, halo: bool = False,
    ) -> None:  # fmt: skip
        """Write words; `anchor` is start, middle or end, `turn` clockwise [degrees].

        With a `halo` they can be read on any ground.
        """
        x, y = at
        turned = f' transform="rotate({turn:g} {x:.1f} {y:.1f})"' if turn else ""
        rim = f' stroke="{PAGE}" stroke-width="3" paint-order="stroke"' if halo else ""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}"{turned}{rim}>'
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

    def polygon(self, points: Array, colour: str, edge: str, width: float = 0.6) -> None:
        """Fill a polygon (m, 2), and draw its edge."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(
            f'<polygon points="{path}" fill="{colour}" stroke="{edge}" stroke-width="{width:g}" '
            'stroke-linejoin="round"/>'
        )

    def strokes(self, pieces: Array, colour: str = SOFT, width: float = 1.0) -> None:
        """Draw many straight pieces (k, 2, 2) as one shape."""
        path = "".join(f"M{a:.1f},{b:.1f}L{c:.1f},{d:.1f}" for (a, b), (c, d) in pieces)
        self._parts.append(
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
            'stroke-linecap="round"/>'
        )

    def dots(
        self, points: Array, colour: str, radius: float = 3.0, edge: str = "none",
        *, opacity: float = 1.0,
    ) -> None:  # fmt: skip
        """Draw a dot at each of some points (m, 2)."""
        pale = f' fill-opacity="{opacity:g}"' if opacity < 1.0 else ""
        for x, y in points:
            self._parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}"{pale} '
                f'stroke="{edge}" stroke-width="1.2"/>'
            )

    def image(self, pixels: Pixels, box: Box, *, smooth: bool = False) -> None:
        """Fill a box with an image (rows, columns, 3), its first row on top.

        Args:
            smooth: whether pixels run into each other; else each is a cell with sharp edges.
        """
        image = Image.fromarray(pixels)
        if smooth:
            image = image.quantize(PALETTE, dither=Image.Dither.NONE)
        buffer = io.BytesIO()
        image.save(buffer, format="PNG", optimize=True)
        x, y, width, height = box
        self._parts.append(
            f'<image x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'preserveAspectRatio="none" style="image-rendering:{"auto" if smooth else "pixelated"}'
            f'" href="data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"/>'
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

    def write(self, path: Path) -> None:
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
