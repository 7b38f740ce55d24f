"""Charts, maps and scenes drawn as SVG."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from roboaccord.state import Array

from roller_sphere.charts import Chart, Map, Scene
from roller_sphere.scene_picture import draw_scene
from roller_sphere.svg import SOFT, Drawing, Frame

SIZE = (720, 420)
BOX = (76.0, 50.0, 620.0, 310.0)
MAP_SIZE, MAP_BOX, BAR = (720, 470), (76.0, 22.0, 520.0, 380.0), (626.0, 22.0, 18.0, 380.0)


def draw(figure: Chart | Map | Scene, path: Path) -> None:
    """Write a figure as SVG."""
    if isinstance(figure, Chart):
        draw_chart(figure, path)
    elif isinstance(figure, Map):
        draw_map(figure, path)
    else:
        draw_scene(figure, path)


def draw_chart(figure: Chart, path: Path) -> None:
    """Write curves in a frame as SVG."""
    drawing = Drawing(SIZE)
    every = np.concatenate([curve.y for curve in figure.curves])
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    room = 0.05 * (high - low)
    x = figure.curves[0].x
    frame = Frame(
        drawing, BOX, (float(x.min()), float(x.max())), (low - room, high + room), figure.axes,
        quarters=figure.turn,
    )  # fmt: skip
    frame.rule()
    for curve in figure.curves:
        points = np.column_stack([curve.x, curve.y])
        for part in np.split(points, np.flatnonzero(np.isnan(curve.y))):
            known = part[~np.isnan(part[:, 1])]
            drawing.line(frame.at(known), curve.colour, 1.8, dashed=curve.dashed)
    frame.close()
    drawing.legend([(c.name, c.colour, c.dashed) for c in figure.curves], BOX[0], 18.0)
    drawing.write(path)


def draw_map(figure: Map, path: Path) -> None:
    """Write a map with its bar of colours as SVG."""
    drawing = Drawing(MAP_SIZE)
    drawing.cells(figure.values[::-1] / figure.cut, MAP_BOX)
    Frame(drawing, MAP_BOX, _ends(figure.x), _ends(figure.y), figure.axes).close()
    drawing.cells(np.linspace(1.0, 0.0, 101)[:, None], BAR)
    left, top, width, height = BAR
    for share in np.linspace(0.0, 1.0, 6):
        y = top + height * (1.0 - share)
        more = "+" if share == 1.0 and np.nanmax(figure.values) > figure.cut else ""
        words = f"{share * figure.cut:g}{more}"
        drawing.text((left + width + 6.0, y + 4.0), words, anchor="start", colour=SOFT)
    drawing.text((left + 72.0, top + 0.5 * height), figure.unit, turn=-90.0)
    drawing.write(path)


def _ends(values: Array) -> tuple[float, float]:
    """Return the range that the cells of a grid fill."""
    half = 0.5 * (values[1] - values[0])
    return float(values[0] - half), float(values[-1] + half)
