"""`accord voxel-sphere list`: what a workspace holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import progress
from roboaccord.cli.rendering import tables_of
from roboaccord.contract.results import Metres, Quantity

from voxel_sphere.terrain.recipes import Recipe
from voxel_sphere.terrain.slices import SOLID, Done
from voxel_sphere.terrain.workspace import Workspace, open_workspace

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="A Bitmaps_n folder, or the one with it.")
]
Voxels = Annotated[float, Quantity("voxels")]


@dataclass(frozen=True)
class VolumeRow:
    """Hold a volume: name, kind, whether it is grey, the share that is filled, and its layers."""

    name: Annotated[str, Quantity("")]
    kind: Annotated[str, Quantity("", form="s")]
    grey: bool
    filled: Annotated[float, Quantity("1", form=".1f", shown="%")]
    z: Annotated[tuple[int, int], Quantity("voxels")]
    recipe: Recipe | None

    @property
    def slices(self) -> Annotated[str, Quantity("", form="s")]:
        """Of which kind they are."""
        return "grey" if self.grey else "binary"


@dataclass(frozen=True)
class Contents:
    """Hold what is in a workspace."""

    path: Path
    n: int
    radius: Voxels
    size_workspace: Annotated[float, Quantity("1", "n over radius")]
    voxel_size: Metres
    volumes: list[VolumeRow]


def list_command(folder: Folder) -> Result:
    """List the robot, surfaces, walls and workspaces of a folder of slices; all are read.

    Example:

      accord voxel-sphere list terrains
    """
    workspace = open_workspace(folder)
    with progress() as bar:
        task = bar.add_task("reading", total=len(workspace.kinds) * workspace.n)
        found = contents(workspace, lambda count: bar.advance(task, count))
    n, size, r = found.n, found.voxel_size, found.radius
    lines = [
        f"{found.path}: {n} x {n} x {n} voxels of {size:g} m,",
        f"sphere of radius {r:.3f} voxels = {r * size:.4g} m",
    ]
    columns = ("name", "kind", "slices", "filled", "z")
    return Result(found, [*lines, *tables_of(found.volumes, *columns, kind=VolumeRow)])


def contents(workspace: Workspace, done: Done) -> Contents:
    """Return what is in a workspace."""
    volumes = []
    for name, kind in workspace.kinds.items():
        volume = workspace.volume(name, done)
        levels = np.flatnonzero(volume.any(axis=(0, 1)))
        volumes.append(
            VolumeRow(
                name=name,
                kind=kind,
                grey=workspace.is_grey(name, volume),
                filled=float(volume.mean() / SOLID),
                z=(int(levels[0]), int(levels[-1]) + 1),
                recipe=workspace.settings.recipe(name) or None,
            )
        )
    return Contents(
        workspace.path, workspace.n, workspace.radius, workspace.size_workspace,
        workspace.voxel_size, volumes,
    )  # fmt: skip
