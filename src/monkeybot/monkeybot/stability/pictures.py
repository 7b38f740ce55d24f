"""Pictures of a landscape, its root as a surface and a map, on paper and on a page; of stability.

Maps of stability have the radius as colours, its border of 1, and another line.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from roboaccord.contract import Array, Json
from roboaccord.report import (
    AMBER,
    BLUE,
    INK,
    PAGE,
    RED,
    SQUARE,
    Plot,
    axis,
    contour,
    heat_map,
    legend,
    picture,
    plain,
    render_plots,
)

from monkeybot.gaits.clocked import Level
from monkeybot.gaits.landscape import Landscape
from monkeybot.stability.maps import DesignMap, Robot, StabilityMap

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


LARGEST = 2.0  # radius in colours
GAIT_TITLES = ("period [s]", "torque [N m]")
SHAPE_TITLES = ("hand to centre of gravity, c [lengths]", "inertia, k [m L^2]")
CUTS = {
    "radius": (LARGEST, "smallest spectral radius"),
    "width": (0.06, "range of stable periods over their middle"),
}
BORDER = {"color": PAGE, "label": "border of stability"}
DOT = {"ls": "none", "marker": "o", "mec": INK, "ms": 7.0, "clip_on": False}


def write_stability(field: StabilityMap, level: Level, path: Path) -> None:
    """Write the map of a robot's clocked gaits as SVG, with its horizontal gaits."""
    x, y, best = field.period, field.torque, level.best
    stable = [(step.period, step.torque) for step in level.steps if step.radius < 1.0]
    with picture(path, SQUARE) as axes:
        heat_map(axes, x, y, field.radius, "spectral radius", cut=LARGEST)
        contour(axes, x, y, field.radius, 1.0, **BORDER)
        contour(axes, x, y, field.drop, 0.0, color=RED, label="horizontal")
        axes.plot(*zip(*stable, strict=True), color=AMBER, lw=3.0, label="and stable")
        axes.plot(best.period, best.torque, color=RED, label=f"the best, {best.radius:.4f}", **DOT)
        axes.set(xlabel=GAIT_TITLES[0], ylabel=GAIT_TITLES[1])
        legend(axes)


def write_design(field: DesignMap, margin: str, robot: Robot, better: Robot, path: Path) -> None:
    """Write the map of a margin over the shape of the links as SVG, with two robots on it."""
    x, y = field.centre, field.inertia
    cut, name = CUTS[margin]
    with picture(path, SQUARE) as axes:
        heat_map(axes, x, y, field.arrays[margin], name, cut=cut)
        contour(axes, x, y, field.arrays["radius"], 1.0, **BORDER)
        for one, colour, words in (
            (robot, BLUE, "this robot"), (better, RED, "the best by this"),
        ):  # fmt: skip
            axes.plot(one.shape.centre, one.shape.inertia, color=colour, label=words, **DOT)
        axes.set(xlabel=SHAPE_TITLES[0], ylabel=SHAPE_TITLES[1])
        legend(axes)
