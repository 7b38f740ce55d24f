"""Closed mesh of a terrain: smoothing, marching cubes, outward orientation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import writing
from roboaccord.run.output import make_folder

from voxel_sphere.terrain.slices import SOLID
from voxel_sphere.terrain.workspace import Terrain

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

SMOOTH = 2.0  # voxels. Less brakes a ball on the facets: docs/voxel_terrain.md
FORMATS = (".glb", ".obj", ".ply", ".stl")
FEWEST = 100  # triangles


@dataclass(frozen=True)
class Mesh:
    """Triangles that bound the terrain, outward (counterclockwise from outside).

    Args:
        vertices: (m, 3) [voxels].
        faces: (k, 3), indices into them.
    """

    vertices: Array
    faces: Index

    @property
    def corners(self) -> Array:
        """Corners of the triangles, (k, 3, 3) [voxels]."""
        return self.vertices[self.faces]

    @property
    def volume(self) -> float:
        """Enclosed volume, positive with outward orientation [voxels^3]."""
        a, b, c = np.moveaxis(self.corners - self.vertices.mean(axis=0), 1, 0)
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)

    @property
    def watertight(self) -> bool:
        """True if every edge has two triangles of consistent orientation."""
        a, b = self.faces.ravel(), np.roll(self.faces, -1, axis=1).ravel()
        count = len(self.vertices)
        there, back = np.sort(a * count + b), np.sort(b * count + a)
        return bool((a != b).all() and (np.diff(there) > 0).all() and (there == back).all())


def terrain_mesh(terrain: Terrain, *, smoothing: float = SMOOTH) -> Mesh:
    """Return the mesh of a terrain, closed by the faces of the grid.

    Args:
        terrain: to be meshed.
        smoothing: see `smooth` [voxels].

    Raises:
        AccordError: if scikit-image is missing, or nothing is left of the terrain.
    """
    field = smooth(terrain.solid, smoothing)
    if field.max() <= 0.5:
        raise AccordError(f"{terrain.name}: no solid is left of it after smoothing")
    marching_cubes = load("skimage.measure", "scikit-image").marching_cubes
    # A border of empty voxels closes the mesh where the terrain is cut by the grid.
    vertices, faces, _, _ = marching_cubes(np.pad(field, 1), 0.5, allow_degenerate=False)
    # Its triangles face inward; voxel i, at i + 1 with the border, has its centre at i + 0.5.
    return Mesh(vertices.astype(float) - 0.5, faces[:, ::-1].astype(np.int64))


def smooth(solid: npt.NDArray[np.uint8], sigma: float) -> npt.NDArray[np.float32]:
    """Return the filled part of voxels, smoothed, the terrain going on beyond the grid.

    A weighted sum of Gaussians moves the half level of curved ground by (k1 + k2)/2 times
    sum(weight sigma) / sum(weight / sigma), k1 and k2 its curvatures: that of one Gaussian of 2
    voxels by 0.08 voxels in a bowl of radius 50. 2 G(sigma) - G(2 sigma) leaves it where it is.

    Args:
        solid: (n, n, n), 0 empty to 255 solid.
        sigma: standard deviation of the narrower Gaussian [voxels].
    """
    content = solid.astype(np.float32) / np.float32(SOLID)
    if sigma == 0:
        return content
    narrow = scipy.ndimage.gaussian_filter(content, sigma, mode="nearest")
    wide = scipy.ndimage.gaussian_filter(content, 2 * sigma, mode="nearest")
    # Beyond 0 and 1 it would move the faces of the grid, which close the mesh.
    return np.asarray(np.clip(2 * narrow - wide, 0, 1), np.float32)


def decimate(mesh: Mesh, triangles: int) -> Mesh:
    """Return a mesh with about as many triangles as asked for, by quadric error.

    Raises:
        AccordError: if fast-simplification is missing, or so few cannot be watertight.
    """
    if triangles < FEWEST:
        raise AccordError(f"a mesh of {triangles} triangles is none; {FEWEST} at least")
    if triangles >= len(mesh.faces):
        return mesh
    simplify = load("fast_simplification", "fast-simplification").simplify
    vertices, faces = simplify(mesh.vertices, mesh.faces.astype(np.int32), target_count=triangles)
    fewer = Mesh(vertices.astype(float), faces.astype(np.int64))
    if not fewer.watertight:
        raise AccordError(f"with {triangles} triangles the mesh has holes: ask for more")
    return fewer


def write_mesh(mesh: Mesh, path: Path, voxel_size: float) -> None:
    """Write a mesh in metres, whole or not at all; the name tells the format.

    Raises:
        AccordError: for an unknown format, if trimesh is missing, or it cannot be written.
    """
    check_ending(path, FORMATS)
    made = load("trimesh", "trimesh").Trimesh(
        mesh.vertices * voxel_size, mesh.faces, process=False, validate=False
    )
    data = made.export(file_type=path.suffix.lower()[1:])
    write_whole(path, data if isinstance(data, bytes) else data.encode())


def write_npy(path: Path, array: Array) -> None:
    """Write an array as numpy's .npy, whole or not at all.

    Raises:
        AccordError: for another ending, or if it cannot be written.
    """
    check_ending(path, [".npy"])
    draft = BytesIO()
    np.save(draft, array)
    write_whole(path, draft.getvalue())


def check_ending(path: Path, endings: Sequence[str]) -> None:
    """Complain about the name of a file.

    Raises:
        AccordError: unless it has one of the endings.
    """
    if path.suffix.lower() not in endings:
        raise AccordError(f"{path}: its name must end with {' or '.join(endings)}")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all, and its folder where there is none.

    Raises:
        AccordError: if it cannot be written, or there is a file of another kind.
    """
    make_folder(path.parent)
    with writing(path) as draft:
        draft.write_bytes(data)


def load(module: str, package: str) -> Any:
    """Import what only meshes need.

    Raises:
        AccordError: if it is missing.
    """
    try:
        return import_module(module)
    except ImportError:
        raise AccordError(
            f"meshes need {package}: pip install scikit-image trimesh fast-simplification"
        ) from None
