"""`accord voxel-sphere`: the sphere's own commands, one module each."""

from __future__ import annotations

import typer

from voxel_sphere.cli.accuracy import accuracy_command
from voxel_sphere.cli.list_ import list_command
from voxel_sphere.cli.make import make_command
from voxel_sphere.cli.mesh import mesh_command, world_command
from voxel_sphere.cli.roll import roll_command

app = typer.Typer(help="Commands of the sphere on voxel terrain.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Make and look at workspaces of voxels, roll on them, and take them to the engines."""


app.command("make")(make_command)
app.command("list")(list_command)
app.command("roll")(roll_command)
app.command("accuracy")(accuracy_command)
app.command("mesh")(mesh_command)
app.command("world")(world_command)
