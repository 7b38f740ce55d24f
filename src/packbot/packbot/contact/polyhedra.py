"""Convex polyhedra as kernels take them: closest points of triangles, segments and hulls.

`pack` turns hulls into arrays, which kernels take as `shape`. The kernels find closest points by
the regions of Ericson, Real-Time Collision Detection (2005).

The geometry is fixed: test_packbot_reference compares distances with coal's. FLAT and DEGENERATE
are bounds of rounding and stay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from roboaccord.contract import Array, Index
from roboaccord.numerics import kernel

from packbot.contact.solids import Hull

FLAT = 1e-9  # sine of the angle below which two triangles lie in one face
DEGENERATE = 1e-14  # squared sine of the angle below which two segments are parallel


def pack(hulls: Sequence[Hull]) -> tuple[Array | Index, ...]:
    """Return hulls in the frames of their bodies, in their order, as kernels take a `shape`.

    Returns:
        vertices of all (v, 3) [m], and the index of the first of each, and the end (h + 1,);
        outward normals and corners of all triangles (f, 12), and where they start; pairs of indices
        into the vertices, the edges without the diagonals of faces (e, 2), and where they start.
    """
    vertices = [hull.vertices for hull in hulls]
    corners = [hull.vertices[hull.faces].transpose(1, 0, 2) for hull in hulls]
    planes = [np.column_stack([h.normals, *c]) for h, c in zip(hulls, corners, strict=True)]
    edges = [_edges(hull, rows) for hull, rows in zip(hulls, planes, strict=True)]
    starts = [np.cumsum([0, *map(len, arrays)]) for arrays in (vertices, planes, edges)]
    moved = [pairs + start for pairs, start in zip(edges, starts[0], strict=False)]
    packed = (np.concatenate(arrays) for arrays in (vertices, planes, moved))
    return tuple(array for pair in zip(packed, starts, strict=True) for array in pair)


def _edges(hull: Hull, planes: Array) -> Index:
    """Return the edges (e, 2) between triangles that are not in one plane."""
    sides: dict[tuple[int, int], list[int]] = {}
    for face, corners in enumerate(hull.faces):
        for i in range(3):
            ends = sorted((int(corners[i]), int(corners[(i + 1) % 3])))
            sides.setdefault((ends[0], ends[1]), []).append(face)
    sharp = [
        ends
        for ends, (a, b) in sorted(sides.items())
        if np.linalg.norm(np.cross(planes[a, :3], planes[b, :3])) > FLAT
    ]
    return np.array(sharp, dtype=np.int64)


@kernel
def closest_on_triangle(x, plane, out):
    """Fill `out` with the point of a triangle closest to x; return whether it is inside it.

    Args:
        x: point (3,).
        plane: normal and corners (12,).
        out: (3,).

    By the regions of Ericson, Real-Time Collision Detection (2005), 5.1.5.
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
    if d1 <= 0.0 and d2 <= 0.0:
        v, w = 0.0, 0.0
    elif d3 >= 0.0 and d4 <= d3:
        v, w = 1.0, 0.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v, w = d1 / (d1 - d3), 0.0
    elif d6 >= 0.0 and d5 <= d6:
        v, w = 0.0, 1.0
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        v, w = 0.0, d2 / (d2 - d6)
    elif va <= 0.0 and d4 >= d3 and d5 >= d6:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        v = 1.0 - w
    else:
        inside = True
        v, w = vb / (va + vb + vc), vc / (va + vb + vc)
    for i in range(3):
        out[i] = (
            plane[3 + i] + v * (plane[6 + i] - plane[3 + i]) + w * (plane[9 + i] - plane[3 + i])
        )
    return inside


@kernel
def point_to_hull(x, planes, first, last, spot, near, normal):
    """Return the signed distance of a point and a polyhedron [m].

    Args:
        x: point, in the frame of the polyhedron (3,) [m].
        planes: of all polyhedra; those from `first` to `last` are this one's.
        spot: used up (3,).
        near: filled with the closest point of the polyhedron (3,).
        normal: filled with the unit vector from the polyhedron to the point (3,).
    """
    deepest, flat, least = -np.inf, first, np.inf
    for f in range(first, last):
        height = 0.0
        for i in range(3):
            height += planes[f, i] * (x[i] - planes[f, 3 + i])
        if height > deepest:
            deepest, flat = height, f
        if height <= 0.0 or height >= least:
            continue
        inside = closest_on_triangle(x, planes[f], spot)
        square = 0.0
        for i in range(3):
            square += (x[i] - spot[i]) ** 2
        distance = height if inside else np.sqrt(square)
        if distance < least:
            least = distance
            for i in range(3):
                near[i] = spot[i]
                # A face's own normal has no rounding of a small difference in it.
                normal[i] = planes[f, i] if inside else (x[i] - spot[i]) / distance
    if deepest > 0.0:
        return least
    for i in range(3):
        normal[i] = planes[flat, i]
        near[i] = x[i] - deepest * normal[i]
    return deepest


@kernel
def segments(p, u, q, v, near_p, near_q):
    """Fill in the closest points of segments p + s u and q + t v; return s and t, 0 to 1.

    Ericson, 5.1.9.
    """
    a = b = e = c = f = 0.0
    for i in range(3):
        r = p[i] - q[i]
        a += u[i] * u[i]
        b += u[i] * v[i]
        e += v[i] * v[i]
        c += u[i] * r
        f += v[i] * r
    denominator = a * e - b * b
    s = 0.0
    if denominator > DEGENERATE * a * e:
        s = min(max((b * f - c * e) / denominator, 0.0), 1.0)
    t = (b * s + f) / e
    if t < 0.0:
        t, s = 0.0, min(max(-c / a, 0.0), 1.0)
    elif t > 1.0:
        t, s = 1.0, min(max((b - c) / a, 0.0), 1.0)
    for i in range(3):
        near_p[i] = p[i] + s * u[i]
        near_q[i] = q[i] + t * v[i]
    return s, t
