"""Charts, maps and scenes as Plotly has them, for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from roboaccord.report.charts import Chart, Map, Mark, Path, Scene, Solid
from roboaccord.report.curves import axis, plain
from roboaccord.report.plots import Plot
from roboaccord.report.scene_picture import EYE, ball_lines

FAR = 1.9  # of the eye, in Plotly's units
FARTHER = 2.6  # where there are solids, which fill their box
DASHES = {False: "solid", True: "dash"}
BELOW = {"orientation": "h", "y": -0.16, "yanchor": "top"}
ABOVE = {"orientation": "h", "y": 1.0, "yanchor": "bottom"}


def plot_of(figure: Chart | Map | Scene) -> Plot:
    """Return a figure as a plot of the page."""
    if isinstance(figure, Chart):
        return plot_of_chart(figure)
    return plot_of_map(figure) if isinstance(figure, Map) else plot_of_scene(figure)


def plot_of_chart(figure: Chart) -> Plot:
    """Return curves as a plot of the page."""
    data = [
        {
            "type": "scatter", "mode": "lines", "name": curve.name,
            "x": plain(curve.x), "y": plain(curve.y),
            "line": {"color": curve.colour, "width": 2, "dash": DASHES[curve.dashed]},
        }
        for curve in figure.curves
    ]  # fmt: skip
    across: dict[str, Any] = axis(figure.axes[0])
    if figure.turn:
        across |= {"dtick": 45, "range": [0, 360]}
    layout = {"xaxis": across, "yaxis": axis(figure.axes[1]), "legend": BELOW}
    return Plot(figure.title, figure.caption, {"data": data, "layout": layout}, 440)


def plot_of_map(figure: Map) -> Plot:
    """Return a map as a plot of the page."""
    heat = {
        "type": "heatmap", "x": plain(figure.x), "y": plain(figure.y),
        "z": [plain(row, 4) for row in figure.values], "zmin": 0, "zmax": figure.cut,
        "colorscale": "Viridis", "colorbar": {"title": {"text": figure.unit, "side": "right"}},
    }  # fmt: skip
    layout = {"xaxis": axis(figure.axes[0]), "yaxis": axis(figure.axes[1])}
    return Plot(figure.title, figure.caption, {"data": [heat], "layout": layout}, 520)


def plot_of_scene(figure: Scene) -> Plot:
    """Return lines and dots in space as a plot of the page."""
    named: set[str] = set()
    data = [*_ball(figure.ball), *(_mesh(solid) for solid in figure.solids)]
    data += [_line(path, named) for path in figure.paths]
    data += [_dot(mark) for mark in figure.marks]
    sides = {
        f"{name}axis": {**axis(title), "visible": bool(title)}
        for name, title in zip("xyz", figure.axes or ("", "", ""), strict=True)
    }
    far = FARTHER if figure.solids else FAR
    camera = {"eye": dict(zip("xyz", (far * EYE).tolist(), strict=True))}
    scene: dict[str, Any] = {**sides, "camera": camera, "aspectmode": "data"}
    if (figure.stretch != 1.0).any():
        points = np.concatenate([path.points for path in figure.paths]) * figure.stretch
        extent = np.ptp(points, axis=0) / np.ptp(points, axis=0).max()
        ratio = dict(zip("xyz", (1.4 * extent).tolist(), strict=True))
        scene |= {"aspectmode": "manual", "aspectratio": ratio}
    layout = {"scene": scene, "legend": ABOVE}
    return Plot(figure.title, figure.caption, {"data": data, "layout": layout}, 640)


def _ball(radius: float) -> list[dict[str, Any]]:
    """Return a pale ball with its grid."""
    if not radius:
        return []
    latitude, azimuth = np.meshgrid(np.linspace(-90, 90, 37), np.linspace(0, 360, 73))
    th2, th1 = np.radians(latitude), np.radians(azimuth)
    x, y, z = np.cos(th1) * np.cos(th2), np.sin(th1) * np.cos(th2), np.sin(th2)
    surface = {
        "type": "surface", "opacity": 0.3, "showscale": False, "hoverinfo": "skip",
        "colorscale": [[0, "#9db4d8"], [1, "#9db4d8"]],
        **{n: [plain(row, 4) for row in radius * v] for n, v in zip("xyz", (x, y, z), strict=True)},
    }  # fmt: skip
    grid = (_line(Path(line, "#8a97ab", width=0.5), set()) for line in ball_lines(radius))
    return [surface, *grid]


def _line(path: Path, named: set[str]) -> dict[str, Any]:
    show = bool(path.name) and path.name not in named
    named.add(path.name)
    return {
        "type": "scatter3d", "mode": "lines", "name": path.name, "showlegend": show,
        "legendgroup": path.name, "hoverinfo": "skip" if not path.name else "all",
        **{n: plain(v, 5) for n, v in zip("xyz", path.points.T, strict=True)},
        "line": {"color": path.colour, "width": 2 * path.width, "dash": DASHES[path.dashed]},
    }  # fmt: skip


def _mesh(solid: Solid) -> dict[str, Any]:
    fans = [(f[0], f[i], f[i + 1]) for f in solid.faces for i in range(1, len(f) - 1)]
    return {
        "type": "mesh3d", "color": solid.colour, "flatshading": True, "hoverinfo": "skip",
        **{n: plain(v, 5) for n, v in zip("xyz", solid.vertices.T, strict=True)},
        **{n: [int(i) for i in column] for n, column in zip("ijk", zip(*fans), strict=True)},
    }  # fmt: skip


def _dot(mark: Mark) -> dict[str, Any]:
    return {
        "type": "scatter3d", "mode": "markers+text", "name": mark.word, "showlegend": False,
        **{n: [float(v)] for n, v in zip("xyz", mark.point, strict=True)},
        "text": [mark.word], "textposition": "top right",
        "marker": {"color": mark.colour, "size": 4},
    }  # fmt: skip
