"""The page of a landscape: its root as an intensity map and as a surface that can be turned."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from monkeybot.gaits.landscape import Landscape
from monkeybot.source.landscapes import CUT, HEIGHT, MARKED, TITLES, root
from roboaccord.contract import Json
from roboaccord.report import Plot, axis, plain, render_plots

SOLID = {6: 4, 12: 6}  # sizes of dots in space [pixels], by those on the map
MOST = 201  # points of a side that the page holds: the browser has to turn them
EYE = {"x": 1.15, "y": -1.75, "z": 0.95}  # over the starts of too little energy, into the valley
WORDS = (
    f"The root of the error, cut off at {CUT:g}; dark is low. Empty: the start misses an event, "
    "as one without the energy to reach the line does."
)


def render_landscape(
    field: Landscape, title: str, *, command: str, facts: Mapping[str, str]
) -> str:
    """Return the page of a landscape as HTML."""
    step = max(1, -(-max(field.error.shape) // MOST))
    lead = f"{field.error.size} gaits. Crosses: minima of the grid. Round: the lowest of all."
    if step > 1:
        lead += f" One rate in {step} is shown; the file beside this page has them all."
    w1, w2, height = field.w1[::step], field.w2[::step], root(field)[::step, ::step]
    scale = {"colorscale": "Viridis", "zmin": 0, "zmax": CUT, "colorbar": {"title": HEIGHT}}
    grid = {"x": plain(w1), "y": plain(w2), "z": [plain(row, 4) for row in height.T]}
    surface = {"type": "surface", "colorscale": "Viridis", "cmin": 0, "cmax": CUT, **grid}
    x, y = axis(TITLES[0]), axis(TITLES[1])
    scene = {"xaxis": x, "yaxis": y, "zaxis": {**axis(HEIGHT), "range": [0, CUT]}}
    flat = {
        "data": [{"type": "heatmap", **scale, **grid}, *_marks(field)],
        "layout": {"xaxis": x, "yaxis": y},
    }
    solid = {
        "data": [surface, *_marks(field, solid=True)],
        "layout": {"scene": {**scene, "camera": {"eye": EYE}}},
    }
    plots = [
        Plot("Intensity map", WORDS, flat),
        Plot("Surface", "The same as heights. Drag to turn it.", solid, height=680),
    ]
    return render_plots(title, lead, plots, command=command, facts=facts)


def _marks(field: Landscape, *, solid: bool = False) -> list[dict[str, Json]]:
    """Return the minima and the lowest point as dots."""
    found = list[dict[str, Json]]()
    for name, points, symbol, size, colour in (
        ("minima", field.minima[:MARKED], "x", 6, "#ffffff"),
        ("lowest", field.lowest[None], "circle", 12, "#d1495b"),
    ):
        dots: dict[str, Json] = {
            "type": "scatter3d" if solid else "scatter",
            "mode": "markers",
            "name": name,
            "x": plain(points[:, 0]),
            "y": plain(points[:, 1]),
            "text": [f"error {error:.3g}" for error in points[:, 2]],
            "marker": {"symbol": symbol, "size": SOLID[size] if solid else size, "color": colour},
            "showlegend": False,
        }
        if solid:
            dots["z"] = plain(np.minimum(np.sqrt(points[:, 2]), CUT))
        found.append(dots)
    return found
