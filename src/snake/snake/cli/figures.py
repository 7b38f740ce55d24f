"""`accord snake figures`: the pictures of the snake's pages."""

from __future__ import annotations

from roboaccord.cli.command import Result
from roboaccord.cli.console import COMPILING, file_line, progress
from roboaccord.cli.folder import results
from roboaccord.cli.options import Force, Out
from roboaccord.description.parameters import load_parameters

from snake.figures import optima, write_change_of_ground, write_costs, write_steering
from snake.model.parameters import SnakeParameters
from snake.source.shapes import write_picture


def figures_command(folder: Out = None, force: Force = False) -> Result:
    """Draw the pictures of the snake's pages: shapes, steering, costs and a change of ground.

    All runs are the reference's; the costs search for two gaits, which takes most of the time.

    Example:

      accord snake figures --out snake_figures
    """
    with results(folder, "snake_figures", force=force) as place, progress() as bar:
        files = [place / "shapes.svg"]
        write_picture(load_parameters(SnakeParameters, "snake", {}), files[0])
        task = bar.add_task(COMPILING, total=3)
        for words, draw in (
            ("steering", write_steering),
            ("change of ground", write_change_of_ground),
            ("costs of gaits", lambda to: write_costs(to, optima())),
        ):
            bar.update(task, description=words)
            files.append(draw(place))
            bar.advance(task)
    return Result({"files": [str(file) for file in files]}, [file_line(files)])
