"""`accord snake`: the snake's own commands, one module each."""

from __future__ import annotations

import typer
from roboaccord.cli.command import add_command

from snake.cli.adapt import adapt_command
from snake.cli.figures import figures_command
from snake.cli.gait import gait_command
from snake.cli.optimise import optimise_command
from snake.cli.shapes import shapes_command

app = typer.Typer(help="Commands of the snake.", no_args_is_help=True, add_completion=False)


@app.callback()
def group() -> None:
    """Measure, draw and optimise the snake's gaits."""


add_command(app, "gait", gait_command)
add_command(app, "optimise", optimise_command)
add_command(app, "adapt", adapt_command)
add_command(app, "shapes", shapes_command)
add_command(app, "figures", figures_command)
