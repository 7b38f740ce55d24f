"""Command `accord voxel-sphere list`: the contents of a workspace, a folder of terrain as slices.

The command reads all volumes of voxels and prints a row for each: kind, filled share, first and
last layer. Keys of Listed and VolumeRow are those of `--json` and stay, for scripts rely on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from roboaccord import cli
from roboaccord.contract import Metres, Quantity

from voxel_sphere.cli.options import Folder
from voxel_sphere.terrain.recipes import Recipe
from voxel_sphere.terrain.slices import SOLID, Done
from voxel_sphere.terrain.workspace import Workspace, open_workspace


@dataclass(frozen=True)
class VolumeRow:
    """A volume of a workspace.

    Args:
        name: name of its folder.
        kind: robot, surface, walls or workspace.
        grey: whether voxels may be partly filled.
        filled: share of the grid that is solid.
        z: the filled layers: first one that is not empty, and the one after the last.
        recipe: description from which it was made; None if that is unknown.
    """

    name: Annotated[str, Quantity("")]
    kind: Annotated[str, Quantity("", form="s")]
    grey: Annotated[bool, Quantity("", "or else slices are binary", form="s")]
    filled: Annotated[float, Quantity("1", form=".1f", shown="%")]
    z: Annotated[tuple[int, int], Quantity("voxels")]
    recipe: Recipe | None


@dataclass(frozen=True)
class Listed:
    """Contents of a workspace; lengths in voxels, but for the edge of a voxel [m]."""

    path: Annotated[str, Quantity("")]
    n: Annotated[int, Quantity("voxels", "along each edge of the grid")]
    radius: Annotated[float, Quantity("voxels", "of the sphere", form=".3f")]
    size_workspace: Annotated[float, Quantity("1", "n / r")]
    voxel_size: Metres
    volumes: list[VolumeRow]

    @property
    def metres(self) -> Annotated[float, Quantity("m", "radius of the sphere")]:
        """Radius of the sphere in metres."""
        return self.radius * self.voxel_size


def list_command(folder: Folder) -> cli.Result:
    """List the robot, surfaces, walls and workspaces of a folder of slices; all are read.

    Example:

      accord voxel-sphere list terrains
    """
    contents = open_workspace(folder)
    with cli.counted(len(contents.kinds) * contents.n, "reading") as done:
        rows = [volume_row(contents, name, done) for name in contents.kinds]
    size, voxel = contents.size_workspace, contents.voxel_size
    return cli.Result(Listed(str(contents.path), contents.n, contents.radius, size, voxel, rows))


def volume_row(workspace: Workspace, name: str, done: Done) -> VolumeRow:
    """Return the row of a volume of a workspace; `done` is called after each slice that is read."""
    volume = workspace.volume(name, done)
    filled = float(volume.mean() / SOLID)
    layers = np.flatnonzero(volume.any(axis=(0, 1)))
    extent = int(layers[0]), int(layers[-1]) + 1
    kind, is_grey = workspace.kinds[name], workspace.is_grey(name, volume)
    return VolumeRow(name, kind, is_grey, filled, extent, workspace.settings.recipe(name) or None)
