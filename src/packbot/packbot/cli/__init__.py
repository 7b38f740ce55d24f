"""`accord packbot`: the Packbot's own commands, one module each."""

from __future__ import annotations

import typer
from roboaccord.cli.command import add_command
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

app = typer.Typer(
    help="Commands of the arm made of convex hulls.", no_args_is_help=True, add_completion=False
)


@app.callback()
def group() -> None:
    """Find distances, motions and sight of an arm made of convex hulls, and make the hulls."""


add_command(app, "collapse", collapse_command)
add_command(app, "figures", figures_command)
add_command(app, "dynamics", dynamics_command, cls=gathering("--q", "--qd", "--tau"))
add_command(app, "pose", pose_command, cls=gathering("--q", "--target"))
add_command(app, "plan", plan_command, cls=gathering("--target"))
add_command(app, "distance", distance_command, cls=gathering("--q"))
add_command(app, "sight", sight_command, cls=gathering("--q", "--target"))
add_command(app, "hulls", hulls_command)
add_command(app, "shapes", shapes_command)
