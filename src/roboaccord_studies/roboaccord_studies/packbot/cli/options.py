"""Options that several commands of these studies share.

PAYLOAD is that of `workspace` and `detect`, BAG that of `detect`. `draws` makes the
option that names the file of a picture, for `workspace` and `equilibria`. An option that only one
command has is in the module of this command.
"""

from __future__ import annotations

import typer
from typer.models import OptionInfo

PAYLOAD = typer.Option(min=0.0, help="Payload at the finger tips.")
BAG = typer.Argument(metavar="RUN", help="Run folder or bag of the Packbot.")


def draws(what: str) -> OptionInfo:
    """Return an option that names the file of a picture; `what` completes its help text."""
    option: OptionInfo = typer.Option(metavar="FILE", help=f"Draw {what}, as .svg or .png.")
    return option
