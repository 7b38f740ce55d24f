"""Scenes in three dimensions drawn as SVG, seen from far away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path as File

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.report.charts import Path, Scene, Solid
from roboaccord.report.colours import INK, PAGE, RULE, SOFT
from roboaccord.report.svg import Drawing

SIZE, ROOM = (720, 560), 46.0  # pixels, and how many on top are for the legend
# The eye of every scene: about z from x, and up [rad].
TURN, TILT = math.radians(-62.0), math.radians(20.0)
EYE = np.array([math.cos(TURN) * math.cos(TILT), math.sin(TURN) * math.cos(TILT), math.sin(TILT)])
# Towards the light, in pixels to the right and down and towards the eye; brightness without light.
LIGHT = np.array([-0.45, -0.7, 0.56])
DARK, EDGE = 0.55, -1.0
GRID = 30  # degrees between the lines on a ball


def draw_scene(figure: Scene, path: File) -> None:
    """Write lines and dots in space as SVG."""
    drawing, view = Drawing(SIZE), View(figure)
    grid = [view.see(line) for line in ball_lines(figure.ball)] if figure.ball else []
    for front in (False, True):
        for line in grid:
            for piece in _pieces(line, front):
                drawing.line(piece, SOFT if front else RULE, 0.7)
        if grid and not front:
            middle = view.see(np.zeros((1, 3)))[:, :2]
            drawing.dots(middle, "#9db4d8", view.scale * figure.ball, opacity=0.35)
            drawing.line(view.rim(figure.ball), SOFT)
    draw_solids(drawing, view, figure.solids)
    for axis in coordinate_axes(figure):
        drawing.line(view.see(axis.points)[:, :2], SOFT)
        x, y = view.see(axis.points[-1])[:2]
        drawing.text((x + 8.0, y + 4.0), axis.name, anchor="start", colour=SOFT)
    for path_ in figure.paths:
        points = view.see(path_.points)[:, :2]
        drawing.line(points, path_.colour, path_.width, dashed=path_.dashed)
    for mark in figure.marks:
        x, y = view.see(mark.point)[:2]
        drawing.dots(np.array([(x, y)]), mark.colour, 4.5, PAGE)
        drawing.text((x + 9.0, y - 8.0), mark.word, anchor="start", colour=INK)
    named = {p.name: (p.name, p.colour, p.dashed) for p in figure.paths if p.name}
    drawing.legend(list(named.values()), 24.0, 22.0)
    drawing.write(path)


def draw_solids(drawing: Drawing, view: View, solids: Sequence[Solid]) -> None:
    """Draw the faces that are turned to the eye, the nearest last."""
    shown = []
    for solid in solids:
        seen = view.see(solid.vertices)
        for face in solid.faces:
            corners = seen[list(face)]
            normal = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
            # Pixels count downwards, so what faces the eye runs clockwise.
            if normal[2] < 0.0:
                lit = -normal @ LIGHT / np.linalg.norm(normal)
                shown.append((corners[:, 2].mean(), corners[:, :2], solid.colour, lit))
    for _, corners, colour, lit in sorted(shown, key=lambda entry: entry[0]):
        drawing.polygon(corners, shade(colour, lit), shade(colour, EDGE))


def shade(colour: str, lit: float) -> str:
    """Return a colour `#rrggbb` of a face that is lit from 0 to 1."""
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    bright = DARK + (1.0 - DARK) * max(lit, 0.0)
    return "#" + "".join(f"{round(min(bright * part, 255.0)):02x}" for part in parts)


class View:
    """Look at a scene from far away, so that all of it is seen."""

    def __init__(self, figure: Scene) -> None:
        c, s, up, down = math.cos(TURN), math.sin(TURN), math.cos(TILT), math.sin(TILT)
        # Rows: to the right, up, and towards the eye.
        self._turn = np.array([(-s, c, 0.0), (-c * down, -s * down, up), (c * up, s * up, down)])
        self._stretch = figure.stretch
        self.scale, self._middle = 1.0, np.zeros(2)
        paths = [*figure.paths, *coordinate_axes(figure)]
        every = [p.points for p in paths] + [m.point[None] for m in figure.marks]
        every += [s.vertices for s in figure.solids]
        every += ball_lines(figure.ball) if figure.ball else []
        flat = self.see(np.concatenate(every))[:, :2]
        low, high = flat.min(axis=0), flat.max(axis=0)
        width, height = SIZE
        self.scale = float(min((np.array([width, height - ROOM]) - 60.0) / (high - low)))
        self._middle = np.array([0.5 * width, 0.5 * (height + ROOM)]) - 0.5 * self.scale * (
            low + high
        )

    def see(self, points: Array) -> Array:
        """Return pixels and nearness to the eye of points (..., 3)."""
        seen = (points * self._stretch) @ self._turn.T * [1.0, -1.0, 1.0]
        seen[..., :2] = self._middle + self.scale * seen[..., :2]
        return np.asarray(seen)

    def rim(self, radius: float) -> Array:
        """Return the pixels of a ball's outline (m, 2)."""
        t = np.radians(np.arange(0.0, 361.0, 3.0))
        ring = np.column_stack([np.cos(t), np.sin(t)]) * self.scale * radius
        return np.asarray(ring + self.see(np.zeros(3))[:2])


def coordinate_axes(figure: Scene) -> list[Path]:
    """Return the axes of a scene that has titles for them, through the origin."""
    if not figure.axes:
        return []
    ends = np.abs(np.concatenate([p.points for p in figure.paths])).max(axis=0)
    return [
        Path(np.array([-1.0, 1.0])[:, None] * (1.15 * ends[k] * np.eye(3)[k]), SOFT, title)
        for k, title in enumerate(figure.axes)
    ]


def ball_lines(radius: float) -> list[Array]:
    """Return meridians and parallels of a ball, each (m, 3)."""
    t = np.radians(np.arange(0.0, 361.0, 5.0))
    lines = []
    for degrees in range(0, 180, GRID):
        a = math.radians(degrees)
        lines.append(np.column_stack([np.cos(t) * math.cos(a), np.cos(t) * math.sin(a), np.sin(t)]))
    for degrees in range(-90 + GRID, 90, GRID):
        a = math.radians(degrees)
        ring = [math.cos(a) * np.cos(t), math.cos(a) * np.sin(t), np.full(len(t), math.sin(a))]
        lines.append(np.column_stack(ring))
    return [radius * line for line in lines]


def _pieces(line: Array, front: bool) -> list[Array]:
    """Return the stretches of a seen line (m, 3) in front of the ball's rim, or behind it."""
    inside = (line[:, 2] >= 0.0) == front
    edges = np.flatnonzero(np.diff(inside.astype(int))) + 1
    parts = zip(np.split(line, edges), np.split(inside, edges))
    return [part[:, :2] for part, keep in parts if keep[0] and len(part) > 1]
