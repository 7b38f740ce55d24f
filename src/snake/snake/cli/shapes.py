"""`accord snake shapes`: the post's eight configurations, as its table and as a picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table
from roboaccord.description.parameters import load_parameters

from snake.model.parameters import SnakeParameters
from snake.source.post import LOOP, SEGMENTS, START
from snake.source.shapes import write_picture


def shapes_command(
    file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Picture, .svg or .png.")
    ] = None,
    joints: Annotated[int, typer.Option(min=4, max=200, help="Number of joints.")] = 21,
) -> Result:
    """Show the post's eight configurations: four that start the wave, four that are looped.

    The numbers are twists: +-2 for the stop, +-1 for half of it.

    Examples:

      accord snake shapes

      accord snake shapes --out shapes.svg
    """
    parameters: SnakeParameters = load_parameters(SnakeParameters, "snake", {"joints": joints})
    if file:
        write_picture(parameters, file)
    half = math.degrees(0.5 * parameters.joint_limit)
    rows = [
        {
            "number": number,
            "part": "start" if number <= len(START) else "loop",
            "twists": dict(zip(SEGMENTS, twists, strict=True)),
            "angles": {s: round(half * t, 3) for s, t in zip(SEGMENTS, twists, strict=True)},
        }
        for number, twists in enumerate((*START, *LOOP), 1)
    ]
    table = make_table("configuration", *SEGMENTS, title=f"twists; one is {half:.3g} degrees")
    for number, twists in enumerate((*START, *LOOP), 1):
        table.add_row(str(number), *(f"{t:+d}" if t else "" for t in twists))
    data = {"configurations": rows, "unit": "degree", "picture": str(file) if file else None}
    return Result(data, [table, *([f"picture: {file}"] if file else [])])
