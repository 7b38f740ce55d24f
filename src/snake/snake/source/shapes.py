"""The picture of the post's eight configurations: its table, and the body's shape beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array

from snake.model.parameters import SnakeParameters
from snake.source.post import LOOP, SEGMENTS, START, segment_of

COLOURS = ("#d1495b", "#ee9b3a", "#12a594", "#5b8def")
INK, SOFT, RULE, PAGE = "#1d2430", "#5d6878", "#d5dae1", "#ffffff"
SCALE = 190.0  # pixels a metre
LEFT, FIRST, COLUMN, TOP, MARGIN = 16, 150, 62, 64, 17  # pixels; the table's places
SHAPE = FIRST + COLUMN * 4 + 40
WIDTH = 800
FONT = 15

Polygon = Callable[[Array, str], None]
Text = Callable[[float, float, str, str], None]


def angles_of(parameters: SnakeParameters, twists: tuple[int, ...]) -> Array:
    """Return the joint angles (n,) [rad] of a configuration; an empty cell is drawn straight."""
    by_joint = np.array(twists)[segment_of(parameters.joints)]
    return np.asarray(0.5 * parameters.joint_limit * by_joint)


def outlines(parameters: SnakeParameters, angles: Array) -> Array:
    """Return the corners of the links from the head to the tail (n + 1, 4, 2) [m].

    The body lies with its mean heading to the left, as one reads: the head first.
    """
    p = parameters
    heading = np.append(np.cumsum(angles[::-1])[::-1], 0.0)
    heading += np.pi - heading.mean()
    forward = np.column_stack([np.cos(heading), np.sin(heading)])
    steps = p.pivot_behind_front * forward[:-1] + p.pivot_ahead_of_rear * forward[1:]
    centres = np.vstack([np.zeros(2), -np.cumsum(steps, axis=0)])
    along = 0.5 * p.link_length * forward
    across = 0.5 * p.link_width * np.column_stack([-forward[:, 1], forward[:, 0]])
    corners = [centres + a * along + b * across for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))]
    return np.stack(corners, axis=1)


def draw(parameters: SnakeParameters, polygon: Polygon, text: Text) -> float:
    """Draw the table with the shapes, and return its height [pixels]."""
    text(LEFT, 38, "configuration", SOFT)
    for i, name in enumerate(SEGMENTS):
        text(FIRST + COLUMN * i, 38, name, COLOURS[i])
    text(SHAPE, 38, "shape, head on the left", SOFT)
    y = float(TOP)
    for number, twists in enumerate((*START, *LOOP), 1):
        y = draw_row(parameters, number, twists, y, polygon, text)
    return y


def draw_row(
    parameters: SnakeParameters,
    number: int,
    twists: tuple[int, ...],
    top: float,
    polygon: Polygon,
    text: Text,
) -> float:
    """Draw one configuration below `top`, and return where the next one starts [pixels]."""
    links = outlines(parameters, angles_of(parameters, twists)) * (SCALE, -SCALE)
    links -= links.reshape(-1, 2).min(axis=0)
    height = float(links[..., 1].max())
    links += (SHAPE, top + MARGIN)
    middle = top + MARGIN + 0.5 * height
    rule = np.array([[LEFT, top], [WIDTH - LEFT, top], [WIDTH - LEFT, top + 1], [LEFT, top + 1]])
    polygon(rule, RULE)
    part = "start" if number <= len(START) else "loop"
    text(LEFT, middle + 5, f"{number}  {part}", INK)
    for i, twist in enumerate(twists):
        text(FIRST + COLUMN * i, middle + 5, f"{twist:+d}" if twist else "", COLOURS[i])
    segment = np.append(segment_of(parameters.joints), 3)
    for corners, which in zip(links, segment, strict=True):
        polygon(corners, COLOURS[int(which)])
    front, centre = links[0, :2], links[0].mean(axis=0)
    tip = centre + 2.6 * (front.mean(axis=0) - centre)
    polygon(np.array([*front, tip]), INK)  # marks the head, and points forward
    return top + height + 2 * MARGIN


def svg(parameters: SnakeParameters) -> str:
    """Return the picture as SVG."""
    parts: list[str] = []

    def polygon(corners: Array, colour: str) -> None:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        parts.append(f'<polygon points="{points}" fill="{colour}"/>')

    def text(x: float, y: float, words: str, colour: str) -> None:
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}">{words}</text>')

    height = draw(parameters, polygon, text)
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}" font-family="sans-serif" font-size="{FONT}">'
    )
    page = f'<rect width="100%" height="100%" fill="{PAGE}"/>'
    return "\n".join([opening, page, *parts, "</svg>", ""])


def raster(parameters: SnakeParameters, zoom: int = 2) -> Image.Image:
    """Return the picture in pixels, `zoom` times as fine as the SVG's."""
    height = draw(parameters, lambda corners, colour: None, lambda *args: None)
    image = Image.new("RGB", (zoom * WIDTH, round(zoom * height)), PAGE)
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(zoom * FONT)

    def polygon(corners: Array, colour: str) -> None:
        pen.polygon(list(_pairs(zoom * corners)), fill=colour)

    def text(x: float, y: float, words: str, colour: str) -> None:
        pen.text((zoom * x, zoom * y), words, fill=colour, font=font, anchor="ls")

    draw(parameters, polygon, text)
    return image


def write_picture(parameters: SnakeParameters, path: Path) -> None:
    """Write the picture as the file's name ends, .svg or .png.

    Raises:
        AccordError: for another ending, or a file that cannot be written.
    """
    if path.suffix not in (".svg", ".png"):
        raise AccordError(f"{path.name} must end in .svg or .png")
    try:
        if path.suffix == ".svg":
            path.write_text(svg(parameters), encoding="utf-8")
        else:
            raster(parameters).save(path)
    except OSError as error:
        raise AccordError(f"cannot write {path}: {error.strerror or error}") from None


def _pairs(corners: Array) -> Iterator[tuple[float, float]]:
    for x, y in corners:
        yield float(x), float(y)
