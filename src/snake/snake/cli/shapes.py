"""Command `accord snake shapes`: the eight body shapes of the blog post's gait.

A shape, which the post calls a configuration, is given by a twist of each of four segments of the
snake. The command prints the twists with the joint angles that they stand for, and draws a picture
on request (source/shapes.py). The table's content is the post's (source/post.py).

The names of options and the keys of `data` stay.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

from roboaccord import cli, description
from roboaccord.contract import Json
from typer import Option

from snake.model.parameters import SnakeParameters
from snake.source.post import LOOP, SEGMENTS, START
from snake.source.shapes import write_picture

OUT_HELP = "Image file, .svg or .png."


def shapes_command(
    file: Annotated[Path | None, Option("--out", metavar="FILE", help=OUT_HELP)] = None,
    joints: Annotated[int, Option(min=4, max=200, help="Number of joints.")] = 21,
) -> cli.Result:
    """Show the post's eight configurations: four that start the wave, four that are looped.

    The numbers are twists: +-2 for the stop, +-1 for half of it.

    Examples:

      accord snake shapes

      accord snake shapes --out shapes.svg
    """
    parameters = description.load_parameters(SnakeParameters, "snake", {"joints": joints})
    if file:
        write_picture(parameters, file)
    half = math.degrees(0.5 * parameters.joint_limit)
    table = cli.make_table("configuration", *SEGMENTS, title=f"twists; one is {half:.3g} degrees")
    rows = list[Json]()
    for number, twists in enumerate((*START, *LOOP), 1):
        section = "start" if number <= len(START) else "loop"
        by_segment = dict(zip(SEGMENTS, twists, strict=True))
        angles = {segment: round(half * twist, 3) for segment, twist in by_segment.items()}
        rows.append({"number": number, "part": section, "twists": by_segment, "angles": angles})
        table.add_row(str(number), *(f"{t:+d}" if t else "" for t in twists))
    data = {"configurations": rows, "unit": "degree", "picture": str(file) if file else None}
    picture = [f"picture: {file}"] if file else []
    return cli.Result(data, [table, *picture])
