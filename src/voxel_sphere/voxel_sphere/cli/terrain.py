"""Terrains: what a workspace holds, and meshes and worlds of it for the physics engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
from roboaccord.cli.rendering import tables_of
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import check_target
from roboaccord.contract.results import Json, Quantity, Ratio, by_fields, to_json

from voxel_sphere.terrain.heights import height_field
from voxel_sphere.terrain.mesh import (
    FORMATS,
    SMOOTH,
    Deviation,
    Mesh,
    check_ending,
    decimate,
    deviation,
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
    grey: bool
    filled: Annotated[float, Quantity("1", form=".1f", shown="%")]
    z: Annotated[tuple[int, int], Quantity("voxels")]
    recipe: Recipe | None

    @property
    def slices(self) -> Annotated[str, Quantity("", form="s")]:
        """Of which kind they are."""
        return "grey" if self.grey else "binary"


def list_command(folder: Folder) -> Result:
    """List the robot, surfaces, walls and workspaces of a folder of slices; all are read.

    Example:

      accord voxel-sphere list terrains
    """
    found = open_workspace(folder)
    with progress() as bar:
        task = bar.add_task("reading", total=len(found.kinds) * found.n)
        rows = volumes(found, lambda count: bar.advance(task, count))
    names = ("path", "n", "radius", "size_workspace", "voxel_size")
    data = {name: to_json(getattr(found, name)) for name in names}
    n, size, r = found.n, found.voxel_size, found.radius
    lines = [
        f"{found.path}: {n} x {n} x {n} voxels of {size:g} m,",
        f"sphere of radius {r:.3f} voxels = {r * size:.4g} m",
    ]
    table = tables_of(rows, "name", "kind", "slices", "filled", "z", kind=VolumeRow)
    return Result({**data, "volumes": to_json(rows)}, [*lines, *table])


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
    with progress() as bar:
        found = meshed(bar, folder, smooth, triangles, names)
        field = height_field(found.terrain) if heights is not None else None
        write_mesh(found.mesh, file, found.terrain.voxel_size)
        if field is not None and heights is not None:
            write_npy(heights, field.heights)
    return found.result([path for path in (file, heights) if path is not None])


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
        found = meshed(bar, folder, smooth, triangles, names)
        files = write_world(
            found.mesh, place, world_name(found.terrain.name, name), friction=friction,
            voxel_size=found.terrain.voxel_size, detector=detector, replace=force,
        )  # fmt: skip
    return found.result(files)


@dataclass(frozen=True)
class Meshed:
    """Hold a terrain, its mesh with its deviation, and the mesh before it was decimated."""

    terrain: Terrain
    mesh: Mesh
    error: Deviation
    before: Meshed | None = None

    def to_json(self) -> dict[str, Json]:
        """Return figures of terrain and mesh by name; lengths in voxels, but voxels in m."""
        terrain, mesh, before = self.terrain, self.mesh, self.before
        more: dict[str, Json] = {}
        if before is not None:
            errors = {"mean_error": before.error.mean_error, "max_error": before.error.max_error}
            more["before"] = {"triangles": len(before.mesh.faces), **errors}
        return {
            "terrain": terrain.name,
            "n": terrain.n,
            "radius": terrain.radius,
            "voxel_size": terrain.voxel_size,
            "triangles": len(mesh.faces),
            "watertight": mesh.watertight,
            "volume": mesh.volume,
            **by_fields(self.error),
            "size": np.ptp(mesh.vertices, axis=0).tolist(),
            **more,
        }

    def result(self, files: Sequence[Path]) -> Result:
        """Return the figures and the files that were written."""
        data = {**self.to_json(), "files": to_json(files)}
        return Result(data, [*self.shown(), Text(f"files: {', '.join(map(str, files))}")])

    def shown(self) -> list[RenderableType]:
        """Return the figures for people."""
        mesh, size, error = self.mesh, self.terrain.voxel_size, self.error
        table = make_table(self.terrain.name, "[voxels]", "[m]")
        for name, value in (("mean error", error.mean_error), ("max error", error.max_error)):
            table.add_row(name, f"{value:.4f}", f"{value * size:.3g}")
        table.add_row("volume, cubed", f"{mesh.volume:.0f}", f"{mesh.volume * size**3:.4g}")
        lengths = np.ptp(mesh.vertices, axis=0)
        spans = [" x ".join(f"{length * k:.4g}" for length in lengths) for k in (1.0, size)]
        table.add_row("size", *spans)
        closed = "watertight, outward" if mesh.watertight else "with holes"
        lines = [f"{len(mesh.faces)} triangles, {closed}; errors against the {error.against}"]
        if before := self.before:
            lines.append(
                f"decimated from {len(before.mesh.faces)} triangles with a mean error of "
                f"{before.error.mean_error:.4f} voxels"
            )
        return [table, *map(Text, lines)]


def meshed(
    bar: Progress, folder: Path, smooth: float, triangles: int | None, names: Names
) -> Meshed:
    """Return a terrain and its mesh.

    Raises:
        AccordError: if there is no such terrain, or its mesh is not closed and outward.
    """
    task = bar.add_task("reading", total=4)
    terrain = open_workspace(folder).terrain(**vars(names))
    bar.update(task, completed=1, description="meshing")
    mesh = terrain_mesh(terrain, smoothing=smooth)
    bar.update(task, completed=2, description="measuring")
    found = Meshed(terrain, mesh, deviation(mesh, terrain))
    if triangles is not None:
        bar.update(task, completed=3, description="decimating")
        mesh = decimate(mesh, triangles)
        found = Meshed(terrain, mesh, deviation(mesh, terrain), before=found)
    bar.update(task, completed=4, description="writing")
    if not mesh.watertight or mesh.volume <= 0:
        raise AccordError(f"the mesh of {terrain.name} is not closed: use another --smooth")
    return found
