"""`accord monkeybot landscape`: the error over a grid of rates, as numbers and pictures."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import COMPILING, command_line, figure_lines, file_line, progress
from roboaccord.cli.folder import results
from roboaccord.cli.options import Force, Out
from roboaccord.cli.pieces import in_pieces
from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import Quantity, Seconds
from roboaccord.contract.state import Array
from roboaccord.run.output import write_text
from roboaccord.run.pieces import held
from roboaccord.run.versions import made_with

from monkeybot.cli.options import (
    Changes,
    Span,
    Tolerance,
    Torque,
    robot_parameters,
)
from monkeybot.gaits.gait import Gait, evaluate, horizontal
from monkeybot.gaits.landscape import LIMIT, Landscape, landscape, save_landscape, span
from monkeybot.model.hybrid import TOLERANCE
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.stability.pictures import render_landscape, write_map, write_surface


@in_pieces()
def landscape_command(
    w1: Annotated[
        Span,
        Quantity("rad/s"),
        typer.Option("--w1", metavar="A B N", help="Rates of th1, N from A to B."),
    ] = (0.0, 3.0, 301),
    w2: Annotated[
        Span,
        Quantity("rad/s"),
        typer.Option("--w2", metavar="A B N", help="Rates of th2, likewise."),
    ] = (
        8.0,
        14.0,
        301,
    ),
    torque: Torque = 2.0,
    folder: Out = None,
    force: Force = False,
    limit: Annotated[
        Seconds, typer.Option(help="A phase that takes longer has missed its event.")
    ] = LIMIT,
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
    rates = span(*w1, "--w1"), span(*w2, "--w2")
    if not 0.0 < limit < np.inf:
        raise AccordError(f"--limit is {limit:g}, and must be positive")
    parameters, gait = robot_parameters(changes), horizontal(torque, limit=limit)
    with results(folder, "monkeybot_landscape", force=force) as place:
        field, speed = measured(gait, parameters, *rates, tolerance)
        files = write_all(field, place, torque, parameters)
    lowest = {"rates": field.lowest[:2], "error": field.lowest[2]}
    data = {
        "gaits": field.error.size,
        "gaits_per_second": speed,
        "minimum": lowest,
        "files": [str(file) for file in files],
    }
    missed = int(np.isnan(field.error).sum())
    rows = {
        "gaits": (f"{field.error.size}, of which {missed} miss an event", ""),
        "speed": (f"{speed:.0f}", "gaits/s") if speed else ("not measured", ""),
        "lowest error": (f"{field.lowest[2]:.4g}", ""),
        "at rates": (f"{field.lowest[0]:g}, {field.lowest[1]:g}", "rad/s"),
        "minima": (f"{len(field.minima)}", ""),
    }
    return Result(data, [*figure_lines(rows), file_line(files)])


def measured(
    gait: Gait,
    parameters: MonkeyBotParameters,
    w1: Array,
    w2: Array,
    tolerance: float,
) -> tuple[Landscape, float | None]:
    """Return a landscape and the speed at which it was evaluated [gaits/s], compiling not counted.

    There is no speed where a file held part of it.

    Raises:
        AccordError: if no start gets to the end.
    """
    with progress() as bar:
        task = bar.add_task(COMPILING, total=len(w1) * len(w2))
        evaluate(gait, parameters, np.array([w1[0], w2[0]]), tolerance=tolerance)
        bar.update(task, description="evaluating")
        start = time.perf_counter()
        field = landscape(
            gait, parameters, w1, w2,
            tolerance=tolerance, done=lambda count: bar.advance(task, count),
        )  # fmt: skip
        elapsed = time.perf_counter() - start
    return field, None if held() else field.error.size / elapsed


def write_all(
    field: Landscape, place: Path, torque: float, parameters: MonkeyBotParameters
) -> list[Path]:
    """Write data, page and pictures of a landscape, and return their files."""
    data, page, surface, flat = files = [
        place / name for name in ("landscape.npz", "landscape.html", "surface.svg", "map.svg")
    ]
    lowest = field.lowest
    versions = made_with("roboaccord-monkeybot", "numba")
    save_landscape(field, data, torque=torque, parameters=parameters.as_dict(), versions=versions)
    html = render_landscape(
        field,
        f"Error of the horizontal gait at {torque:g} N m",
        command=command_line(),
        facts={
            "lowest error": f"{lowest[2]:.4g} at w1 = {lowest[0]:g}, w2 = {lowest[1]:g} rad/s",
            "starts that miss an event": str(int(np.isnan(field.error).sum())),
            **versions,
        },
    )
    write_text(page, html)
    write_surface(field, surface)
    write_map(field, flat)
    return files
