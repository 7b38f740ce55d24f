"""The interactive page of a landscape: surface and intensity map, to turn and to read off."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from roboaccord.contract.results import Json
from roboaccord.contract.state import Array
from roboaccord.report.curves import axis, plain
from roboaccord.report.plots import Plot, render_plots

from monkeybot.gaits.landscape import Landscape
from monkeybot.stability.maps import CUT, HEIGHT, MARKED, TITLES, root

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
    scene: dict[str, Json] = {
        name: axis(words) for name, words in zip(("xaxis", "yaxis"), TITLES, strict=True)
    }
    scene["zaxis"] = {**axis(HEIGHT), "range": [0, CUT]}
    scene["camera"] = {"eye": EYE}
    map_layout = {"xaxis": axis(TITLES[0]), "yaxis": axis(TITLES[1])}
    return render_plots(
        title,
        lead,
        [
            Plot(
                "Intensity map",
                WORDS,
                {
                    "data": [{"type": "heatmap", **scale, **grid}, *_marks(field)],
                    "layout": map_layout,
                },
            ),
            Plot(
                "Surface",
                "The same as heights. Drag to turn it.",
                {"data": [surface, *_marks(field, solid=True)], "layout": {"scene": scene}},
                height=680,
            ),
        ],
        command=command,
        facts=facts,
    )


def _marks(field: Landscape, *, solid: bool = False) -> list[dict[str, Json]]:
    """Return the minima and the lowest point as dots."""
    return [
        _dots("minima", field.minima[:MARKED], {"symbol": "x", "size": 4 if solid else 6}, solid),
        _dots(
            "lowest", field.lowest[None], {"symbol": "circle", "size": 6 if solid else 12}, solid
        ),
    ]


def _dots(name: str, points: Array, marker: dict[str, Json], solid: bool) -> dict[str, Json]:
    dots: dict[str, Json] = {
        "type": "scatter3d" if solid else "scatter",
        "mode": "markers",
        "name": name,
        "x": plain(points[:, 0]),
        "y": plain(points[:, 1]),
        "text": [f"error {error:.3g}" for error in points[:, 2]],
        "marker": {**marker, "color": "#d1495b" if name == "lowest" else "#ffffff"},
        "showlegend": False,
    }
    if solid:
        dots["z"] = plain(np.minimum(np.sqrt(points[:, 2]), CUT))
    return dots
