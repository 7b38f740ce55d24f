"""Error of a mesh against the terrain's closed form, or else its slices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from voxel_sphere.terrain.mesh import Array, Mesh, terrain_mesh
from voxel_sphere.terrain.workspace import Terrain

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

    mean_error: float
    max_error: float
    against: str


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
