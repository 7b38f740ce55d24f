"""Contact patches of the sphere, with their normals.

LINKAGE and SHORTEST_LINK replace the source's r/10, for the reason below; they, SKIN and TOUCH may
be tuned, all four measured: test_voxel_walls finds patches and corners with them, and
source/described.py takes the first two. The order of patches must stay, by which hits are reported.

The source takes matches farther apart than r/10 for different contacts, which tears the patch of
one contact. Measured (facts): single linkage at 3 r/10, and never under 1.8 voxels, does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from roboaccord.contract import Array

from voxel_sphere.rolling.distance import Surfels
from voxel_sphere.rolling.field import Field

LINKAGE = 0.3  # r
SHORTEST_LINK = 1.8  # voxels, over the diagonal of a voxel
SKIN = 0.2  # r beyond the radius, and never under a voxel, from which a patch has its normal
TOUCH = 0.3  # voxels beyond the radius at which a patch touches


@dataclass(frozen=True)
class Contact:
    """A contact patch: its point (3,) [voxels], and its unit normal (3,) towards the sphere."""

    point: Array
    normal: Array


def contacts(field: Field, centre: Array) -> list[Contact]:
    """Return the patches that a sphere with a centre (3,) touches, at least the nearest, in order.

    The normal is the mean over the patch. The field's smoothed one at the centre would be off by
    13 degrees near a second wall, and is no better elsewhere (measured).
    """
    r = field.radius
    if field.surface is None:
        normal = field.normal(centre)
        return [Contact(centre - r * normal, normal)]
    away = centre - field.surface.points
    distance = np.sqrt(np.einsum("ij,ij->i", away, away))
    closest = max(float(distance.min()), r)
    skin = max(SKIN * r, 1.0)
    near = np.nonzero(distance < closest + skin)[0]
    points = field.surface.points[near]
    patch = linked(points, max(LINKAGE * r, SHORTEST_LINK))
    pairs = []
    for number in range(patch.max() + 1):
        of = near[patch == number]
        gap = float(distance[of].min())
        if gap < closest + TOUCH:
            weight = closest + skin - distance[of]  # less far out, where a corner may be near
            normal = _normal(field.surface, centre, of, weight)
            pairs.append((gap, Contact(centre - r * normal, normal)))
    pairs.sort(key=lambda pair: pair[0])
    return [contact for _, contact in pairs]


def linked(points: Array, reach: float) -> Array:
    """Return the number (k,) of the cluster of each point (k, 3), by single linkage."""
    pairs = scipy.spatial.cKDTree(points).query_pairs(reach, output_type="ndarray")
    links = scipy.sparse.coo_matrix((np.ones(len(pairs)), pairs.T), (len(points), len(points)))
    return np.asarray(scipy.sparse.csgraph.connected_components(links, directed=False)[1])


def _normal(surface: Surfels, centre: Array, pieces: Array, weight: Array) -> Array:
    """Return the mean normal (3,) of pieces of a surface, or the line from them to the centre."""
    mean = weight @ surface.normals[pieces]
    if np.linalg.norm(mean) < 0.1 * weight.sum():
        mean = weight @ (centre - surface.points[pieces])
    return np.asarray(mean / np.linalg.norm(mean))
