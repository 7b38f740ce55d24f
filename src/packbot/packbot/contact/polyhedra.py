"""Compiled closest points of triangles, segments and convex hulls.

`pack` turns hulls into arrays, the argument `hulls` of kernels. The kernels find closest points as
in Ericson, Real-Time Collision Detection (2005).

test_packbot_reference compares distances with those of coal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from roboaccord.contract import Array, Index
from roboaccord.numerics import kernel

from packbot.contact.solids import Hull

# Both far above the round-off of numbers near 1, 1e-16, and far below angles of real edges.
FLAT_SINE = 1e-9  # sine of the angle of two triangles; below it they are in one flat face
# Squared sine of the angle of two segments; below it they are parallel
PARALLEL_SINE_SQUARED = 1e-14


class HullArrays(NamedTuple):
    """Convex hulls in the frames of their bodies, as the kernels take them.

    What belongs to hull i is at the indices from first[i] up to, but without, first[i + 1].

    Attributes:
        vertices, first_vertex: corners of all hulls (v, 3) [m], and where each hull begins
            (h + 1,).
        planes, first_plane: outward normal and three corners of all triangles (f, 12), and where
            each hull begins (h + 1,).
        edges, first_edge: edges as pairs of indices of vertices, without diagonals of flat faces
            (e, 2), and where each hull begins (h + 1,).
    """

    vertices: Array
    first_vertex: Index
    planes: Array
    first_plane: Index
    edges: Index
    first_edge: Index


def pack(hulls: Sequence[Hull]) -> HullArrays:
    """Return h hulls, in the frames of their bodies, as arrays for kernels."""
    vertices = [hull.vertices for hull in hulls]
    planes = [np.hstack([hull.normals, hull.vertices[hull.faces].reshape(-1, 9)]) for hull in hulls]
    first_vertex, first_plane = _starts(vertices), _starts(planes)
    edges = [_edges(hull, rows) for hull, rows in zip(hulls, planes, strict=True)]
    first_edge = _starts(edges)
    edges = [pairs + first for pairs, first in zip(edges, first_vertex[:-1], strict=True)]
    all_vertices, all_planes, all_edges = map(np.concatenate, (vertices, planes, edges))
    return HullArrays(all_vertices, first_vertex, all_planes, first_plane, all_edges, first_edge)


def _starts(arrays: Sequence[Array | Index]) -> Index:
    """Return the indices at which arrays begin if they are concatenated, and the end (h + 1,)."""
    return np.cumsum([0, *map(len, arrays)])


def _edges(hull: Hull, planes: Array) -> Index:
    """Return the edges (e, 2) between triangles that are not in one plane.

    Args:
        hull: convex hull.
        planes: normal and corners of its triangles (f, 12).
    """
    sides: dict[tuple[int, int], list[int]] = {}
    for face, corners in enumerate(hull.faces):
        for i in range(3):
            ends = sorted((int(corners[i]), int(corners[(i + 1) % 3])))
            sides.setdefault((ends[0], ends[1]), []).append(face)
    sharp = [
        ends
        for ends, (a, b) in sorted(sides.items())
        if np.linalg.norm(np.cross(planes[a, :3], planes[b, :3])) > FLAT_SINE
    ]
    return np.array(sharp, dtype=np.int64)


@kernel
def closest_on_triangle(x, plane, out):
    """Find the point of a triangle a, b, c that is closest to x.

    By the regions of Ericson, Real-Time Collision Detection (2005), 5.1.5, with its names: d1 to d6
    are projections of x on the sides, va, vb, vc the barycentric coordinates up to a factor, and
    the closest point is a + v (b - a) + w (c - a).

    Args:
        x: point (3,).
        plane: normal and corners (12,).
        out: filled with the closest point (3,).

    Returns:
        whether the closest point is inside the triangle, not on its border.
    """
    d1 = d2 = d3 = d4 = d5 = d6 = 0.0
    for i in range(3):
        a, b, c = plane[3 + i], plane[6 + i], plane[9 + i]
        d1 += (b - a) * (x[i] - a)
        d2 += (c - a) * (x[i] - a)
        d3 += (b - a) * (x[i] - b)
        d4 += (c - a) * (x[i] - b)
        d5 += (b - a) * (x[i] - c)
        d6 += (c - a) * (x[i] - c)
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    inside = False
    if d1 <= 0.0 and d2 <= 0.0:  # corner a
        v, w = 0.0, 0.0
    elif d3 >= 0.0 and d4 <= d3:  # corner b
        v, w = 1.0, 0.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:  # side a b
        v, w = d1 / (d1 - d3), 0.0
    elif d6 >= 0.0 and d5 <= d6:  # corner c
        v, w = 0.0, 1.0
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:  # side a c
        v, w = 0.0, d2 / (d2 - d6)
    elif va <= 0.0 and d4 >= d3 and d5 >= d6:  # side b c
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        v = 1.0 - w
    else:
        inside = True
        v, w = vb / (va + vb + vc), vc / (va + vb + vc)
    for i in range(3):
        corner_a, corner_b, corner_c = plane[3 + i], plane[6 + i], plane[9 + i]
        out[i] = corner_a + v * (corner_b - corner_a) + w * (corner_c - corner_a)
    return inside


@kernel
def point_to_hull(x, planes, first, last, candidate, near, normal):
    """Return the signed distance of a point and a convex polyhedron [m].

    Args:
        x: point, in the frame of the polyhedron (3,) [m].
        planes: normals and corners of the triangles of all polyhedra (f, 12).
        first, last: index of the first triangle of this polyhedron, and of the one after its last.
        candidate: scratch memory for the closest point of a triangle (3,).
        near: filled with the closest point of the polyhedron (3,) [m].
        normal: filled with the unit vector from the polyhedron to the point (3,).
    """
    # The largest height of the point above a plane is its distance if it is inside (negative).
    # Outside, the distance is the smallest one to a triangle whose outer side it is on.
    highest, face, smallest = -np.inf, first, np.inf
    for f in range(first, last):
        height = 0.0
        for i in range(3):
            height += planes[f, i] * (x[i] - planes[f, 3 + i])
        if height > highest:
            highest, face = height, f
        if height <= 0.0 or height >= smallest:
            continue
        inside = closest_on_triangle(x, planes[f], candidate)
        square = 0.0
        for i in range(3):
            square += (x[i] - candidate[i]) ** 2
        distance = height if inside else np.sqrt(square)
        if distance < smallest:
            smallest = distance
            for i in range(3):
                near[i] = candidate[i]
                # The normal of the face loses no digits, unlike a difference of close points.
                normal[i] = planes[f, i] if inside else (x[i] - candidate[i]) / distance
    if highest > 0.0:
        return smallest
    for i in range(3):
        normal[i] = planes[face, i]
        near[i] = x[i] - highest * normal[i]
    return highest


@kernel
def segments(p, u, q, v, near_p, near_q):
    """Find the closest points p + s u and q + t v of two segments, with s and t from 0 to 1.

    By Ericson, Real-Time Collision Detection (2005), 5.1.9, with its names.

    Args:
        p, u: start of the first segment, and the vector along it (3,) [m].
        q, v: the same of the second segment.
        near_p, near_q: filled with the closest points (3,) [m].

    Returns:
        s and t.
    """
    a = b = e = c = f = 0.0
    for i in range(3):
        r = p[i] - q[i]
        a += u[i] * u[i]
        b += u[i] * v[i]
        e += v[i] * v[i]
        c += u[i] * r
        f += v[i] * r
    # Closest points of the lines, s clamped to the first segment; s is 0 if they are parallel.
    denominator = a * e - b * b
    s = 0.0
    if denominator > PARALLEL_SINE_SQUARED * a * e:
        s = min(max((b * f - c * e) / denominator, 0.0), 1.0)
    # The point of the second line closest to that; if it is outside the segment, s follows anew.
    t = (b * s + f) / e
    if t < 0.0:
        t, s = 0.0, min(max(-c / a, 0.0), 1.0)
    elif t > 1.0:
        t, s = 1.0, min(max((b - c) / a, 0.0), 1.0)
    for i in range(3):
        near_p[i] = p[i] + s * u[i]
        near_q[i] = q[i] + t * v[i]
    return s, t
