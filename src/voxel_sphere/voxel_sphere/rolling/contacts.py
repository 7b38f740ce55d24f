"""Contact patches of the sphere, with their normals.

When a rolling sphere hits a wall, `touching_patches` returns the walls that it touches, for
motion.py and heavy.py. The surface is stored as small pieces (surfels). Pieces near the sphere are
grouped by single linkage: two belong together if a chain of pieces joins them in which neighbours
are at most the linkage apart. Each group that the sphere touches is a patch, and the patch's normal
is the mean over its pieces. The source (the description of a MATLAB program, docs/voxel_sphere.md)
separates contacts that are farther apart than r/10, which tears the patch of one contact apart; a
linkage of 3 r/10, and never less than 1.8 voxels, does not (measured, docs/voxel_rolling.md).

Patches are returned nearest first, and hits are reported in this order, so it stays. The constants
are measured and may be tuned; source/described.py uses LINKAGE and SHORTEST_LINK, too.
test_voxel_walls finds patches and corners with them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from roboaccord.contract import Array

from voxel_sphere.rolling.distance import Surfels
from voxel_sphere.rolling.field import Field

LINKAGE = 0.3  # r; pieces up to this far apart belong to one patch; the source's 0.1 tears it apart
SHORTEST_LINK = 1.8  # voxels; smallest linkage, more than the diagonal of a voxel
# r, at least a voxel; depth beyond the sphere of the pieces that give a patch its normal. On a
# plane these are within 0.66 r of the contact; docs/voxel_rolling.md has the errors of headings
# that follow from such normals, while pieces within r/10 yield an axis of the grid.
SKIN_DEPTH = 0.2
# voxels; a patch touches if it is this near to the sphere, or to the nearest piece: pieces are off
# by some 0.1 voxel (docs/voxel_terrain.md), and both walls of a corner must count as touching.
TOUCH_MARGIN = 0.3
# Length of a mean normal below which the pieces' normals cancel: it is near 1 for one face, 0.7 for
# a right-angled edge, and near 0 for both faces of a thin wall.
MIN_MEAN_NORMAL = 0.1


class Contact(NamedTuple):
    """A contact patch: its point (3,) [voxels], and its unit normal (3,) towards the sphere."""

    point: Array
    normal: Array


def touching_patches(field: Field, centre: Array) -> list[Contact]:
    """Return the patches that a sphere at a centre (3,) touches, nearest first; at least one.

    Normals are computed from the pieces, for the field's smoothed normal at the centre is wrong by
    13 degrees near a second wall, and no better elsewhere (measured).
    """
    r = field.radius
    if field.surface is None:
        normal = field.normal(centre)
        return [Contact(centre - r * normal, normal)]
    gaps = centre - field.surface.points
    distance = np.sqrt(np.einsum("ij,ij->i", gaps, gaps))
    closest = max(float(distance.min()), r)
    skin = max(SKIN_DEPTH * r, 1.0)
    nearby = np.nonzero(distance < closest + skin)[0]
    points = field.surface.points[nearby]
    patches = cluster_numbers(points, max(LINKAGE * r, SHORTEST_LINK))
    touching = []  # distance and contact of each patch that touches
    for number in range(patches.max() + 1):
        pieces = nearby[patches == number]
        gap = float(distance[pieces].min())
        if gap < closest + TOUCH_MARGIN:
            weight = closest + skin - distance[pieces]  # small at the edge, near corners
            normal = _normal(field.surface, centre, pieces, weight)
            touching.append((gap, Contact(centre - r * normal, normal)))
    touching.sort(key=lambda pair: pair[0])
    return [contact for _, contact in touching]


def cluster_numbers(points: Array, reach: float) -> Array:
    """Return the number (k,) of the cluster of each point (k, 3), by single linkage."""
    pairs = scipy.spatial.cKDTree(points).query_pairs(reach, output_type="ndarray")
    links = scipy.sparse.coo_matrix((np.ones(len(pairs)), pairs.T), (len(points), len(points)))
    return np.asarray(scipy.sparse.csgraph.connected_components(links, directed=False)[1])


def _normal(surface: Surfels, centre: Array, pieces: Array, weight: Array) -> Array:
    """Return the mean normal (3,) of pieces of a surface, weighted (k,).

    Where normals cancel or are missing it is the mean direction from the pieces to the centre.
    """
    mean = weight @ surface.normals[pieces]
    if np.linalg.norm(mean) < MIN_MEAN_NORMAL * weight.sum():
        mean = weight @ (centre - surface.points[pieces])
    return np.asarray(mean / np.linalg.norm(mean))
