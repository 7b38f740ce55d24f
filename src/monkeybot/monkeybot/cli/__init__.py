"""`accord monkeybot`: the MonkeyBot's own commands, one module each."""

from __future__ import annotations

import typer

app = typer.Typer(help="Commands of the MonkeyBot.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Evaluate, search, refine and repeat the MonkeyBot's gaits."""
