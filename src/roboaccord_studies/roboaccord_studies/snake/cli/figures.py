"""Command `accord snake figures`: the pictures of the snake's pages."""

from __future__ import annotations

from roboaccord.cli import Force, Out, Result, counted, file_line, results
from roboaccord.description import load_parameters
from snake.model.parameters import SnakeParameters
from snake.source.shapes import write_picture

from roboaccord_studies.snake.figures import write_change_of_ground, write_costs, write_steering


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
