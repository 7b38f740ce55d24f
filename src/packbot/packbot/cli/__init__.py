"""`accord packbot`: the Packbot's own commands, one module each."""

from __future__ import annotations

import typer
from roboaccord.cli.gathering import gathering

from packbot.cli.collapse import collapse_command
from packbot.cli.distance import distance_command
from packbot.cli.dynamics import dynamics_command
from packbot.cli.figures import figures_command
from packbot.cli.hulls import hulls_command
from packbot.cli.plan import plan_command
from packbot.cli.pose import pose_command
from packbot.cli.shapes import shapes_command
from packbot.cli.sight import sight_command

app = typer.Typer(help="Commands of the arm made of convex hulls.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Find distances, motions and sight of an arm made of convex hulls, and make the hulls."""


app.command("collapse")(collapse_command)
app.command("figures")(figures_command)
app.command("dynamics", cls=gathering("--q", "--qd", "--tau"))(dynamics_command)
app.command("pose", cls=gathering("--q", "--target"))(pose_command)
app.command("plan", cls=gathering("--target"))(plan_command)
app.command("distance", cls=gathering("--q"))(distance_command)
app.command("sight", cls=gathering("--q", "--target"))(sight_command)
app.command("hulls")(hulls_command)
app.command("shapes")(shapes_command)
