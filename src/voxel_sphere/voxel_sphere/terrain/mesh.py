"""Closed mesh of a terrain: smoothing, marching cubes, outward orientation; and its heights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import scipy
from roboaccord.contract import AccordError, Array, HeightField, Quantity, writing
from roboaccord.run import make_folder

from voxel_sphere.terrain.slices import SOLID
from voxel_sphere.terrain.workspace import Terrain

Index = npt.NDArray[np.int64]

SMOOTH = 2.0  # voxels. Less brakes a ball on the facets: docs/voxel_terrain.md
FORMATS = (".glb", ".obj", ".ply", ".stl")
FEWEST = 100  # triangles
HALF = 128  # of 255, from which on a voxel counts as filled


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
        raise AccordError(f"a mesh has {FEWEST} triangles at least, not {triangles}")
    if triangles >= len(mesh.faces):
        return mesh
    simplify = load("fast_simplification", "fast-simplification").simplify
    vertices, faces = simplify(mesh.vertices, mesh.faces.astype(np.int32), target_count=triangles)
    fewer = Mesh(vertices.astype(float), faces.astype(np.int64))
    if not fewer.watertight:
        raise AccordError(f"with {triangles} triangles the mesh has holes: ask for more")
    return fewer


def write_mesh(mesh: Mesh, path: Path, voxel_size: float) -> None:
    """Write a mesh in metres, whole or not at all; the name gives the format.

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


BORDER = 1.0  # voxels from the faces of the grid, where the mesh is cut
FINE = 1.0  # voxels: longest edge of the parts of a triangle that are looked at


@dataclass(frozen=True)
class Deviation:
    """Distance of a mesh from the terrain [voxels].

    Args:
        mean_error: over the area of the mesh.
        max_error: the largest of all.
        against: "closed form", or "slices".
    """

    mean_error: Annotated[float, Quantity("voxels", form=".4f")]
    max_error: Annotated[float, Quantity("voxels", form=".4f")]
    against: Annotated[str, Quantity("", "what errors are measured by")]


def deviation(mesh: Mesh, terrain: Terrain) -> Deviation:
    """Measure a mesh on points spread evenly over its triangles, the cut by the grid left out.

    The reference is the closed form that the terrain was generated from. Where that is not known,
    it is the surface on which the slices, not smoothed, are half filled: the steps of binary
    slices count as error then.
    """
    points, areas = map(np.concatenate, zip(*spread(mesh), strict=True))
    inner = ((points > BORDER) & (points < terrain.n - BORDER)).all(axis=1)
    points, areas = points[inner], areas[inner]
    if not len(points):
        return Deviation(0.0, 0.0, "nothing")
    if terrain.exact is not None:
        far, against = np.abs(terrain.exact(*points.T)), "closed form"
    else:
        far, against = distance_to(terrain_mesh(terrain, smoothing=0.0), points), "slices"
    return Deviation(float(np.average(far, weights=areas)), float(far.max()), against)


def spread(mesh: Mesh) -> Iterator[tuple[Array, Array]]:
    """Give points (m, 3) [voxels] and the area (m,) that each stands for.

    A triangle with a longest edge of k voxels is looked at in the middle of k^2 equal parts.
    """
    corners = mesh.corners
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(cross, axis=1) / 2
    orders = np.maximum(np.ceil(sides.max(axis=1) / FINE), 1).astype(int)
    for order in np.unique(orders):
        chosen, weights = orders == order, middles(int(order))
        points = np.einsum("pc,kcd->kpd", weights, corners[chosen]).reshape(-1, 3)
        yield points, np.repeat(areas[chosen] / order**2, order**2)


def middles(order: int) -> Array:
    """Return barycentric coordinates of the middles of order^2 equal parts of a triangle."""
    i, j = (axis.ravel() for axis in np.indices((order, order)))
    up, down = i + j < order, i + j < order - 1
    first = np.concatenate([i[up] + 1 / 3, i[down] + 2 / 3]) / order
    second = np.concatenate([j[up] + 1 / 3, j[down] + 2 / 3]) / order
    return np.stack([first, second, 1 - first - second], axis=1)


def distance_to(reference: Mesh, points: Array) -> Array:
    """Return the distance of points to a fine mesh: to the plane of the nearest triangle."""
    corners = reference.corners
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    _, nearest = scipy.spatial.cKDTree(corners.mean(axis=1)).query(points)
    return np.asarray(abs(np.einsum("ij,ij->i", points - corners[nearest, 0], normals[nearest])))


def height_field(terrain: Terrain) -> HeightField:
    """Return the height of every column [m]: what it holds, which for grey slices is exact.

    Heights of binary slices are whole voxels; they are smoothed by a Gaussian of 2 voxels.

    Raises:
        AccordError: if the terrain is not a graph: a column is empty below something solid.
    """
    solid = terrain.solid
    filled = solid >= HALF
    if (filled[:, :, 1:] & ~filled[:, :, :-1]).any():
        x, y = np.argwhere((filled[:, :, 1:] & ~filled[:, :, :-1]).any(axis=2))[0]
        raise AccordError(
            f"{terrain.name} is not a height field: the column x = {x}, y = {y} has a gap"
        )
    heights = solid.sum(axis=2) / SOLID
    if not terrain.grey:
        heights = scipy.ndimage.gaussian_filter(heights, SMOOTH, mode="nearest")
    size, corner = terrain.voxel_size, 0.5 * terrain.voxel_size  # the first column's middle
    place = np.array([corner, corner, 0.0])
    return HeightField(name="terrain", heights=heights * size, spacing=size, position=place)
