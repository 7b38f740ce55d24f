"""`accord snake shapes` and `figures`: the post's configurations, and the pages' pictures."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli import Force, Out, Result, counted, file_line, make_table, results
from roboaccord.contract import Json
from roboaccord.description import load_parameters

from snake.figures import write_change_of_ground, write_costs, write_picture, write_steering
from snake.model.parameters import SnakeParameters
from snake.source.post import LOOP, SEGMENTS, START


def shapes_command(
    file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Image file, .svg or .png.")
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
    table = make_table("configuration", *SEGMENTS, title=f"twists; one is {half:.3g} degrees")
    rows = list[Json]()
    for number, twists in enumerate((*START, *LOOP), 1):
        part = "start" if number <= len(START) else "loop"
        by_segment = dict(zip(SEGMENTS, twists, strict=True))
        angles = {segment: round(half * twist, 3) for segment, twist in by_segment.items()}
        rows.append({"number": number, "part": part, "twists": by_segment, "angles": angles})
        table.add_row(str(number), *(f"{t:+d}" if t else "" for t in twists))
    data = {"configurations": rows, "unit": "degree", "picture": str(file) if file else None}
    return Result(data, [table, *([f"picture: {file}"] if file else [])])


def figures_command(folder: Out = None, force: Force = False) -> Result:
    """Draw the pictures of the snake's pages: shapes, steering, costs and a change of ground.

    All runs are the reference's; the costs search for two gaits, which takes most of the time.

    Example:

      accord snake figures --out snake_figures
    """
    with results(folder, "snake_figures", force=force) as place, counted(3, "drawing") as done:
        files = [place / "shapes.svg"]
        write_picture(load_parameters(SnakeParameters, "snake", {}), files[0])
        for draw in (write_steering, write_change_of_ground, write_costs):
            files.append(draw(place))
            done(1)
    return Result({"files": [str(file) for file in files]}, [file_line(files)])
