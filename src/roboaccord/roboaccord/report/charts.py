"""What a figure shows, before it is drawn: curves, a map, or a scene in three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.description.solids import Faces


@dataclass(frozen=True, eq=False)
class Curve:
    """Hold a curve over x (m,); a NaN of y breaks it."""

    name: str
    x: Array
    y: Array
    colour: str
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class Chart:
    """Hold curves in common axes.

    Args:
        name: of its file, without ending.
        title, caption: over it on the page.
        axes: titles of x and y, with units.
        curves: what it shows.
        turn: whether x is an angle over a whole turn [degrees].
    """

    name: str
    title: str
    caption: str
    axes: tuple[str, str]
    curves: Sequence[Curve]
    turn: bool = True


@dataclass(frozen=True, eq=False)
class Map:
    """Hold values over a grid as colours.

    Args:
        name, title, caption, axes: as of a `Chart`.
        x, y: of the grid (n,), (m,).
        values: (m, n), NaN where there is none.
        cut: value from which on the colour is the same.
        unit: what the colours stand for.
    """

    name: str
    title: str
    caption: str
    axes: tuple[str, str]
    x: Array
    y: Array
    values: Array
    cut: float
    unit: str


@dataclass(frozen=True, eq=False)
class Path:
    """Hold a line through points in space (m, 3); `name` is shown once in the legend."""

    points: Array
    colour: str
    name: str = ""
    width: float = 2.0
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class Mark:
    """Hold a dot in space (3,) with a word beside it."""

    point: Array
    colour: str
    word: str = ""


@dataclass(frozen=True, eq=False)
class Solid:
    """Hold a convex solid in space: vertices (v, 3), faces counterclockwise from outside."""

    vertices: Array
    faces: Faces
    colour: str


@dataclass(frozen=True, eq=False)
class Scene:
    """Hold lines, dots and solids in space, and perhaps a ball about the origin.

    Args:
        name, title, caption: as of a `Chart`.
        paths, marks, solids: what it shows; lines are drawn over solids.
        ball: radius of the ball [m], 0 for none.
        axes: titles of the three axes; empty for none.
        stretch: factors by which the axes are drawn.
    """

    name: str
    title: str
    caption: str
    paths: Sequence[Path] = ()
    marks: Sequence[Mark] = ()
    solids: Sequence[Solid] = ()
    ball: float = 0.0
    axes: Sequence[str] = ()
    stretch: Array = field(default_factory=lambda: np.ones(3))
