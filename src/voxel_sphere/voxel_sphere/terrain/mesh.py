"""The mesh of a terrain, closed and outward, by smoothing and marching cubes; and its heights.

Physics engines take no voxels. `terrain_mesh` makes triangles of a terrain: its voxels are smoothed
by 2 G(sigma) - G(2 sigma), G being a Gaussian, which leaves curved ground where it is (`smooth`;
test_voxel_mesh compares with closed forms), and marching cubes give the surface on which half of a
voxel is filled. Meshes stay closed and outward, because DART takes no others. `height_field` is for
engines that take heights instead.

SMOOTH_SD may be tuned; it was measured by balls, which the facets of a mesh brake. A file format is
added by its ending in trimesh.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy
from roboaccord.contract import AccordError, Array, HeightField, Index, writing
from roboaccord.run import make_folder

from voxel_sphere.terrain.slices import SOLID
from voxel_sphere.terrain.workspace import Terrain

# voxels; sigma of the smoothing. With less, facets brake a ball (docs/voxel_terrain.md)
SMOOTH_SD = 2.0
MIN_FILLED = 128  # of 255; value from which on a voxel counts as filled: the first above one half


class Mesh(NamedTuple):
    """Triangles that bound the terrain, counterclockwise seen from outside.

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
        """True if each edge has two triangles of consistent orientation."""
        a, b = self.faces.ravel(), np.roll(self.faces, -1, axis=1).ravel()
        count = len(self.vertices)
        # An edge from a to b, as one number: each must occur once, and once from b to a.
        forth, back = np.sort(a * count + b), np.sort(b * count + a)
        return bool((a != b).all() and (np.diff(forth) > 0).all() and (forth == back).all())


def terrain_mesh(terrain: Terrain, *, smoothing: float = SMOOTH_SD) -> Mesh:
    """Return the mesh of a terrain, closed by the faces of the grid.

    Args:
        terrain: to be meshed.
        smoothing: standard deviation of the narrower Gaussian that smooths the voxels [voxels].

    Raises:
        AccordError: if scikit-image is missing, or nothing is left of the terrain.
    """
    field = smooth(terrain.solid, smoothing)
    if field.max() <= 0.5:
        raise AccordError(f"{terrain.name}: no solid is left of it after smoothing")
    marching_cubes = import_optional("skimage.measure", "scikit-image").marching_cubes
    # A border of empty voxels closes the mesh where the terrain is cut by the grid.
    vertices, faces, _, _ = marching_cubes(np.pad(field, 1), 0.5, allow_degenerate=False)
    # Its triangles face inward; voxel i, at i + 1 with the border, has its centre at i + 0.5.
    return Mesh(vertices.astype(float) - 0.5, faces[:, ::-1].astype(np.int64))


def smooth(solid: npt.NDArray[np.uint8], sigma: float) -> npt.NDArray[np.float32]:
    """Return the filled share of voxels, smoothed; the terrain goes on beyond the grid.

    A weighted sum of Gaussians moves the level one half of curved ground by (k1 + k2)/2 times
    sum(weight sigma) / sum(weight / sigma), with the ground's curvatures k1 and k2. A single
    Gaussian of 2 voxels moves it by 0.08 voxels in a bowl of radius 50; 2 G(sigma) - G(2 sigma)
    does not move it.

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


def mesh_file(mesh: Mesh, ending: str, voxel_size: float) -> bytes:
    """Return the content of a file of a mesh in metres.

    Args:
        mesh: mesh of the terrain.
        ending: ending of the file, such as `stl`.
        voxel_size: edge of a voxel [m].

    Raises:
        AccordError: if trimesh is missing.
    """
    triangles = import_optional("trimesh", "trimesh").Trimesh(
        mesh.vertices * voxel_size, mesh.faces, process=False, validate=False
    )
    data = triangles.export(file_type=ending)
    return data if isinstance(data, bytes) else bytes(data.encode())


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all, and its folder where there is none.

    Raises:
        AccordError: if it cannot be written, or there is a file of another kind.
    """
    make_folder(path.parent)
    with writing(path) as draft:
        draft.write_bytes(data)


def import_optional(module: str, package: str) -> Any:
    """Import a module that only meshes need.

    Raises:
        AccordError: if it is missing.
    """
    try:
        return import_module(module)
    except ImportError:
        packages = "scikit-image trimesh fast-simplification"
        raise AccordError(f"meshes need {package}: pip install {packages}") from None


def height_field(terrain: Terrain) -> HeightField:
    """Return the height of each column [m], from its content; for grey slices it is exact.

    Heights of binary slices are whole voxels; they are smoothed by a Gaussian of 2 voxels.

    Raises:
        AccordError: if the terrain is not a graph: a column is empty below something solid.
    """
    solid = terrain.solid
    filled = solid >= MIN_FILLED
    gaps = (filled[:, :, 1:] & ~filled[:, :, :-1]).any(axis=2)
    if gaps.any():
        x, y = np.argwhere(gaps)[0]
        gap = f"the column x = {x}, y = {y} has a gap"
        raise AccordError(f"{terrain.name} is not a height field: {gap}")
    heights = solid.sum(axis=2) / SOLID
    if not terrain.grey:
        heights = scipy.ndimage.gaussian_filter(heights, SMOOTH_SD, mode="nearest")
    size = terrain.voxel_size
    middle = np.array([0.5 * size, 0.5 * size, 0.0])  # of the first column
    return HeightField(name="terrain", heights=heights * size, spacing=size, position=middle)
