"""Error of a terrain's mesh: its distance from the closed form, or from the slices.

FINE is how densely triangles are looked at, BORDER what is left out beside the cut, STEP that of
the differences: they may be tuned, smaller is slower, but every error in docs/voxel_terrain.md is
with these. The values of `against`, part of the JSON output, stay. test_voxel_export tests the
distance of a plane.

Lengths in voxels from the grid's corner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy
from roboaccord.contract import Array, Quantity
from voxel_sphere.terrain.mesh import Mesh, terrain_mesh
from voxel_sphere.terrain.recipes import sheet_of, surface_of
from voxel_sphere.terrain.surfaces import Distance, Surface
from voxel_sphere.terrain.workspace import Terrain, Workspace

BORDER = 1.0  # voxels from the faces of the grid, where the mesh is cut
FINE = 1.0  # voxels: longest edge of the parts of a triangle that are looked at
STEP = 1e-3  # voxels, of the differences of heights


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


def deviation(mesh: Mesh, terrain: Terrain, exact: Distance | None) -> Deviation:
    """Measure a mesh on points spread evenly over its triangles, the cut by the grid left out.

    Args:
        mesh: of the terrain.
        terrain: is the reference where there is no closed form: the surface on which its slices,
            not smoothed, are half filled. The steps of binary slices count as error then.
        exact: signed distance to what the terrain was generated from; None if that is not known.
    """
    points, areas = map(np.concatenate, zip(*spread(mesh), strict=True))
    inner = ((points > BORDER) & (points < terrain.n - BORDER)).all(axis=1)
    points, areas = points[inner], areas[inner]
    if not len(points):
        return Deviation(0.0, 0.0, "nothing")
    if exact is not None:
        far, against = np.abs(exact(*points.T)), "closed form"
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


def exact_distance(workspace: Workspace, names: Sequence[str]) -> Distance | None:
    """Return the signed distance to what volumes were generated from, negative inside.

    Returns:
        None where that is not known of one of them.

    Raises:
        AccordError: if a recipe cannot be made.
    """
    known = [_of_volume(workspace, name) for name in names]
    distances = [each for each in known if each is not None]
    if not distances or len(distances) < len(known):
        return None

    def distance(x: Array, y: Array, z: Array) -> Array:
        return np.asarray(np.minimum.reduce([each(x, y, z) for each in distances]))

    return distance


def _of_volume(workspace: Workspace, name: str) -> Distance | None:
    recipe, n = workspace.settings.recipe(name), workspace.n
    radius = n / workspace.size_workspace
    if "xyz" in recipe:
        return sheet_of(recipe, n, radius).distance
    if not {"surface", "height"} & recipe.keys():
        return None
    surface = surface_of(recipe, n, radius)
    return surface.walls if workspace.kinds[name] == "walls" else ground_of(surface)


def ground_of(surface: Surface) -> Distance:
    """Return the signed distance to the ground of a surface, to first order where that is a graph.

    (z - f) / sqrt(1 + |grad f|^2), the gradient by central differences.
    """
    height = surface.height

    def distance(x: Array, y: Array, z: Array) -> Array:
        along_x = height(x + STEP, y) - height(x - STEP, y)
        along_y = height(x, y + STEP) - height(x, y - STEP)
        slope = np.hypot(along_x, along_y) / (2 * STEP)
        return np.asarray((z - height(x, y)) / np.hypot(1.0, slope))

    return surface.ground or distance
