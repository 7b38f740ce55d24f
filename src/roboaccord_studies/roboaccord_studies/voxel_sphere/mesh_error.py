"""Error of a terrain's mesh: its distance from the closed form of the terrain, or from the slices.

Points are spread evenly over the triangles of the mesh, and their distances are averaged by area.
Lengths are in voxels from the grid's corner.

The values of `against` are in the JSON output and stay. LONGEST_EDGE, BORDER_WIDTH and
GRADIENT_STEP may be tuned, but all errors in docs/voxel_terrain.md were measured with these values.
test_voxel_export tests the distance of a plane.
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

# Voxels; points this near to the grid's faces, where the mesh is cut, do not count.
BORDER_WIDTH = 1.0
# Voxels; longest edge of the parts of a triangle, each of which has a point. Terrains bend by
# little within a voxel, the finest that a grid shows.
LONGEST_EDGE = 1.0
# Voxels; step of the central differences of heights, whose error is of second order: 1e-6, and
# round-off of 100 voxels 1e-14 / 1e-3.
GRADIENT_STEP = 1e-3


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
    """Return the deviation of a mesh from a terrain, without the cut by the grid.

    Args:
        mesh: of the terrain.
        terrain: the reference without a closed form: the surface on which its slices, not
            smoothed, are half filled. The steps of binary slices then count as error.
        exact: signed distance to the closed form of the terrain; None if that is unknown.
    """
    pieces = list(points_on_mesh(mesh))
    points = np.concatenate([points for points, _ in pieces])
    areas = np.concatenate([areas for _, areas in pieces])
    inner = ((points > BORDER_WIDTH) & (points < terrain.n - BORDER_WIDTH)).all(axis=1)
    points, areas = points[inner], areas[inner]
    if not len(points):
        return Deviation(0.0, 0.0, "nothing")
    if exact is not None:
        errors, against = np.abs(exact(*points.T)), "closed form"
    else:
        errors, against = distance_to(terrain_mesh(terrain, smoothing=0.0), points), "slices"
    return Deviation(float(np.average(errors, weights=areas)), float(errors.max()), against)


def points_on_mesh(mesh: Mesh) -> Iterator[tuple[Array, Array]]:
    """Yield points (m, 3) [voxels] on the triangles, and the area (m,) of each.

    A triangle with a longest edge of k voxels has a point in the middle of each of k^2 equal parts.
    """
    corners = mesh.corners
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(cross, axis=1) / 2
    orders = np.maximum(np.ceil(sides.max(axis=1) / LONGEST_EDGE), 1).astype(int)
    for order in np.unique(orders):
        is_of_order, weights = orders == order, middles(int(order))
        points = np.einsum("pc,kcd->kpd", weights, corners[is_of_order]).reshape(-1, 3)
        yield points, np.repeat(areas[is_of_order] / order**2, order**2)


def middles(order: int) -> Array:
    """Return barycentric coordinates of the middles of order^2 equal parts of a triangle."""
    # Parts are counted along two sides; half of them point as the triangle does, half backwards.
    i, j = (axis.ravel() for axis in np.indices((order, order)))
    up, down = i + j < order, i + j < order - 1
    first = np.concatenate([i[up] + 1 / 3, i[down] + 2 / 3]) / order
    second = np.concatenate([j[up] + 1 / 3, j[down] + 2 / 3]) / order
    return np.stack([first, second, 1 - first - second], axis=1)


def distance_to(reference: Mesh, points: Array) -> Array:
    """Return the distances (m,) of points from the planes of the nearest triangles of a mesh."""
    corners = reference.corners
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    _, nearest = scipy.spatial.cKDTree(corners.mean(axis=1)).query(points)
    return np.asarray(abs(np.einsum("ij,ij->i", points - corners[nearest, 0], normals[nearest])))


def exact_distance(workspace: Workspace, names: Sequence[str]) -> Distance | None:
    """Return the signed distance to the closed forms of volumes, negative inside.

    Returns:
        None if one of them has none.

    Raises:
        AccordError: if a recipe makes no volume.
    """
    distances = [_volume_distance(workspace, name) for name in names]
    known_distances = [distance for distance in distances if distance is not None]
    if not known_distances or len(known_distances) < len(distances):
        return None

    def nearest(x: Array, y: Array, z: Array) -> Array:
        """Return the smallest of the distances at points (m,)."""
        return np.asarray(np.minimum.reduce([distance(x, y, z) for distance in known_distances]))

    return nearest


def _volume_distance(workspace: Workspace, name: str) -> Distance | None:
    """Return the signed distance to the closed form of a volume, None without one."""
    recipe, n = workspace.settings.recipe(name), workspace.n
    radius = n / workspace.size_workspace
    if "xyz" in recipe:
        return sheet_of(recipe, n, radius).distance
    if not {"surface", "height"} & recipe.keys():
        return None
    surface = surface_of(recipe, n, radius)
    return surface.walls if workspace.kinds[name] == "walls" else ground_of(surface)


def ground_of(surface: Surface) -> Distance:
    """Return the signed distance to the ground of a surface.

    For a graph it is of the first order, (z - f) / sqrt(1 + |grad f|^2), with the gradient by
    central differences.
    """
    height = surface.height

    def distance(x: Array, y: Array, z: Array) -> Array:
        """Return the distance above the graph at points (m,), of the first order."""
        along_x = height(x + GRADIENT_STEP, y) - height(x - GRADIENT_STEP, y)
        along_y = height(x, y + GRADIENT_STEP) - height(x, y - GRADIENT_STEP)
        slope = np.hypot(along_x, along_y) / (2 * GRADIENT_STEP)
        return np.asarray((z - height(x, y)) / np.hypot(1.0, slope))

    return surface.ground or distance
