"""`accord voxel-sphere list`: what a workspace holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table
from roboaccord.cli.console import out, print_json, progress

from voxel_sphere.terrain.slices import SOLID, Done
from voxel_sphere.terrain.workspace import Workspace, open_workspace

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="A Bitmaps_n folder, or the one with it.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


def list_command(folder: Folder, as_json: Json = False) -> None:
    """List the robot, surfaces, walls and workspaces of a folder of slices; all are read.

    Example:

      accord voxel-sphere list terrains
    """
    workspace = open_workspace(folder)
    with progress(as_json) as bar:
        task = bar.add_task("reading", total=len(workspace.kinds) * workspace.n)
        data = contents(workspace, lambda count: bar.advance(task, count))
    print_json(data) if as_json else show(data)


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


def show(data: dict[str, Any]) -> None:
    """Print it for people."""
    n, size = data["n"], data["voxel_size"]
    out.print(
        f"{data['path']}: {n} x {n} x {n} voxels of {size:g} m, sphere of radius "
        f"{data['radius']:.3f} voxels = {data['radius'] * size:.4g} m",
        highlight=False,
        soft_wrap=True,
    )
    table = Table("name", "kind", "slices", "filled", "z", box=None)
    for row in data["volumes"]:
        low, high = row["z"]
        grey = "grey" if row["grey"] else "binary"
        table.add_row(row["name"], row["kind"], grey, f"{row['filled']:.1%}", f"{low} to {high}")
    out.print(table)
