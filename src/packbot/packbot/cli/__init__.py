"""`accord packbot`: the Packbot's own commands, one module each."""

from __future__ import annotations

import typer

from packbot.cli.collapse import collapse_command
from packbot.cli.figures import figures_command

app = typer.Typer(help="Commands of the arm made of convex hulls.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Find distances, motions and sight of an arm made of convex hulls, and make the hulls."""


app.command("collapse")(collapse_command)
app.command("figures")(figures_command)
