"""`accord voxel-sphere mesh` and `world`: a terrain for the physics engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import RenderableType
from rich.progress import Progress
from rich.text import Text
from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table, progress
from roboaccord.cli.folder import is_own, results
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import check_target
from roboaccord.contract.results import IF_ANY, Metres, Quantity, Ratio
from roboaccord.contract.state import Array

from voxel_sphere.cli.list_ import Folder, Voxels
from voxel_sphere.terrain.heights import height_field
from voxel_sphere.terrain.mesh import (
    FORMATS,
    SMOOTH,
    Mesh,
    check_ending,
    decimate,
    deviation,
    terrain_mesh,
    write_mesh,
    write_npy,
)
from voxel_sphere.terrain.sdf_model import world_name, write_world
from voxel_sphere.terrain.workspace import Terrain, open_workspace


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
    with progress() as bar:
        terrain, mesh, found = meshed(bar, folder, smooth, triangles, names)
        field = height_field(terrain) if heights is not None else None
        write_mesh(mesh, file, terrain.voxel_size)
        if field is not None and heights is not None:
            write_npy(heights, field.heights)
    found = replace(found, files=[path for path in (file, heights) if path is not None])
    return Result(found, shown_of(found))


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
    with results(place, "", force=force, known=is_own(place)), progress() as bar:
        terrain, mesh, found = meshed(bar, folder, smooth, triangles, names)
        files = write_world(
            mesh, place, world_name(terrain.name, name),
            voxel_size=terrain.voxel_size, friction=friction, detector=detector, replace=force,
        )  # fmt: skip
    found = replace(found, files=files)
    return Result(found, shown_of(found))


@dataclass(frozen=True)
class Before:
    """Hold what a mesh was before it was decimated."""

    triangles: int
    mean_error: Voxels
    max_error: Voxels


@dataclass(frozen=True, kw_only=True)
class Meshed:
    """Hold what is known of the mesh of a terrain, its deviation, and the files written."""

    terrain: str
    n: int
    radius: Voxels
    voxel_size: Metres
    triangles: int
    watertight: bool
    volume: Annotated[float, Quantity("voxels^3")]
    mean_error: Voxels
    max_error: Voxels
    against: str
    size: Annotated[Array, Quantity("voxels")]
    before: Before | None = field(default=None, metadata=IF_ANY)
    files: Sequence[Path] = ()

    @classmethod
    def of(cls, mesh: Mesh, terrain: Terrain) -> Meshed:
        """Measure a mesh."""
        found = deviation(mesh, terrain)
        return cls(
            terrain=terrain.name,
            n=terrain.n,
            radius=terrain.radius,
            voxel_size=terrain.voxel_size,
            triangles=len(mesh.faces),
            watertight=mesh.watertight,
            volume=mesh.volume,
            mean_error=found.mean,
            max_error=found.largest,
            against=found.against,
            size=np.ptp(mesh.vertices, axis=0),
        )


def meshed(
    bar: Progress, folder: Path, smooth: float, triangles: int | None, names: Names
) -> tuple[Terrain, Mesh, Meshed]:
    """Return a terrain, its mesh, and figures of it.

    Raises:
        AccordError: if there is no such terrain, or its mesh is not closed and outward.
    """
    task = bar.add_task("reading", total=4)
    terrain = open_workspace(folder).terrain(**vars(names))
    bar.update(task, completed=1, description="meshing")
    mesh = terrain_mesh(terrain, smoothing=smooth)
    bar.update(task, completed=2, description="measuring")
    found = Meshed.of(mesh, terrain)
    if triangles is not None:
        bar.update(task, completed=3, description="decimating")
        before = Before(found.triangles, found.mean_error, found.max_error)
        mesh = decimate(mesh, triangles)
        found = replace(Meshed.of(mesh, terrain), before=before)
    bar.update(task, completed=4, description="writing")
    if not mesh.watertight or mesh.volume <= 0:
        raise AccordError(f"the mesh of {terrain.name} is not closed: use another --smooth")
    return terrain, mesh, found


def shown_of(found: Meshed) -> list[RenderableType]:
    """Return the figures for people."""
    size = found.voxel_size
    table = make_table(found.terrain, "[voxels]", "[m]")
    for name, error in (("mean error", found.mean_error), ("max error", found.max_error)):
        table.add_row(name, f"{error:.4f}", f"{error * size:.3g}")
    table.add_row("volume, cubed", f"{found.volume:.0f}", f"{found.volume * size**3:.4g}")
    spans = [" x ".join(f"{length * k:.4g}" for length in found.size) for k in (1.0, size)]
    table.add_row("size", *spans)
    closed = "watertight, outward" if found.watertight else "with holes"
    lines = [f"{found.triangles} triangles, {closed}; errors against the {found.against}"]
    if before := found.before:
        lines.append(
            f"decimated from {before.triangles} triangles with a mean error of "
            f"{before.mean_error:.4f} voxels"
        )
    return [table, *map(Text, lines), Text(f"files: {', '.join(map(str, found.files))}")]
