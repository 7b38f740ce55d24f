"""Command `accord monkeybot landscape`: the error of the report's gait over a grid of its starts.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. The error says how far a gait is from repeating itself.
The grid consists of the rates w1 and w2 of both angles with which the robot hangs straight down at
the start. The command writes the data, two pictures, and an HTML page that shows the root of the
error as an intensity map and as a surface that can be turned. The landscape is computed by
`monkeybot.gaits.landscape`, the pictures by `monkeybot.source.landscapes`.

The looks of the page, MARKS, PAGE_POINTS, EYE and MAP_CAPTION, may be changed. The names of the
four files and of the arrays in landscape.npz stay.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from monkeybot.cli.options import TORQUE, Changes, Tolerance, robot_parameters
from monkeybot.gaits.gait import Gait, evaluate, horizontal
from monkeybot.gaits.landscape import LIMIT, Landscape, Lowest, landscape, save_map
from monkeybot.model.hybrid import TOLERANCE
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.source import landscapes
from monkeybot.source.landscapes import CUT, HEIGHT
from roboaccord.cli import Force, Out, Result, command_line, counted, in_pieces, results
from roboaccord.contract import LEFT_OUT, AccordError, Array, Json, NewtonMetres, Quantity, Seconds
from roboaccord.report import Plot, axis, plain, render_plots
from roboaccord.run import made_with, write_text

from roboaccord_studies.monkeybot.options import MADE_WITH, Span, grid_of, grid_option

# Largest number of points along a side, so that a browser can turn the surface: 40,000 points.
PAGE_POINTS = 201
# Both are around the report's gait, at 1.29 and 10.49, in steps of 0.01 and 0.02.
W1 = (0.0, 3.0, 301)  # default grid of w1 [rad/s]
W2 = (8.0, 14.0, 301)  # default grid of w2 [rad/s]
EYE = {"x": 1.15, "y": -1.75, "z": 0.95}  # viewpoint, in Plotly's units: looks into the valley
MAP_CAPTION = (
    f"The root of the error, cut off at {CUT:g}; dark is low. Empty: the start misses an event, "
    "as one without the energy to reach the line does."
)


class Mark(NamedTuple):
    """How points of a landscape are marked: symbol and colour of Plotly, and sizes [pixels]."""

    symbol: str
    colour: str
    map_size: int
    surface_size: int


# Marks of the minima of the grid and of the lowest point, by name; sizes by eye.
MARKS = {"minima": Mark("x", "#ffffff", 6, 4), "lowest": Mark("circle", "#d1495b", 12, 6)}


def render_landscape(
    field: Landscape, title: str, *, command: str, facts: Mapping[str, str]
) -> str:
    """Return the page of a landscape as HTML.

    Args:
        field: the landscape.
        title: of the page.
        command: command line that makes the page.
        facts: shown at its end, by name.
    """
    step = max(1, math.ceil(max(field.error.shape) / PAGE_POINTS))  # of the points shown
    lead = f"{field.error.size} gaits. Crosses: minima of the grid. Round: the lowest of all."
    if step > 1:
        lead += f" One rate in {step} is shown; the file beside this page has them all."
    height = landscapes.root_of_error(field)[::step, ::step]
    w1, w2, rows = plain(field.w1[::step]), plain(field.w2[::step]), height.T
    grid = {"x": w1, "y": w2, "z": [plain(row, 4) for row in rows]}
    scale = {"colorscale": "Viridis", "zmin": 0, "zmax": CUT, "colorbar": {"title": HEIGHT}}
    heat_map = {"type": "heatmap", **scale, **grid}
    surface = {"type": "surface", "colorscale": "Viridis", "cmin": 0, "cmax": CUT, **grid}
    x_title, y_title = landscapes.TITLES
    layout = {"xaxis": axis(x_title), "yaxis": axis(y_title)}
    scene = {**layout, "zaxis": {**axis(HEIGHT), "range": [0, CUT]}, "camera": {"eye": EYE}}
    map_figure = {"data": [heat_map, *_marks(field)], "layout": layout}
    surface_data = [surface, *_marks(field, in_space=True)]
    surface_figure = {"data": surface_data, "layout": {"scene": scene}}
    plots = [
        Plot("Intensity map", MAP_CAPTION, map_figure),
        Plot("Surface", "The same as heights. Drag to turn it.", surface_figure, height=680),
    ]
    return render_plots(title, lead, plots, command=command, facts=facts)


def _marks(field: Landscape, *, in_space: bool = False) -> list[dict[str, Json]]:
    """Return the minima and the lowest point as Plotly traces, for the map or for the surface."""
    traces = list[dict[str, Json]]()
    points_by_name = {"minima": field.minima[: landscapes.MARKED], "lowest": field.lowest[None]}
    for name, points in points_by_name.items():
        mark = MARKS[name]
        size = mark.surface_size if in_space else mark.map_size
        dots: dict[str, Json] = {
            "type": "scatter3d" if in_space else "scatter",
            "mode": "markers",
            "name": name,
            "x": plain(points[:, 0]),
            "y": plain(points[:, 1]),
            "text": [f"error {error:.3g}" for error in points[:, 2]],
            "marker": {"symbol": mark.symbol, "size": size, "color": mark.colour},
            "showlegend": False,
        }
        if in_space:
            dots["z"] = plain(np.minimum(np.sqrt(points[:, 2]), CUT))
        traces.append(dots)
    return traces


PHASE_LIMIT = typer.Option(help="Time after which a phase has missed its event.")


@in_pieces()
def landscape_command(
    w1: Annotated[Span, Quantity("rad/s"), grid_option("rate of th1: N values from A to B")] = W1,
    w2: Annotated[Span, Quantity("rad/s"), grid_option("rate of th2: N values from A to B")] = W2,
    torque: Annotated[NewtonMetres, TORQUE] = 2.0,
    folder: Out = None,
    force: Force = False,
    limit: Annotated[Seconds, PHASE_LIMIT] = LIMIT,
    changes: Changes = None,
    tolerance: Tolerance = TOLERANCE,
) -> Result:
    """Evaluate the report's gait from a grid of rates, both links hanging straight.

    Writes landscape.npz, an interactive landscape.html, and as pictures surface.svg and map.svg:
    the root of the error, cut off at 5, with its minima. A start that never reaches the line has
    none (NaN).

    Examples:

      accord monkeybot landscape --w1 0 3 301 --w2 8 14 301 --torque 2 --out landscape

      accord monkeybot landscape --w1 2 8 151 --w2 0 8 151 --torque 2 --out low --json
    """
    rates = grid_of(*w1, "--w1"), grid_of(*w2, "--w2")
    if not 0.0 < limit < np.inf:
        raise AccordError(f"--limit is {limit:g}, and must be positive")
    parameters, gait = robot_parameters(changes), horizontal(torque, limit=limit)
    with results(folder, "monkeybot_landscape", force=force) as out_folder:
        field, speed = timed_landscape(gait, parameters, *rates, tolerance)
        files = write_files(field, out_folder, torque, parameters)
    mapped = Mapped(
        gaits=field.error.size,
        missed=field.missed,
        gaits_per_second=speed,
        minimum=field.minimum,
        minima=len(field.minima),
        files=files,
    )
    return Result(mapped)


@dataclass(frozen=True, kw_only=True)
class Mapped:
    """Number of gaits of a landscape, its lowest error, and the files written."""

    gaits: Annotated[int, Quantity("")]
    missed: Annotated[int, Quantity("", "gaits that miss an event")] = field(metadata=LEFT_OUT)
    gaits_per_second: Annotated[float | None, Quantity("gaits/s", name="speed", form=".0f")]
    minimum: Lowest
    minima: Annotated[int, Quantity("", "of the grid")] = field(metadata=LEFT_OUT)
    files: list[Path]


def timed_landscape(
    gait: Gait, parameters: MonkeyBotParameters, w1: Array, w2: Array, tolerance: float
) -> tuple[Landscape, float]:
    """Return a landscape and the speed of its evaluation, without compiling [gaits/s].

    Raises:
        AccordError: if no start gets to the end.
    """
    with counted(len(w1) * len(w2), "evaluating") as done:
        evaluate(gait, parameters, np.array([w1[0], w2[0]]), tolerance=tolerance)
        start = time.perf_counter()
        field = landscape(gait, parameters, w1, w2, tolerance=tolerance, done=done)
        elapsed = time.perf_counter() - start
    return field, field.error.size / elapsed


def write_files(
    field: Landscape, folder: Path, torque: float, parameters: MonkeyBotParameters
) -> list[Path]:
    """Write data, page and pictures of a landscape, and return their files."""
    data, page = folder / "landscape.npz", folder / "landscape.html"
    surface, intensity = folder / "surface.svg", folder / "map.svg"
    lowest, versions = field.lowest, made_with(*MADE_WITH)
    save_map(field.arrays | {"torque": np.array(torque)}, data, parameters, versions)
    html = render_landscape(
        field,
        f"Error of the horizontal gait at {torque:g} N m",
        command=command_line(),
        facts={
            "lowest error": f"{lowest[2]:.4g} at w1 = {lowest[0]:g}, w2 = {lowest[1]:g} rad/s",
            "starts that miss an event": str(field.missed),
            **versions,
        },
    )
    write_text(page, html)
    landscapes.write_surface(field, surface)
    landscapes.write_map(field, intensity)
    return [data, page, surface, intensity]
