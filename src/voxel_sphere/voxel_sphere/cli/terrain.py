"""Terrains: what a workspace holds, and meshes and worlds of it for the physics engines."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli import Result, counted, is_own, results
from roboaccord.contract import (
    IF_ANY,
    INLINE,
    AccordError,
    Array,
    Metres,
    Quantity,
    Ratio,
    check_target,
)

from voxel_sphere.terrain.mesh import (
    FORMATS,
    SMOOTH,
    Deviation,
    Mesh,
    check_ending,
    decimate,
    deviation,
    height_field,
    terrain_mesh,
    write_mesh,
    write_npy,
)
from voxel_sphere.terrain.recipes import Recipe
from voxel_sphere.terrain.sdf_model import world_name, write_world
from voxel_sphere.terrain.slices import SOLID, Done
from voxel_sphere.terrain.workspace import Terrain, Workspace, open_workspace

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="A Bitmaps_n folder, or the one with it.")
]


@dataclass(frozen=True)
class VolumeRow:
    """Hold a volume: name, kind, whether it is grey, the share that is filled, and its layers."""

    name: Annotated[str, Quantity("")]
    kind: Annotated[str, Quantity("", form="s")]
    grey: Annotated[bool, Quantity("", "or else slices are binary", form="s")]
    filled: Annotated[float, Quantity("1", form=".1f", shown="%")]
    z: Annotated[tuple[int, int], Quantity("voxels")]
    recipe: Recipe | None


@dataclass(frozen=True)
class Listed:
    """Hold what is in a workspace."""

    path: Annotated[str, Quantity("")]
    n: Annotated[int, Quantity("voxels", "along each edge of the grid")]
    radius: Annotated[float, Quantity("voxels", "of the sphere", form=".3f")]
    size_workspace: Annotated[float, Quantity("1", "n / r")]
    voxel_size: Metres
    volumes: list[VolumeRow]

    @property
    def metres(self) -> Annotated[float, Quantity("m", "radius of the sphere")]:
        """The radius in the world."""
        return self.radius * self.voxel_size


def list_command(folder: Folder) -> Result:
    """List the robot, surfaces, walls and workspaces of a folder of slices; all are read.

    Example:

      accord voxel-sphere list terrains
    """
    found = open_workspace(folder)
    with counted(len(found.kinds) * found.n, "reading") as done:
        rows = volumes(found, done)
    place, size = str(found.path), found.size_workspace
    return Result(Listed(place, found.n, found.radius, size, found.voxel_size, rows))


def volumes(workspace: Workspace, done: Done) -> list[VolumeRow]:
    """Return what is in a workspace."""
    found = []
    for name, kind in workspace.kinds.items():
        volume = workspace.volume(name, done)
        levels = np.flatnonzero(volume.any(axis=(0, 1)))
        found.append(
            VolumeRow(
                name=name,
                kind=kind,
                grey=workspace.is_grey(name, volume),
                filled=float(volume.mean() / SOLID),
                z=(int(levels[0]), int(levels[-1]) + 1),
                recipe=workspace.settings.recipe(name) or None,
            )
        )
    return found


@dataclass(frozen=True)
class Names:
    """Name the volumes of a terrain."""

    surface: Annotated[str | None, typer.Option(help="Name of the surface.")] = None
    walls: Annotated[str | None, typer.Option(help="Name of the walls.")] = None
    workspace: Annotated[str | None, typer.Option(help="Name of a whole workspace.")] = None


ALONE = Names()
Smooth = Annotated[
    float, Quantity("voxels"), typer.Option(min=0, max=10, help="Standard deviation.")
]
Decimate = Annotated[
    int | None, typer.Option("--decimate", metavar="N", help="About as many triangles.")
]
Replace = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Replace what has this name in --out, and take --out if something else is in it.",
    ),
]


def mesh_command(
    folder: Folder,
    file: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Ends with .stl, .obj, .ply or .glb.")
    ],
    names: Names = ALONE,
    smooth: Smooth = SMOOTH,
    triangles: Decimate = None,
    heights: Annotated[
        Path | None,
        typer.Option("--heights", metavar="FILE.npy", help="Also write the heights, as metres."),
    ] = None,
) -> Result:
    """Write a terrain as a closed, outward mesh in metres, and say how wrong it is.

    Examples:

      accord voxel-sphere mesh terrains --surface bowl --out bowl.stl

      accord voxel-sphere mesh terrains --surface bowl --decimate 5000 --heights bowl.npy
      --out bowl.obj --json
    """
    check_ending(file, FORMATS)
    check_target(file)
    if heights is not None:
        check_ending(heights, [".npy"])
    check_target(heights)
    terrain, mesh, found = meshed(folder, smooth, triangles, names)
    columns = {} if heights is None else {heights: height_field(terrain).heights}
    write_mesh(mesh, file, terrain.voxel_size)
    for path, values in columns.items():
        write_npy(path, values)
    return Result(replace(found, files=[file, *columns]))


def world_command(
    folder: Folder,
    place: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="models/ and worlds/ are in it.")
    ],
    names: Names = ALONE,
    name: Annotated[str | None, typer.Option(help="Of model and world.")] = None,
    friction: Annotated[
        Ratio, typer.Option(help="Of the terrain; the smaller one of both surfaces counts.")
    ] = 100.0,
    detector: Annotated[str, typer.Option(metavar="ode|bullet", help="Of contacts.")] = "ode",
    force: Replace = False,
    smooth: Smooth = SMOOTH,
    triangles: Decimate = None,
) -> Result:
    """Write a terrain as a model and a world for Gazebo.

    Example:

      accord voxel-sphere world terrains --surface bowl --out gazebo
    """
    with results(place, "", force=force, known=is_own(place)):
        terrain, mesh, found = meshed(folder, smooth, triangles, names)
        files = write_world(
            mesh, place, world_name(terrain.name, name), friction=friction,
            voxel_size=terrain.voxel_size, detector=detector, replace=force,
        )  # fmt: skip
    return Result(replace(found, files=[*files]))


@dataclass(frozen=True)
class Before:
    """Hold the mesh before it was decimated."""

    triangles: int
    mean_error: float
    max_error: float


@dataclass(frozen=True, kw_only=True)
class Meshed:
    """Hold figures of a terrain and its mesh, and the files that were written."""

    terrain: Annotated[str, Quantity("")]
    n: Annotated[int, Quantity("voxels", "along each edge of the grid")]
    radius: Annotated[float, Quantity("voxels", "of the sphere")]
    voxel_size: Metres
    triangles: Annotated[int, Quantity("")]
    watertight: Annotated[bool, Quantity("", "closed, and facing outward")]
    volume: Annotated[float, Quantity("voxels^3")]
    error: Deviation = field(metadata=INLINE)
    size: Annotated[Array, Quantity("voxels")]
    before: Before | None = field(default=None, metadata=IF_ANY)
    files: list[Path] = field(default_factory=list)

    @property
    def metres(self) -> Annotated[Array, Quantity("m", "its size")]:
        """The size of the mesh in the world."""
        return self.size * self.voxel_size

    @property
    def decimated(self) -> Annotated[str | None, Quantity("", "from how many triangles")]:
        """What the mesh was before."""
        old = self.before
        words = "{0.triangles}, with a mean error of {0.mean_error:.4f} voxels"
        return words.format(old) if old else None


def meshed(
    folder: Path, smooth: float, triangles: int | None, names: Names
) -> tuple[Terrain, Mesh, Meshed]:
    """Return a terrain, its mesh and the figures of both.

    Raises:
        AccordError: if there is no such terrain, or its mesh is not closed and outward.
    """
    with counted(3, "meshing") as done:
        terrain = open_workspace(folder).terrain(**vars(names))
        done(1)
        mesh, before = terrain_mesh(terrain, smoothing=smooth), None
        error = deviation(mesh, terrain)
        done(1)
        if triangles is not None:
            before = Before(len(mesh.faces), error.mean_error, error.max_error)
            mesh = decimate(mesh, triangles)
            error = deviation(mesh, terrain)
        done(1)
    if not mesh.watertight or mesh.volume <= 0:
        raise AccordError(f"the mesh of {terrain.name} is not closed: use another --smooth")
    return terrain, mesh, Meshed(
        terrain=terrain.name, n=terrain.n, radius=terrain.radius, voxel_size=terrain.voxel_size,
        triangles=len(mesh.faces), watertight=mesh.watertight, volume=mesh.volume, error=error,
        size=np.ptp(mesh.vertices, axis=0), before=before,
    )  # fmt: skip
