"""Drawing that several studies share: scenes in space, contour lines, curves with their table.

A scene in space is drawn flat, as seen from the AZIMUTH and ELEVATION of `roboaccord.report`: `see`
returns the coordinates of points to the right, up and towards the eye, and faces are drawn with the
nearest last. The style and the file of figures are in `roboaccord.report`; a robot's own figures
are in its folder.

The `column` of a `Curve` is a heading of a CSV file. LIGHT, DARK and GRID_ANGLE are chosen by eye
and may be changed. test_studies_drawing checks where the eye is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from roboaccord import report
from roboaccord.contract import Array, Index
from roboaccord.description import Faces
from roboaccord.report import Still
from roboaccord.run import write_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _view(azimuth: float, elevation: float) -> Array:
    """Return the unit vectors to the right, up, and towards an eye (3, 3); angles in degrees."""
    c, s = math.cos(math.radians(azimuth)), math.sin(math.radians(azimuth))
    flat, up = math.cos(math.radians(elevation)), math.sin(math.radians(elevation))
    return np.array([(-s, c, 0.0), (-c * up, -s * up, flat), (c * flat, s * flat, up)])


VIEW = _view(report.AZIMUTH, report.ELEVATION)  # unit vectors to the right, up, and towards the eye
EYE = VIEW[2]  # unit vector towards the eye
# Direction to the light, in the axes of VIEW, from the upper left, by eye.
LIGHT = np.array([-0.45, 0.7, 0.56])
# Brightness of faces that are turned away from the light, by eye: edges are still seen.
DARK = 0.55
# Degrees; between the meridians, and between the parallels, of a drawn ball. Chosen by eye: enough
# of them to see that it is a ball.
GRID_ANGLE = 30


def contour(axes: Axes, x: Array, y: Array, values: Array, level: float, **style: Any) -> None:
    """Draw the line on which values pass a level, with an entry of the legend.

    Args:
        axes: of the figure.
        x, y: of the grid (n,), (m,).
        values: over the grid (n, m); NaN where there are none.
        level: of the line.
        **style: `label` for the legend, `color`, and other styles of lines.
    """
    from matplotlib.patheffects import withStroke

    label, colour = style.pop("label", None), style.pop("color", report.INK)
    if np.nanmin(values) < level < np.nanmax(values):
        z = np.asarray(values).T
        axes.contour(x, y, z, [level], colors=colour, linestyles="solid", **style)
    # An empty line, for the legend: contours have no entry of their own. White has a dark rim.
    rim = [withStroke(linewidth=2.5, foreground=report.SOFT)] if colour == report.PAGE else None
    axes.plot([], [], color=colour, label=label, path_effects=rim)


class DrawnSolid(NamedTuple):
    """A convex solid: vertices (v, 3), faces counter-clockwise from outside, colour #rrggbb."""

    vertices: Array
    faces: Faces | Index
    colour: str


def see(points: Array) -> Array:
    """Return points (..., 3) in the axes of VIEW: to the right, up, and towards the eye."""
    return np.asarray(points @ VIEW.T)


def line(axes: Axes, points: Array, colour: str, name: str = "", **look: Any) -> None:
    """Draw a line through points in space (m, 3)."""
    x, y, _ = see(points).T
    axes.plot(x, y, color=colour, label=name or None, **look)


def arrow(axes: Axes, start: Array, along: Array, colour: str, name: str = "") -> None:
    """Draw an arrow in space from a point (3,) in the direction of `along` (3,)."""
    report.pointer(axes, see(start)[:2], see(start + along)[:2], colour, name)


def draw_solids(axes: Axes, solids: Sequence[DrawnSolid]) -> None:
    """Draw the faces of solids that are turned to the eye, the nearest last.

    A face is the brighter, the more its normal points to the light.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgb

    visible_faces = []  # of each its depth, corners (k, 2), colour and edge colour
    for solid in solids:
        vertices = see(solid.vertices)
        for face in solid.faces:
            corners = vertices[list(face)]
            normal = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
            if normal[2] > 0.0:
                light = max(float(normal @ LIGHT / np.linalg.norm(normal)), 0.0)
                colour = np.array(to_rgb(solid.colour))
                shade = np.minimum((DARK + (1.0 - DARK) * light) * colour, 1.0)
                visible_faces.append((corners[:, 2].mean(), corners[:, :2], shade, DARK * colour))
    visible_faces.sort(key=lambda face: float(face[0]))
    _, faces, shades, edges = zip(*visible_faces, strict=True)
    axes.add_collection(PolyCollection(faces, facecolors=shades, edgecolors=edges, linewidths=0.5))
    axes.autoscale_view()


def draw_ball(axes: Axes, radius: float) -> None:
    """Draw a ball about the origin with meridians and parallels, pale on its far side."""
    from matplotlib.patches import Circle

    t = np.radians(np.arange(0.0, 361.0, 5.0))
    c, s, zero = np.cos(t), np.sin(t), np.zeros(len(t))
    longitudes = np.radians(np.arange(0.0, 180.0, GRID_ANGLE))
    latitudes = np.radians(np.arange(-90.0 + GRID_ANGLE, 90.0, GRID_ANGLE))
    lines = [np.column_stack([c * math.cos(a), c * math.sin(a), s]) for a in longitudes]
    lines += [np.column_stack([c, s, zero + math.tan(a)]) * math.cos(a) for a in latitudes]
    axes.add_patch(Circle((0.0, 0.0), radius, facecolor="#dfe6f3", edgecolor=report.SOFT, lw=0.8))
    for points in lines:
        x, y, depth = radius * see(points).T
        for is_front, colour in ((False, report.RULE), (True, report.SOFT)):
            drawn = (depth >= 0.0) == is_front
            # NaN interrupts the line where it is on the other side.
            axes.plot(*np.where(drawn, [x, y], np.nan), color=colour, lw=0.5)


class Curve(NamedTuple):
    """A curve: its names in the legend and in the table, its points, colour and line style."""

    label: str
    column: str
    x: Array
    y: Array
    colour: str
    line: str = "-"


def write_curves(
    still: Still, first: str, curves: Sequence[Curve], xlabel: str, ylabel: str, columns: int = 4
) -> Still:
    """Write a figure of curves as SVG and CSV.

    Args:
        still: the figure, with the path of its picture.
        first: heading of the table's first column, the first curve's abscissae.
        curves: in the table longer ones than the first are cut, shorter ones filled with NaN.
        xlabel, ylabel: of the axes.
        columns: of the legend.
    """
    table = {first: curves[0].x}
    with report.picture(still.path) as axes:
        for curve in curves:
            axes.plot(curve.x, curve.y, color=curve.colour, ls=curve.line, label=curve.label)
            missing = np.full(max(0, len(table[first]) - len(curve.y)), np.nan)
            table[curve.column] = np.concatenate([curve.y[: len(table[first])], missing])
        axes.set(xlabel=xlabel, ylabel=ylabel)
        report.legend(axes, columns)
    data = still.path.with_suffix(".csv")
    write_columns(data, table)
    return replace(still, data=data)
