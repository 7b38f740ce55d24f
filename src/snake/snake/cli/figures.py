"""`accord snake figures`: the pictures of the snake's pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli.console import COMPILING, out, print_json, progress
from roboaccord.description.parameters import load_parameters
from roboaccord.run.output import make_folder

from snake.figures import optima, write_change_of_ground, write_costs, write_steering
from snake.model.parameters import SnakeParameters
from snake.source.shapes import write_picture


def figures_command(
    folder: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for the pictures.")
    ] = Path("runs/snake_figures"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Draw the pictures of the snake's pages: shapes, steering, costs and a change of ground.

    All runs are the reference's; the costs search for two gaits, which takes most of the time.

    Example:

      accord snake figures --out figures
    """
    place = make_folder(folder)
    files = [place / "shapes.svg"]
    write_picture(load_parameters(SnakeParameters, "snake", {}), files[0])
    with progress(as_json) as bar:
        task = bar.add_task(COMPILING, total=3)
        for words, draw in (
            ("steering", write_steering),
            ("change of ground", write_change_of_ground),
            ("costs of gaits", lambda to: write_costs(to, optima())),
        ):
            bar.update(task, description=words)
            files.append(draw(place))
            bar.advance(task)
    if as_json:
        print_json({"files": [str(file) for file in files]})
    else:
        out.print("files: " + ", ".join(map(str, files)), highlight=False, soft_wrap=True)
