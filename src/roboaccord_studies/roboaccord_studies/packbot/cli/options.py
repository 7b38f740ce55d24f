"""Options that several commands of these studies share.

`draws` makes the option of a picture; `workspace` and `equilibria` use it. An option of a single
command is in that command, and may be moved here once a second one takes it.
"""

from __future__ import annotations

import typer
from typer.models import OptionInfo


def draws(what: str) -> OptionInfo:
    """Return an option that names the file of a picture."""
    found: OptionInfo = typer.Option(metavar="FILE", help=f"Draw {what}, as .svg or .png.")
    return found
