"""`accord roller-sphere`: the roller sphere's own commands, one module each."""

from __future__ import annotations

import typer
from roboaccord.cli.command import add_command

from roller_sphere.cli.contact import contact_command
from roller_sphere.cli.dribble import dribble_command
from roller_sphere.cli.figures import figures_command
from roller_sphere.cli.motion import forward_command, inverse_command
from roller_sphere.cli.options import Gathering
from roller_sphere.cli.reach import reach_command

app = typer.Typer(
    help="Commands of the sphere driven by rollers.", no_args_is_help=True, add_completion=False
)


@app.callback()
def group() -> None:
    """Find roller speeds, motions, slip and reach of a ball driven by rollers."""


add_command(app, "inverse", inverse_command, cls=Gathering)
add_command(app, "forward", forward_command, cls=Gathering)
add_command(app, "reach", reach_command, cls=Gathering)
add_command(app, "figures", figures_command, cls=Gathering)
add_command(app, "contact", contact_command)
add_command(app, "dribble", dribble_command)
