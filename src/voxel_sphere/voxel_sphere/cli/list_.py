"""`accord voxel-sphere list`: what a workspace holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import RenderableType
from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table, progress

from voxel_sphere.terrain.slices import SOLID, Done
from voxel_sphere.terrain.workspace import Workspace, open_workspace

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="A Bitmaps_n folder, or the one with it.")
]


def list_command(folder: Folder) -> Result:
    """List the robot, surfaces, walls and workspaces of a folder of slices; all are read.

    Example:

      accord voxel-sphere list terrains
    """
    workspace = open_workspace(folder)
    with progress() as bar:
        task = bar.add_task("reading", total=len(workspace.kinds) * workspace.n)
        data = contents(workspace, lambda count: bar.advance(task, count))
    return Result(data, shown_of(data))


def contents(workspace: Workspace, done: Done) -> dict[str, Any]:
    """Return what is in a workspace, lengths in voxels."""
    volumes = []
    for name, kind in workspace.kinds.items():
        volume = workspace.volume(name, done)
        levels = np.flatnonzero(volume.any(axis=(0, 1)))
        volumes.append(
            {
                "name": name,
                "kind": kind,
                "grey": workspace.is_grey(name, volume),
                "filled": float(volume.mean() / SOLID),
                "z": [int(levels[0]), int(levels[-1]) + 1],
                "recipe": workspace.settings.recipe(name) or None,
            }
        )
    return {
        "path": str(workspace.path),
        "n": workspace.n,
        "radius": workspace.radius,
        "size_workspace": workspace.size_workspace,
        "voxel_size": workspace.voxel_size,
        "volumes": volumes,
    }


def shown_of(data: dict[str, Any]) -> list[RenderableType]:
    """Return it for people."""
    n, size = data["n"], data["voxel_size"]
    words = ("kind", "slices", "z [voxels]")
    table = make_table("name", "kind", "slices", "filled", "z [voxels]", words=words)
    for row in data["volumes"]:
        low, high = row["z"]
        grey = "grey" if row["grey"] else "binary"
        name = row["name"]
        table.add_row(name, row["kind"], grey, f"{row['filled']:.1%}", f"{low} to {high}")
    return [
        f"{data['path']}: {n} x {n} x {n} voxels of {size:g} m,",
        f"sphere of radius {data['radius']:.3f} voxels = {data['radius'] * size:.4g} m",
        table,
    ]
