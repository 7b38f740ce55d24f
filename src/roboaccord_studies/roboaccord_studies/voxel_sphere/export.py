"""Commands `accord voxel-sphere mesh` and `world`: terrain as files for other programs.

A terrain is a stack of slices of voxels, cubes of equal size, inside a sphere. Both commands make
its surface a mesh of triangles, decimate it (reduce its triangles) if asked, and print its error
(mesh_error.py). `mesh` writes it as a file, `world` as a model and a world for Gazebo.

FORMATS are endings that `voxel_sphere.terrain.mesh` can write, DETECTORS the collision detectors of
Gazebo's DART that take a mesh. Fields of the results are JSON keys and stay. test_voxel_export
checks the errors, also after decimation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from roboaccord import contract
from roboaccord.cli import Result, counted, is_own, results
from roboaccord.gazebo import MATERIAL
from voxel_sphere.cli.options import DEFAULT_NAMES, Folder, Replace, VolumeNames
from voxel_sphere.terrain import mesh as meshes
from voxel_sphere.terrain.mesh import SMOOTH_SD, Mesh
from voxel_sphere.terrain.sdf_model import world_name, write_world
from voxel_sphere.terrain.workspace import Terrain, open_workspace

from roboaccord_studies.voxel_sphere.mesh_error import Deviation, deviation, exact_distance

FORMATS = (".glb", ".obj", ".ply", ".stl")
# Smallest number of triangles of a decimated mesh; fewer make no terrain: a level grid of 7 by 7
# squares has about as many.
FEWEST = 100
DETECTORS = ("ode", "bullet")
# Options of the commands. Up to 10 voxels of smoothing: more would be larger than what a terrain of
# some 100 voxels has.
SMOOTHING = typer.Option(min=0, max=10, help="Standard deviation of the smoothing.")
Smooth = Annotated[float, contract.Quantity("voxels"), SMOOTHING]
DECIMATE = typer.Option("--decimate", metavar="N", help="Approximate number of triangles.")
Decimate = Annotated[int | None, DECIMATE]
HEIGHTS = typer.Option("--heights", metavar="FILE.npy", help="Also write the heights, in metres.")
MESH_FILE = typer.Option("--out", metavar="FILE", help="File to write: .stl, .obj, .ply or .glb.")
WORLD_FOLDER = typer.Option("--out", metavar="DIR", help="Folder for models/ and worlds/.")
FRICTION = typer.Option(
    help="Friction coefficient of the terrain; the smaller one of both surfaces counts."
)
DETECTOR = typer.Option(metavar="ode|bullet", help="Collision detector.")


def mesh_command(
    folder: Folder,
    file: Annotated[Path, MESH_FILE],
    names: VolumeNames = DEFAULT_NAMES,
    smooth: Smooth = SMOOTH_SD,
    triangles: Decimate = None,
    heights: Annotated[Path | None, HEIGHTS] = None,
) -> Result:
    """Write a terrain as a closed, outward mesh in metres, and report its error.

    Examples:

      accord voxel-sphere mesh terrains --surface bowl --out bowl.stl

      accord voxel-sphere mesh terrains --surface bowl --decimate 5000 --heights bowl.npy
      --out bowl.obj --json
    """
    check_ending(file, FORMATS)
    contract.check_target(file)
    if heights is not None:
        check_ending(heights, [".npy"])
    contract.check_target(heights)
    terrain, mesh, figures = make_mesh(folder, smooth, triangles, names)
    height_files = {} if heights is None else {heights: meshes.height_field(terrain).heights}
    meshes.write_whole(file, meshes.mesh_file(mesh, file.suffix.lower()[1:], terrain.voxel_size))
    for path, values in height_files.items():
        draft = BytesIO()
        np.save(draft, values)
        meshes.write_whole(path, draft.getvalue())
    return Result(replace(figures, files=[file, *height_files]))


def world_command(
    folder: Folder,
    out_folder: Annotated[Path, WORLD_FOLDER],
    names: VolumeNames = DEFAULT_NAMES,
    name: Annotated[str | None, typer.Option(help="Name of model and world.")] = None,
    friction: Annotated[contract.Ratio, FRICTION] = 100.0,
    detector: Annotated[str, DETECTOR] = "ode",
    force: Replace = False,
    smooth: Smooth = SMOOTH_SD,
    triangles: Decimate = None,
) -> Result:
    """Write a terrain as a model and a world for Gazebo.

    Example:

      accord voxel-sphere world terrains --surface bowl --out gazebo
    """
    with results(out_folder, "", force=force, adds=is_own(out_folder)):
        terrain, mesh, figures = make_mesh(folder, smooth, triangles, names)
        name = world_name(terrain.name) if name is None else name
        check_world(out_folder, name, friction, detector, force=force)
        size = terrain.voxel_size
        files = write_world(
            mesh, out_folder, name, friction=friction, voxel_size=size, detector=detector
        )
    return Result(replace(figures, files=[*files]))


def check_world(
    out_folder: Path, name: str, friction: float, detector: str, *, force: bool
) -> None:
    """Check the options of a world, and that its files can be written.

    Raises:
        AccordError: that names the first problem.
    """
    if not re.fullmatch(r"[A-Za-z]\w*", name, flags=re.ASCII):
        raise contract.AccordError(f"{name!r} is not a name for a world: letters, digits and _")
    if detector not in DETECTORS:
        raise contract.AccordError(f"the detector is one of {', '.join(DETECTORS)}, not {detector}")
    if not friction >= 0:
        raise contract.AccordError(f"friction is {friction:g}, and must not be negative")
    model, world = out_folder / "models" / name, out_folder / "worlds" / f"{name}.sdf"
    for path in (model, world):
        if path.exists() and not force:
            raise contract.AccordError(f"{path} is there already: use another --name, or --force")
    contract.check_folder(model, ["model.*", "meshes/terrain.*", f"meshes/{MATERIAL}"])
    contract.check_inside(out_folder, world)
    contract.check_target(world)


@dataclass(frozen=True)
class BeforeDecimation:
    """A mesh before it was decimated; errors in voxels."""

    triangles: int
    mean_error: float
    max_error: float


@dataclass(frozen=True, kw_only=True)
class Meshed:
    """Figures of a terrain and its mesh, and the files that were written."""

    terrain: Annotated[str, contract.Quantity("")]
    n: Annotated[int, contract.Quantity("voxels", "along each edge of the grid")]
    radius: Annotated[float, contract.Quantity("voxels", "of the sphere")]
    voxel_size: contract.Metres
    triangles: Annotated[int, contract.Quantity("")]
    watertight: Annotated[bool, contract.Quantity("", "closed, and facing outward")]
    volume: Annotated[float, contract.Quantity("voxels^3")]
    error: Deviation = field(metadata=contract.INLINE)
    size: Annotated[contract.Array, contract.Quantity("voxels")]
    before: BeforeDecimation | None = field(default=None, metadata=contract.IF_ANY)
    files: list[Path] = field(default_factory=list)

    @property
    def metres(self) -> Annotated[contract.Array, contract.Quantity("m", "its size")]:
        """Size of the mesh in metres."""
        return self.size * self.voxel_size

    @property
    def decimated(self) -> Annotated[str | None, contract.Quantity("", "from how many triangles")]:
        """The mesh before it was decimated, in words."""
        if self.before is None:
            return None
        error = self.before.mean_error
        return f"{self.before.triangles}, with a mean error of {error:.4f} voxels"


def make_mesh(
    folder: Path, smooth: float, triangles: int | None, names: VolumeNames
) -> tuple[Terrain, Mesh, Meshed]:
    """Return a terrain, its mesh and the figures of both.

    Raises:
        AccordError: if there is no such terrain, or its mesh is not closed and outward.
    """
    with counted(3, "meshing") as done:
        opened = open_workspace(folder)
        terrain = opened.terrain(**vars(names))
        exact = exact_distance(opened, opened.select(**vars(names)))
        done(1)
        mesh, before = meshes.terrain_mesh(terrain, smoothing=smooth), None
        error = deviation(mesh, terrain, exact)
        done(1)
        if triangles is not None:
            before = BeforeDecimation(len(mesh.faces), error.mean_error, error.max_error)
            mesh = decimate(mesh, triangles)
            error = deviation(mesh, terrain, exact)
        done(1)
    if not mesh.watertight or mesh.volume <= 0:
        name = terrain.name
        raise contract.AccordError(f"the mesh of {name} is not closed: use another --smooth")
    figures = Meshed(
        terrain=terrain.name,
        n=terrain.n,
        radius=terrain.radius,
        voxel_size=terrain.voxel_size,
        triangles=len(mesh.faces),
        watertight=mesh.watertight,
        volume=mesh.volume,
        error=error,
        size=np.ptp(mesh.vertices, axis=0),
        before=before,
    )
    return terrain, mesh, figures


def decimate(mesh: Mesh, triangles: int) -> Mesh:
    """Return a mesh with about `triangles` triangles, simplified by quadric error.

    Raises:
        AccordError: if fast-simplification is missing, or so few triangles leave holes.
    """
    if triangles < FEWEST:
        raise contract.AccordError(f"a mesh has {FEWEST} triangles at least, not {triangles}")
    if triangles >= len(mesh.faces):
        return mesh
    simplify = meshes.import_optional("fast_simplification", "fast-simplification").simplify
    vertices, faces = simplify(mesh.vertices, mesh.faces.astype(np.int32), target_count=triangles)
    decimated = Mesh(vertices.astype(float), faces.astype(np.int64))
    if not decimated.watertight:
        raise contract.AccordError(f"with {triangles} triangles the mesh has holes: ask for more")
    return decimated


def check_ending(path: Path, endings: Sequence[str]) -> None:
    """Check the ending of a file's name.

    Raises:
        AccordError: if it is none of the endings.
    """
    if path.suffix.lower() not in endings:
        raise contract.AccordError(f"{path}: its name must end with {' or '.join(endings)}")
