"""`accord voxel-sphere`: the sphere's own commands, one module each."""

from __future__ import annotations

import typer
from roboaccord.cli.command import add_command

from voxel_sphere.cli.accuracy import accuracy_command
from voxel_sphere.cli.list_ import list_command
from voxel_sphere.cli.make import make_command
from voxel_sphere.cli.mesh import mesh_command, world_command
from voxel_sphere.cli.roll import roll_command

app = typer.Typer(
    help="Commands of the sphere on voxel terrain.", no_args_is_help=True, add_completion=False
)


@app.callback()
def group() -> None:
    """Make and look at workspaces of voxels, roll on them, and take them to the engines."""


add_command(app, "make", make_command)
add_command(app, "list", list_command)
add_command(app, "roll", roll_command)
add_command(app, "accuracy", accuracy_command)
add_command(app, "mesh", mesh_command)
add_command(app, "world", world_command)
