"""`accord roller-sphere`: the roller sphere's own commands, one module each."""

from __future__ import annotations

import typer

from roller_sphere.cli.contact import contact_command
from roller_sphere.cli.dribble import dribble_command
from roller_sphere.cli.figures import figures_command
from roller_sphere.cli.motion import forward_command, inverse_command
from roller_sphere.cli.options import Gathering
from roller_sphere.cli.reach import reach_command

app = typer.Typer(help="Commands of the sphere driven by rollers.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Find roller speeds, motions, slip and reach of a ball driven by rollers."""


app.command("inverse", cls=Gathering)(inverse_command)
app.command("forward", cls=Gathering)(forward_command)
app.command("reach", cls=Gathering)(reach_command)
app.command("figures", cls=Gathering)(figures_command)
app.command("contact")(contact_command)
app.command("dribble")(dribble_command)
