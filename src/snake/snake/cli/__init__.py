"""`accord snake`: the snake's own commands, one module each."""

from __future__ import annotations

import typer

from snake.cli.adapt import adapt_command
from snake.cli.figures import figures_command
from snake.cli.gait import gait_command
from snake.cli.optimise import optimise_command
from snake.cli.shapes import shapes_command

app = typer.Typer(help="Commands of the snake.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Measure, draw and optimise the snake's gaits."""


app.command("gait")(gait_command)
app.command("optimise")(optimise_command)
app.command("adapt")(adapt_command)
app.command("shapes")(shapes_command)
app.command("figures")(figures_command)
