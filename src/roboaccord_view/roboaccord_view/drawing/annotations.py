"""Writes texts into pictures of a motion: beside points of the robot, and at both edges.

`point_out` writes names of points beside them, where they cover no other text and little of the
robot. `write_above` and `write_below` write lines on a pale band at the upper or lower edge. All
distances are multiples of the height of letters, which grows with the picture.

Colours, sizes and the order of PLACES may be changed; test_annotations reads the texts of pictures.
"""

import textwrap
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from roboaccord.contract import Array

from roboaccord_view.drawing.ground import GROUND_COLOUR
from roboaccord_view.drawing.raster import Picture

# Red, green and blue, 0 to 255.
Ink = tuple[int, int, int]


class Mark(NamedTuple):
    """A point of a picture with a text.

    Args:
        point: where it is (2,) [pixels].
        text: beside it.
        ink: colour of text and ring.
        ring: whether a ring is drawn around the point.
    """

    point: Array
    text: str
    ink: Ink
    ring: bool


# Left, top, right and bottom [pixels].
Box = tuple[float, float, float, float]

# Around letters; wider than a line of the grid (ground.LINE_WIDTH).
HALO: dict[str, Any] = {"stroke_width": 2, "stroke_fill": (240, 242, 245)}
# Red and green, with contrasts to the ground of 5.4 and 4.7; WCAG 2.1 asks for 4.5.
WARNING, GREEN = (190, 20, 20), (0, 120, 60)
# Dark and lighter grey, for what matters more and less, with contrasts of 10 and 3.7 (large text:
# 3).
INK, MUTED = (45, 52, 62), (110, 120, 132)
# Fraction of the picture's contrast to the ground that remains behind lines: letters stay legible,
# and the picture can be guessed: by eye.
BAND_CONTRAST = 0.2
# Fraction of a text's area: covering the robot by less, a letter or two, does not make a text move
# to another place.
SMALL_COVER = 0.15
SMALLEST_LENGTH = 1e-6  # m; below it words take the place of a figure, for nobody could see it
# Places of a text beside its point, the preferred ones first: 1 right or -1 left of the point, and
# how far below it in heights of letters. 2.5 heights are the next line beyond a text that is beside
# the point already.
PLACES = ((1, -1), (1, 1), (-1, -1), (-1, 1), (1, -2.5), (1, 2.5), (-1, -2.5))


def rgb(colour: Array) -> Ink:
    """Return a colour (3,) of 0 to 255 as whole numbers."""
    red, green, blue = np.rint(colour).astype(int).tolist()
    return red, green, blue


