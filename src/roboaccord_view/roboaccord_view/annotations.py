"""What pictures of a motion point out: joints that failed, a target, and time that is left out.

Colours, sizes and words may be changed, and where texts go (the tuple in `point_out`); pages take
their lines from `failure_lines`, too. STILL, SWAY, SPELL, REST and WORTH, what a film leaves out as
waiting, may be tuned; test_annotations.py tests motions on both sides. `--uncut` must show all.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from roboaccord.contract import FOUND, IDENTITY, REFUSED, Array, Event, Index, Trajectory, fault_of
from roboaccord.description import Scene

from roboaccord_view.ground import GROUND
from roboaccord_view.raster import Picture

Ink = tuple[int, int, int]
Mark = tuple[Array, str, Ink, bool]
"""Place (2,) [pixels], text, colour, and whether a ring is drawn around it."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom [pixels]."""

HALO: dict[str, Any] = {"stroke_width": 2, "stroke_fill": (240, 242, 245)}  # of letters
WARNING, GREEN = (190, 20, 20), (0, 120, 60)
INK, MUTED = (45, 52, 62), (110, 120, 132)
PALE = 0.2  # of the contrast that is left of what is behind lines
INSIDE = 2e-3  # m by which a joint may lie outside the shape that is taken for its casing
LITTLE = 0.15  # of a text's area
STILL, SWAY = 0.05, 0.2  # rad, or parts of the robot's size, up to which nothing moves, or sways
SPELL = 1.0  # s in which that is looked at
REST = 0.4  # s of film for which what stands is shown all the same, before and after
WORTH = 1.0  # s of motion that are worth leaving out


@dataclass(frozen=True)
class Failure:
    """A joint that failed.

    Args:
        joint, kind: what failed, and how.
        time: since when [s].
        link: index of the link that the joint moves, whose origin it is.
        shape: index of the shape that is its casing.
    """

    joint: str
    kind: str
    time: float
    link: int
    shape: int

    @property
    def name(self) -> str:
        """Joint and kind."""
        return f"{self.joint} {self.kind}"


def failures(scene: Scene, events: Sequence[Event]) -> list[Failure]:
    """Return the joints of a scene that fail by the events of a motion."""
    moved = {joint.name: joint.child for joint in scene.tree.moving}
    links = [link.name for link in scene.tree.links]
    return [
        Failure(f.joint, f.kind, f.time, links.index(moved[f.joint]), casing(scene, f.joint))
        for f in map(fault_of, events)
        if f and f.joint in moved
    ]


def casing(scene: Scene, joint: str) -> int:
    """Return the index of the shape around a joint: the smallest on its two links that holds it.

    Where none does it is the one that is nearest.
    """
    tree = scene.tree
    moving = next(each for each in tree.moving if each.name == joint)
    names = [link.name for link in tree.links]
    ends = names.index(moving.parent), names.index(moving.child)
    q = np.zeros(len(tree.moving))
    origins, turns = tree.forward(tuple(j.name for j in tree.moving), q, np.zeros(3), IDENTITY)

    def rank(index: int) -> tuple[bool, float, float]:
        shape = scene.shapes[index]
        point = (origins[ends[1]] - origins[shape.link]) @ turns[shape.link]
        if shape.link not in ends:
            return True, math.inf, math.inf
        away = max(_height(point, shape.vertices[list(face)]) for face in shape.faces)
        return False, max(away, INSIDE), float(np.prod(np.ptp(shape.vertices, 0)))

    return min(range(len(scene.shapes)), key=rank)


def _height(point: Array, ring: Array) -> float:
    """Return how far a place is above the plane of a polygon, counter-clockwise from above [m]."""
    normal = np.cross(ring, np.roll(ring, -1, axis=0)).sum(axis=0)
    return float((point - ring[0]) @ normal / max(float(np.linalg.norm(normal)), 1e-300))


def failure_lines(
    failed: Sequence[Failure], findings: Sequence[Event], moment: float
) -> Iterator[str]:
    """Yield a line for each joint that has failed by a time [s], or is taken for failed."""
    verdicts = {f.subject: f for f in findings if f.kind.startswith(FOUND) and f.time <= moment}
    for failure in failed:
        if failure.time <= moment:
            line = f"{failure.name} at {failure.time:.2f} s"
            named = verdicts.pop(failure.joint, None)
            if named and named.time >= failure.time:
                verdict = named.kind.removeprefix(FOUND)
                word = "found" if verdict == failure.kind else verdict
                line += f", {word} at {named.time:.2f} s"
            yield line
    for named in verdicts.values():
        verdict = named.kind.removeprefix(FOUND)
        yield f"{named.subject} healthy, but found {verdict} at {named.time:.2f} s"
    for named in findings:
        if named.kind == REFUSED and named.time <= moment:
            yield f"target refused at {named.time:.2f} s: {named.subject.replace('_', ' ')}"


def moves(motion: Trajectory, points: Array, step: float) -> NDArray[np.bool_]:
    """Return at which samples of a motion something moves (t,).

    That is a joint with an actuator that is sound, or the base, by more than `STILL` within a
    second, or any point by more than `SWAY`: what a loose joint swings less than that is waiting.

    Args:
        motion: at even steps.
        points: of the robot, at each sample (t, m, 3) [m].
        step: [s].
    """
    size, q = float(np.ptp(points[0], axis=0).max()), motion.q.copy()
    for fault in map(fault_of, motion.events):
        if fault and fault.kind == "loose" and fault.joint in motion.joints:
            column, since = motion.joints.index(fault.joint), motion.time >= fault.time
            q[since, column] = q[since, column][:1]
    places = [q, motion.position / max(size, STILL), 2.0 * motion.orientation]
    width = 2 * round(0.5 * SPELL / step) + 1
    driven = _ranges(np.column_stack(places), width) > STILL
    return np.asarray(driven.any(axis=1) | (_ranges(points, width) > SWAY * size).any(axis=(1, 2)))


