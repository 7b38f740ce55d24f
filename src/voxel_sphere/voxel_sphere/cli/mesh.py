"""`accord voxel-sphere mesh` and `world`: a terrain for the physics engines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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

from voxel_sphere.cli.list_ import Folder
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
from voxel_sphere.terrain.sdf_model import world_name, write_world
from voxel_sphere.terrain.workspace import Terrain, open_workspace

SurfaceName = Annotated[str | None, typer.Option("--surface", help="Name of the surface.")]
WallsName = Annotated[str | None, typer.Option("--walls", help="Name of the walls.")]
WholeName = Annotated[str | None, typer.Option("--workspace", help="Name of a whole workspace.")]
Smooth = Annotated[float, typer.Option(min=0, max=10, help="Standard deviation in voxels.")]
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
    surface: SurfaceName = None,
    walls: WallsName = None,
    workspace: WholeName = None,
    smooth: Smooth = SMOOTH,
    triangles: Decimate = None,
    heights: Annotated[
        Path | None,
        typer.Option("--heights", metavar="FILE.npy", help="Also write the height field, in m."),
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
        terrain, mesh, data = meshed(
            bar, folder, smooth, triangles, surface=surface, walls=walls, workspace=workspace
        )
        field = height_field(terrain) if heights is not None else None
        write_mesh(mesh, file, terrain.voxel_size)
        if field is not None and heights is not None:
            write_npy(heights, field.heights)
    data["files"] = [str(path) for path in (file, heights) if path is not None]
    return Result(data, shown_of(data))


def world_command(
    folder: Folder,
    place: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="models/ and worlds/ are in it.")
    ],
    surface: SurfaceName = None,
    walls: WallsName = None,
    workspace: WholeName = None,
    name: Annotated[str | None, typer.Option(help="Of model and world.")] = None,
    friction: Annotated[
        float, typer.Option(help="Of the terrain; the smaller one of both surfaces counts.")
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
        terrain, mesh, data = meshed(
            bar, folder, smooth, triangles, surface=surface, walls=walls, workspace=workspace
        )
        files = write_world(
            mesh, place, world_name(terrain.name, name),
            voxel_size=terrain.voxel_size, friction=friction, detector=detector, replace=force,
        )  # fmt: skip
    data["files"] = [str(path) for path in files]
    return Result(data, shown_of(data))


def meshed(
    bar: Progress,
    folder: Path,
    smooth: float,
    triangles: int | None,
    **names: str | None,
) -> tuple[Terrain, Mesh, dict[str, Any]]:
    """Return a terrain, its mesh, and figures of it; lengths in voxels.

    Raises:
        AccordError: if there is no such terrain, or its mesh is not closed and outward.
    """
    task = bar.add_task("reading", total=4)
    terrain = open_workspace(folder).terrain(**names)
    bar.update(task, completed=1, description="meshing")
    mesh = terrain_mesh(terrain, smoothing=smooth)
    bar.update(task, completed=2, description="measuring")
    found = deviation(mesh, terrain)
    data = figures(mesh, found, terrain)
    if triangles is not None:
        bar.update(task, completed=3, description="decimating")
        before, mesh = data, decimate(mesh, triangles)
        data = figures(mesh, deviation(mesh, terrain), terrain)
        data["before"] = {key: before[key] for key in ("triangles", "mean_error", "max_error")}
    bar.update(task, completed=4, description="writing")
    if not mesh.watertight or mesh.volume <= 0:
        raise AccordError(f"the mesh of {terrain.name} is not closed: use another --smooth")
    return terrain, mesh, data


def figures(mesh: Mesh, found: Deviation, terrain: Terrain) -> dict[str, Any]:
    """Return what is known of a mesh, lengths in voxels."""
    return {
        "terrain": terrain.name,
        "n": terrain.n,
        "radius": terrain.radius,
        "voxel_size": terrain.voxel_size,
        "triangles": len(mesh.faces),
        "watertight": mesh.watertight,
        "volume": mesh.volume,
        "mean_error": found.mean,
        "max_error": found.largest,
        "against": found.against,
        "size": np.ptp(mesh.vertices, axis=0),
    }


def shown_of(data: dict[str, Any]) -> list[RenderableType]:
    """Return the figures for people."""
    size = data["voxel_size"]
    table = make_table(data["terrain"], "[voxels]", "[m]")
    for key in ("mean_error", "max_error"):
        table.add_row(key.replace("_", " "), f"{data[key]:.4f}", f"{data[key] * size:.3g}")
    table.add_row("volume, cubed", f"{data['volume']:.0f}", f"{data['volume'] * size**3:.4g}")
    spans = [" x ".join(f"{length * k:.4g}" for length in data["size"]) for k in (1.0, size)]
    table.add_row("size", *spans)
    closed = "watertight, outward" if data["watertight"] else "with holes"
    shown: list[RenderableType] = [
        table,
        Text(f"{data['triangles']} triangles, {closed}; errors against the {data['against']}"),
    ]
    if "before" in data:
        before = data["before"]
        decimated = (
            f"decimated from {before['triangles']} triangles with a mean error of "
            f"{before['mean_error']:.4f} voxels"
        )
        shown.append(Text(decimated))
    return [*shown, Text("files: " + ", ".join(data["files"]))]