def letters(width: int) -> int:
    """Return the height of letters in a picture of a width, both in pixels."""
    return max(10, width // 40)


@cache
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the font of all pictures, with letters of a height [pixels]."""
    return ImageFont.load_default(size)


def point_out(
    picture: Picture, marks: Sequence[Mark], robot: NDArray[np.bool_] | None = None
) -> None:
    """Write the texts of points beside them in a picture, none over another.

    Args:
        picture: is changed.
        marks: points and texts.
        robot: pixels of the robot (height, width), which texts cover as little as possible.
    """
    if not marks:
        return
    size = letters(picture.shape[1])
    sheet = Image.fromarray(picture)
    pen = ImageDraw.Draw(sheet)
    margin = 0.7 * size
    # A text must not cover any point, nor a text before it.
    occupied = [(x - margin, y - margin, x + margin, y + margin) for (x, y), _, _, _ in marks]
    for (x, y), text, ink, ring in marks:
        if ring:  # and a dot in its middle
            for radius in (0.15 * size, 0.5 * size):
                pen.ellipse((x - radius, y - radius, x + radius, y + radius), outline=ink, width=2)
        length = pen.textlength(text, font=font(size))
        boxes = [_text_box(x, y, side, down, size, length) for side, down in PLACES]
        box = min(boxes, key=lambda box: _cost(box, occupied, robot, picture, length * size))
        occupied.append(box)
        pen.text((box[0] + 2, box[1] + 2), text, fill=ink, font=font(size), **HALO)
    picture[:] = np.asarray(sheet)


def _text_box(x: float, y: float, side: int, down: float, size: int, length: float) -> Box:
    """Return the box of a text beside a point (x, y) [pixels].

    Args:
        x, y: the point.
        side: 1 for the right of it, -1 for the left.
        down: distance below the point, in heights of letters.
        size: height of letters [pixels].
        length: width of the text [pixels].
    """
    # With a margin of 2 pixels, the width of HALO.
    x_text = x + side * size if side > 0 else x - size - length
    top = y + down * size - 0.5 * size
    return x_text - 2, top - 2, x_text + length + 2, top + size + 2


def _cost(
    box: Box, others: Sequence[Box], robot: NDArray[np.bool_] | None, picture: Picture, area: float
) -> tuple[bool, int]:
    """Return the sort key of a box for a text: smaller is better.

    A box that is free and inside the picture comes before all others; among these, the one that
    covers less of the robot, in steps of SMALL_COVER of the text's area.

    Args:
        box: of the text.
        others: boxes that it must not overlap.
        robot: pixels of the robot (height, width); None if it may be covered.
        picture: in which the text is written.
        area: of the text [pixels^2].
    """
    height, width, _ = picture.shape
    is_inside = min(box[:2]) > 0 and box[2] < width and box[3] < height - 2 * letters(width)
    left, top, right, bottom = np.maximum(np.array(box), 0).astype(int)
    share = 0.0 if robot is None else robot[top:bottom, left:right].sum() / area
    is_taken = not is_inside or any(_overlap(box, other) for other in others)
    return is_taken, int(share / SMALL_COVER)


def _overlap(a: Box, b: Box) -> bool:
    """Return whether two boxes overlap."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def write_above(picture: Picture, lines: Sequence[tuple[str, Ink]]) -> None:
    """Write lines at the upper edge of a picture, each in its colour, and wrapped."""
    size = letters(picture.shape[1])
    columns = 2 * picture.shape[1] // size - 8  # letters are half as wide as high
    rows = list[tuple[str, Ink]]()  # lines wrapped at the width of the picture
    for line, ink in lines:
        rows += [(row, ink) for row in textwrap.wrap(line, columns)]
    if rows:
        _write(picture, size // 2, size // 2, rows)


def write_below(picture: Picture, line: str, right: Sequence[str]) -> None:
    """Write a line at the lower edge of a picture, and right of it the first text that fits."""
    height, width, _ = picture.shape
    size = letters(width)
    # A band is 7/4 of the letters high, see `_write`, and half a height remains below it.
    top, free = height - 9 * size // 4, width - 4 * size - font(size).getlength(line)
    _write(picture, size // 2, top, [(line, INK)])
    fitting = next((text for text in right if font(size).getlength(text) < free), None)
    if fitting is not None:
        x = width - 3 * size // 2 - round(font(size).getlength(fitting))
        _write(picture, x, top, [(fitting, MUTED)])


def _write(picture: Picture, x: int, y: int, rows: Sequence[tuple[str, Ink]]) -> None:
    """Write lines on a pale band with its upper left corner at (x, y) [pixels].

    A line takes 5/4 of the height of letters, and 2/4 are added for the band's margins.
    """
    size = letters(picture.shape[1])
    width = size + round(max(font(size).getlength(text) for text, _ in rows))
    band = picture[y : y + (5 * len(rows) + 2) * size // 4, max(x, 0) : max(x, 0) + width]
    # Bring the picture behind the lines closer to the colour of the ground.
    band[:] = GROUND_COLOUR + (band - GROUND_COLOUR) * BAND_CONTRAST
    strip = Image.fromarray(np.ascontiguousarray(band))
    pen = ImageDraw.Draw(strip)
    for k, (text, ink) in enumerate(rows):
        pen.text((size // 2, (5 * k + 5) * size // 4), text, ink, font(size), "ls")
    band[:] = np.asarray(strip)


def length_text(value: float, largest: float) -> str:
    """Return a length in the unit of a picture, or words where it is too small for figures.

    Args:
        value: the length [m].
        largest: largest length of all pictures, which decides the unit [m].
    """
    # No sign for micro, for the font has no Greek letters.
    unit, scale = ("mm", 1e3) if largest >= 1e-3 else ("um", 1e6)
    if value < SMALLEST_LENGTH:
        return "less than 1 um"
    figure = value * scale
    text = f"{figure:.0f}" if figure >= 10.0 else f"{round(float(f'{figure:.2g}'), 3):g}"
    return f"{text} {unit}"
