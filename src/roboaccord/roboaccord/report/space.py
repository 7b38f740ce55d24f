"""Scenes in three dimensions as static figures, seen from far away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.description.solids import Faces
from roboaccord.report.colours import RULE, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The eye of every scene: about z from x, and up [degrees], as matplotlib's `view_init` has them.
AZIMUTH, ELEVATION = -62.0, 20.0
_C, _S = math.cos(math.radians(AZIMUTH)), math.sin(math.radians(AZIMUTH))
_FLAT, _UP = math.cos(math.radians(ELEVATION)), math.sin(math.radians(ELEVATION))
# Rows: to the right, up, and towards the eye.
VIEW = np.array([(-_S, _C, 0.0), (-_C * _UP, -_S * _UP, _FLAT), (_C * _FLAT, _S * _FLAT, _UP)])
EYE = VIEW[2]
LIGHT = np.array([-0.45, 0.7, 0.56])  # towards the light, in the view
DARK = 0.55  # brightness without light
GRID = 30  # degrees between the lines on a ball


@dataclass(frozen=True, eq=False)
class Solid:
    """Hold a convex solid: vertices (v, 3), faces counterclockwise from outside, #rrggbb."""

    vertices: Array
    faces: Faces
    colour: str


def see(points: Array) -> Array:
    """Return points (..., 3) as the eye has them: to the right, up, and nearer (..., 3)."""
    return np.asarray(points @ VIEW.T)


def bare(axes: Axes) -> None:
    """Show a scene to scale, without frame or numbers."""
    axes.set_aspect("equal")
    axes.set_axis_off()


def line(axes: Axes, points: Array, colour: str, name: str = "", **look: Any) -> None:
    """Draw a line through points in space (m, 3)."""
    x, y, _ = see(points).T
    axes.plot(x, y, color=colour, label=name or None, **look)


def arrow(axes: Axes, start: Array, way: Array, colour: str, name: str = "") -> None:
    """Draw an arrow in space from a point (3,) along `way` (3,)."""
    pointer(axes, see(start)[:2], see(start + way)[:2], colour, name)


def pointer(axes: Axes, start: Array, end: Array, colour: str, name: str = "") -> None:
    """Draw an arrow in the plane of the drawing, from a point (2,) to another."""
    axes.plot(*np.column_stack([start, end]), color=colour, lw=1.8, label=name or None)
    look = {"arrowstyle": "-|>", "color": colour, "lw": 1.8, "shrinkA": 0, "shrinkB": 0,
            "mutation_scale": 13}  # fmt: skip
    axes.annotate("", tuple(end), tuple(start), arrowprops=look)


def draw_solids(axes: Axes, solids: Sequence[Solid]) -> None:
    """Draw the faces that are turned to the eye, the nearest last."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgb

    shown = []
    for solid in solids:
        seen = see(solid.vertices)
        for face in solid.faces:
            corners = seen[list(face)]
            normal = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
            if normal[2] > 0.0:
                lit = max(float(normal @ LIGHT / np.linalg.norm(normal)), 0.0)
                colour = np.array(to_rgb(solid.colour))
                shade = np.minimum((DARK + (1.0 - DARK) * lit) * colour, 1.0)
                shown.append((corners[:, 2].mean(), corners[:, :2], shade, DARK * colour))
    shown.sort(key=lambda entry: float(entry[0]))
    _, faces, shades, edges = zip(*shown, strict=True)
    axes.add_collection(PolyCollection(faces, facecolors=shades, edgecolors=edges, linewidths=0.5))
    axes.autoscale_view()


def draw_ball(axes: Axes, radius: float) -> None:
    """Draw a ball about the origin with meridians and parallels, those behind it pale."""
    from matplotlib.patches import Circle

    t = np.radians(np.arange(0.0, 361.0, 5.0))
    c, s, zero = np.cos(t), np.sin(t), np.zeros(len(t))
    turns = np.radians(np.arange(0.0, 180.0, GRID))
    tilts = np.radians(np.arange(-90.0 + GRID, 90.0, GRID))
    lines = [np.column_stack([c * math.cos(a), c * math.sin(a), s]) for a in turns]
    lines += [np.column_stack([c, s, zero + math.tan(a)]) * math.cos(a) for a in tilts]
    axes.add_patch(Circle((0.0, 0.0), radius, facecolor="#dfe6f3", edgecolor=SOFT, lw=0.8))
    for points in lines:
        x, y, near = radius * see(points).T
        for front, colour in ((False, RULE), (True, SOFT)):
            shown = (near >= 0.0) == front
            axes.plot(np.where(shown, x, np.nan), np.where(shown, y, np.nan), color=colour, lw=0.5)
