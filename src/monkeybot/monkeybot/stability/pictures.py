"""Pictures of a landscape: a surface and a map of its root, and the page on which both turn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from roboaccord.contract.results import Json
from roboaccord.contract.state import Array
from roboaccord.report.colours import AMBER, INK, PAGE, RED
from roboaccord.report.curves import axis, plain
from roboaccord.report.drawing import SQUARE, heat_map, legend, picture
from roboaccord.report.plots import Plot, render_plots

from monkeybot.gaits.landscape import Landscape

CUT = 5.0  # as in the report
HEIGHT = "root of the error"
TITLES = ("w1 at the start [rad/s]", "w2 at the start [rad/s]")
MARKED = 40  # minima that are marked, lowest first: on a slanting valley a grid makes many
CELLS = 150  # cells of a side that a surface is drawn with
MINIMA = {"ls": "none", "marker": "o", "color": PAGE, "mec": INK, "mew": 0.5, "ms": 3.5,
          "label": f"local minima, {MARKED} at most"}  # fmt: skip
LOWEST = {"ls": "none", "marker": "o", "color": RED, "mec": PAGE, "ms": 7.0,
          "label": "lowest point of the grid"}  # fmt: skip
LIFT = 0.05  # of marks over the surface that they lie on


def root(field: Landscape) -> Array:
    """Return the root of the error, at most `CUT` (n1, n2); NaN where there is none."""
    return np.asarray(np.minimum(np.sqrt(field.error), CUT))


def write_map(field: Landscape, path: Path, marks: Array | None = None) -> None:
    """Write the intensity map as SVG; dark is low.

    Args:
        field: the landscape.
        path: of the file.
        marks: further points (w1, w2) to mark (m, 2).
    """
    with picture(path, SQUARE) as axes:
        heat_map(axes, field.w1, field.w2, np.sqrt(field.error), HEIGHT, cut=CUT)
        axes.plot(*field.minima[:MARKED, :2].T, **MINIMA)
        if marks is not None:
            axes.plot(*marks.T, "o", color=AMBER, mec=INK, ms=7, label="minima by the report")
        axes.plot(*field.lowest[:2], **LOWEST)
        axes.set(xlabel=TITLES[0], ylabel=TITLES[1])
        legend(axes)


def write_surface(field: Landscape, path: Path) -> None:
    """Write the surface as SVG, seen from above."""
    with picture(path, SQUARE, subplot_kw={"projection": "3d", "computed_zorder": False}) as axes:
        x, y = np.meshgrid(field.w1, field.w2, indexing="ij")
        axes.plot_surface(
            x, y, root(field), cmap="viridis", vmin=0.0, vmax=CUT, rcount=CELLS, ccount=CELLS,
            lw=0.0, antialiased=False, rasterized=True,
        )  # fmt: skip
        for points, look in ((field.minima[:MARKED], MINIMA), (field.lowest, LOWEST)):
            w1, w2, error = np.atleast_2d(points).T
            height = np.minimum(np.sqrt(error), CUT) + LIFT
            axes.plot(w1, w2, height, **look)
        axes.set(xlabel=TITLES[0], ylabel=TITLES[1], zlabel=HEIGHT, zlim=(0.0, CUT))
        axes.view_init(elev=32.0, azim=-62.0)
        legend(axes)


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