def _ranges(values: Array, width: int) -> Array:
    """Return the range of values (t, ...) among so many samples around each."""
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    high = maximum_filter1d(values, width, axis=0)
    return np.asarray(high - minimum_filter1d(values, width, axis=0))


def shown(moving: NDArray[np.bool_], rest: int, least: int) -> Index:
    """Return the samples to be shown of a motion: all but long times in which nothing moves.

    Its end is shown in any case.

    Args:
        moving: at which samples something moves, or happens (t,).
        rest: samples that are shown all the same, before and after motion.
        least: number of samples that are worth leaving out.
    """
    from scipy.ndimage import binary_dilation, label

    if not moving.any():
        return np.arange(len(moving))
    keep = binary_dilation(moving | (np.arange(len(moving)) == len(moving) - 1), iterations=rest)
    gaps, _ = label(~keep)
    return np.flatnonzero(keep | (np.bincount(gaps)[gaps] < least))


def rgb(colour: Array) -> Ink:
    """Return a colour of 0..255 (3,) as whole numbers."""
    red, green, blue = np.rint(colour).astype(int).tolist()
    return red, green, blue


def letters(width: int) -> int:
    """Return the height of the letters in a picture of so many pixels [pixels]."""
    return max(10, width // 40)


@cache
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the font of all pictures, so many pixels high."""
    return ImageFont.load_default(size)


def point_out(
    picture: Picture, marks: Sequence[Mark], robot: NDArray[np.bool_] | None = None
) -> None:
    """Write beside places in a picture what they are, one clear of the other.

    Args:
        picture: is written on.
        marks: places, and what is written.
        robot: where in the picture the robot is (height, width), to be covered as little as can be.
    """
    if not marks:
        return
    height, width, _ = picture.shape
    size = letters(width)
    sheet = Image.fromarray(picture)
    pen = ImageDraw.Draw(sheet)
    clear = 0.7 * size
    taken = [(x - clear, y - clear, x + clear, y + clear) for (x, y), *_ in marks]
    for (x, y), text, ink, ring in marks:
        if ring:
            for radius in (0.15 * size, 0.5 * size):
                pen.ellipse((x - radius, y - radius, x + radius, y + radius), outline=ink, width=2)
        wide = pen.textlength(text, font=font(size))
        places = list[tuple[tuple[bool, int], Box]]()
        for across, down in ((1, -1), (1, 1), (-1, -1), (-1, 1), (1, -2.5), (1, 2.5), (-1, -2.5)):
            x_text = x + across * size if across > 0 else x - size - wide
            top = y + down * size - 0.5 * size
            box = (x_text - 2, top - 2, x_text + wide + 2, top + size + 2)
            inside = min(box[:2]) > 0 and box[2] < width and box[3] < height - 2 * size
            first, above, last, below = np.maximum(np.array(box), 0).astype(int)
            share = 0.0 if robot is None else robot[above:below, first:last].sum() / (wide * size)
            covered = int(share / LITTLE)  # a little does not make the text jump about
            bad = not inside or any(_meet(box, other) for other in taken)
            places.append(((bad, covered), box))
        box = min(places, key=lambda each: each[0])[1]
        x_text, top = box[0] + 2, box[1] + 2
        taken.append(box)
        pen.text((x_text, top), text, fill=ink, font=font(size), **HALO)
    picture[:] = np.asarray(sheet)


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def write_above(picture: Picture, lines: Sequence[tuple[str, Ink]]) -> None:
    """Write lines at the upper edge of a picture, each in its colour and in as many as it takes."""
    size = letters(picture.shape[1])
    wide = 2 * picture.shape[1] // size - 8
    rows = [(row, ink) for line, ink in lines for row in textwrap.wrap(line, wide)]
    if rows:
        _write(picture, size // 2, size // 2, rows)


def write_below(picture: Picture, line: str, right: Sequence[str]) -> None:
    """Write a line at the lower edge of a picture, and on the right the first that has room."""
    height, width, _ = picture.shape
    size = letters(width)
    top, free = height - 9 * size // 4, width - 4 * size - font(size).getlength(line)
    _write(picture, size // 2, top, [(line, INK)])
    for text in [text for text in right if font(size).getlength(text) < free][:1]:
        x = width - 3 * size // 2 - round(font(size).getlength(text))
        _write(picture, x, top, [(text, MUTED)])


def _write(picture: Picture, x: int, y: int, rows: Sequence[tuple[str, Ink]]) -> None:
    """Write lines on pale ground, whose upper left corner is given [pixels]."""
    size = letters(picture.shape[1])
    wide = size + round(max(font(size).getlength(text) for text, _ in rows))
    ground = picture[y : y + (5 * len(rows) + 2) * size // 4, max(x, 0) : max(x, 0) + wide]
    ground[:] = GROUND + (ground - GROUND) * PALE
    strip = Image.fromarray(np.ascontiguousarray(ground))
    pen = ImageDraw.Draw(strip)
    for k, (text, ink) in enumerate(rows):
        pen.text((size // 2, (5 * k + 5) * size // 4), text, ink, font(size), "ls")
    ground[:] = np.asarray(strip)


def length(value: float) -> str:
    """Return a length in a unit that fits it, to two digits."""
    # The font has no Greek letters for micrometres.
    units = ((1.0, "m", 1.0), (1e-6, "mm", 1e3), (0.0, "nm", 1e9))
    unit, scale = next((unit, scale) for least, unit, scale in units if value >= least)
    return f"{float(f'{value * scale:.2g}'):g} {unit}"
