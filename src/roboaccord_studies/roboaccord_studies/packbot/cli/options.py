"""Options that commands of these studies share.

`draws` makes the option of a picture, with its words; an option that only one command has is in
that command. Options may be added once two commands share them; `workspace` and `equilibria` use
`draws`, whose name must stay.
"""

from __future__ import annotations

import typer
from typer.models import OptionInfo


def draws(what: str) -> OptionInfo:
    """Return an option that names the file of a picture."""
    found: OptionInfo = typer.Option(metavar="FILE", help=f"Draw {what}, as .svg or .png.")
    return found
