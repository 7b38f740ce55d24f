"""Charts, maps and scenes drawn as SVG."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.report.axes import Axes, colour_bar
from roboaccord.report.charts import Chart, Map, Scene
from roboaccord.report.colours import colours
from roboaccord.report.scene_picture import draw_scene
from roboaccord.report.svg import Drawing

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
    ends = float(x.min()), float(x.max())
    quarters = np.arange(ends[0], ends[1] + 1.0, 45.0) if figure.turn else None
    axes = Axes(drawing, BOX, ends, (low - room, high + room), figure.axes, columns=quarters)
    axes.rule()
    for curve in figure.curves:
        points = np.column_stack([curve.x, curve.y])
        for part in np.split(points, np.flatnonzero(np.isnan(curve.y))):
            known = part[~np.isnan(part[:, 1])]
            drawing.line(axes.at(known), curve.colour, 1.8, dashed=curve.dashed)
    axes.frame()
    drawing.legend([(c.name, c.colour, c.dashed) for c in figure.curves], BOX[0], 18.0)
    drawing.write(path)


def draw_map(figure: Map, path: Path) -> None:
    """Write a map with its bar of colours as SVG."""
    drawing = Drawing(MAP_SIZE)
    shades = colours(figure.values[::-1] / figure.cut)
    drawing.image(shades.round().astype(np.uint8), MAP_BOX)
    Axes(drawing, MAP_BOX, _ends(figure.x), _ends(figure.y), figure.axes).frame()
    more = bool(np.nanmax(figure.values) > figure.cut)
    colour_bar(drawing, BAR, (0.0, figure.cut), figure.unit, more=more)
    drawing.write(path)


def _ends(values: Array) -> tuple[float, float]:
    """Return the range that the cells of a grid fill."""
    half = 0.5 * (values[1] - values[0])
    return float(values[0] - half), float(values[-1] + half)
