"""Options that several commands of these studies share.

`draws` makes the option that names the file of a picture, for `workspace` and `equilibria`. An
option that only one command has is in the module of this command.
"""

from __future__ import annotations

import typer
from typer.models import OptionInfo


def draws(what: str) -> OptionInfo:
    """Return an option that names the file of a picture; `what` completes its help text."""
    option: OptionInfo = typer.Option(metavar="FILE", help=f"Draw {what}, as .svg or .png.")
    return option
