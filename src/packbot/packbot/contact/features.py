"""Compiled distances between features of convex hulls, and of joints from their limits.

A feature is a pair of parts of two hulls that may touch: a vertex of one hull and the other hull,
or an edge of each. The distance of two convex hulls is the smallest one of their features. Where
two faces are parallel, the distance of the hulls has a kink and its normal jumps. The distance of a
single feature is smooth there, so that contacts are computed feature by feature.

Features are integer arrays (m, 6). A row is (kind, hull a, part of a, hull b, part of b, pair):

    VERTEX         vertex of hull a, and hull b as a whole
    EDGE           edge of hull a, and edge of hull b
    LOWER, UPPER   a joint (in place of hull a) and its limit

The gap of a pair of hulls is its distance less its margin [m]; that of a limit is an angle [rad].

test_packbot_reference compares distances with those of coal, and Jacobians with finite differences.
Columns and kinds must stay, because gaps.py and forces.py read them. ROOM may be raised for hulls
with more corners.
"""

from __future__ import annotations

import numpy as np
from roboaccord.numerics import kernel

from packbot.contact.polyhedra import point_to_hull, segments
from packbot.model.chain import add_row, place_bodies, to_body, to_world

VERTEX, EDGE, LOWER, UPPER = 0, 1, 2, 3  # kinds, in the first column
KIND, HULL_A, PART_A, HULL_B, PART_B, PAIR = range(6)  # columns of a row of features
WIDTH = 6  # number of columns
# Sine of the angle between two edges; below it their crossing is only rounding. Its square is a
# difference of numbers near 1, so that sines below 1e-8 are round-off.
PARALLEL = 1e-6
# s; step of finite differences in time, in which hulls move far less than 1 mm. Their round-off is
# 1e-16 / 1e-6, and as small as GIVE of forces.py needs.
LOOK_AHEAD = 1e-6
# Times at which `measure` evaluates Jacobians, in units of LOOK_AHEAD from now.
PLAIN, TURNING = np.array([0.0]), np.array([1.0, -1.0, 0.0])
ROOM = 400  # bound of the features of a pair; faces of 12 corners have 24, and 12 x 12 of edges


@kernel
def vertex_gap(shape, owner, turn, origin, a, vertex, b, work, on_a, on_b, normal):
    """Return the signed distance of a vertex of hull a from hull b [m].

    Args:
        shape: of `polyhedra.pack`.
        owner: body of each hull (h,).
        turn, origin: rotations (n + 1, 3, 3) and origins (n + 1, 3) [m] of all bodies.
        a, b: indices of the hulls.
        vertex: index of the vertex.
        work: scratch memory (6, 3).
        on_a, on_b: filled with the closest points in the world (3,) [m].
        normal: filled with the unit vector from a to b (3,).
    """
    vertices, _, planes, first_plane, _, _ = shape
    i, j = owner[a], owner[b]
    # The vertex in the frame of hull b, its closest point there, and that in the world.
    to_world(turn[i], origin[i], vertices[vertex], on_a)
    to_body(turn[j], origin[j], on_a, work[0])
    first, last = first_plane[b], first_plane[b + 1]
    distance = point_to_hull(work[0], planes, first, last, work[1], work[2], work[3])
    to_world(turn[j], origin[j], work[2], on_b)
    for k in range(3):
        normal[k] = 0.0
        for m in range(3):
            normal[k] -= turn[j, k, m] * work[3, m]
    return distance


@kernel
def edge_ends(shape, owner, turn, origin, hull, edge, start, along):
    """Fill in the start of a hull's edge in the world, and the vector along it (3,) [m]."""
    vertices, _, _, _, edges, _ = shape
    body = owner[hull]
    to_world(turn[body], origin[body], vertices[edges[edge, 0]], start)
    to_world(turn[body], origin[body], vertices[edges[edge, 1]], along)
    for k in range(3):
        along[k] -= start[k]


@kernel
def edge_gap(shape, owner, turn, origin, a, edge_a, b, edge_b, work, on_a, on_b, normal):
    """Return the signed distance of two edges [m]; the arguments are those of `vertex_gap`."""
    edge_ends(shape, owner, turn, origin, a, edge_a, work[0], work[1])
    edge_ends(shape, owner, turn, origin, b, edge_b, work[2], work[3])
    s, t = segments(work[0], work[1], work[2], work[3], on_a, on_b)
    # Normal: across both edges if the closest points lie within them, else from point to point.
    crossing = 0.0 < s < 1.0 and 0.0 < t < 1.0
    size = along = 0.0
    for k in range(3):
        m, n = (k + 1) % 3, (k + 2) % 3
        between = on_b[k] - on_a[k]
        # Unlike `between`, the cross product loses no digits when the edges nearly touch.
        cross = work[1, m] * work[3, n] - work[1, n] * work[3, m]
        normal[k] = cross if crossing else between
        size += normal[k] ** 2
        along += normal[k] * between
    size = np.sqrt(size) if along >= 0.0 else -np.sqrt(size)
    if size == 0.0:
        return 0.0
    for k in range(3):
        normal[k] /= size
    return along / size


@kernel
def add_rows(chain, owner, origin, axis, feature, witness, direction, row):
    """Add to `row` (n,) the rate at which the points of a feature part along a direction (3,).

    `witness` has the points on a and b in its first six numbers; the others are as in `measure`.
    """
    a, b = owner[feature[HULL_A]], owner[feature[HULL_B]]
    add_row(chain, origin, axis, b, witness[3:6], direction, 1.0, row)
    add_row(chain, origin, axis, a, witness[:3], direction, -1.0, row)


@kernel
def measure(
    chain, shape, owner, limits, margins, features, q, v, shifts, gaps, rows, witnesses, bias
):
    """Compute gaps of features, their Jacobian J, contact points and normals.

    With `TURNING` as `shifts`, dJ/dt v is computed as well, by a central difference of J along the
    motion; it contains the turning of the normals. (One kernel does both, because a second one that
    called it would compile everything again.)

    Args:
        chain, shape: of `chain_of` and `pack`.
        owner: body of each hull (h,).
        limits: lower and upper angles of the joints (2, n) [rad].
        margins: margin of each pair (p,) [m].
        features: (m, 6).
        q, v: joint angles [rad] and their rates [rad/s] (n,).
        shifts: `PLAIN` or `TURNING`: times from now in units of `LOOK_AHEAD`, the last one 0.
        gaps: filled with the gaps (m,) [m, rad].
        rows: filled with J (m, n).
        witnesses: filled with the points on a and b and the normal from a to b (m, 9).
        bias: filled with dJ/dt v (m,); 0 with `PLAIN`.
    """
    bodies = len(chain[0])
    turn, origin, axis = np.empty((bodies, 3, 3)), np.empty((bodies, 3)), np.empty((bodies, 3))
    work = np.empty((6, 3))
    for f in range(len(features)):
        bias[f] = 0.0
    for shift in shifts:
        place_bodies(chain, q + shift * LOOK_AHEAD * v, turn, origin, axis)
        for f in range(len(features)):
            kind, a, i, b, j, pair = features[f]
            for k in range(len(q)):
                rows[f, k] = 0.0
            # Joint limits.
            if kind == LOWER:
                gaps[f], rows[f, a] = q[a] - limits[0, a], 1.0
                continue
            if kind == UPPER:
                gaps[f], rows[f, a] = limits[1, a] - q[a], -1.0
                continue
            # Features of hulls.
            on_a, on_b, normal = witnesses[f, :3], witnesses[f, 3:6], witnesses[f, 6:]
            if kind == VERTEX:
                distance = vertex_gap(shape, owner, turn, origin, a, i, b, work, on_a, on_b, normal)
            else:
                distance = edge_gap(
                    shape, owner, turn, origin, a, i, b, j, work, on_a, on_b, normal
                )
            gaps[f] = distance - margins[pair]
            add_rows(chain, owner, origin, axis, features[f], witnesses[f], normal, rows[f])
            # Central difference: (J(now + LOOK_AHEAD) - J(now - LOOK_AHEAD)) v / (2 LOOK_AHEAD).
            for k in range(len(q)):
                bias[f] += shift * rows[f, k] * v[k] / (2.0 * LOOK_AHEAD)


@kernel
def find_features(chain, shape, owner, q, pair, a, b, along, reach, features):
    """Write the features of hulls a and b closer than `reach` into `features`; return their number.

    Only some vertices are measured: a plane perpendicular to `along` separates the hulls, so that a
    vertex more than `reach` behind the foremost one of its hull is farther than `reach` away.

    Args:
        chain, shape, owner: as in `measure`.
        q: joint angles (n,) [rad].
        pair: index of the pair.
        a, b: indices of its hulls.
        along: unit vector between the closest points, from a to b (3,).
        reach: bound of the distance [m].
        features: filled (ROOM, 6).
    """
    vertices, first_vertex, _, _, edges, first_edge = shape
    bodies = len(chain[0])
    turn, origin, axis = np.empty((bodies, 3, 3)), np.empty((bodies, 3)), np.empty((bodies, 3))
    work, ends = np.empty((6, 3)), np.empty((3, 3))
    place_bodies(chain, q, turn, origin, axis)
    count = 0
    # Vertices: their heights along `along`, and the distances of the foremost ones.
    near = np.zeros(len(vertices), dtype=np.bool_)
    for hull, other, sign in ((a, b, 1.0), (b, a, -1.0)):
        first, last = first_vertex[hull], first_vertex[hull + 1]
        heights, top = np.empty(last - first), -np.inf
        for v in range(first, last):
            to_world(turn[owner[hull]], origin[owner[hull]], vertices[v], work[0])
            heights[v - first] = sign * (
                along[0] * work[0, 0] + along[1] * work[0, 1] + along[2] * work[0, 2]
            )
            top = max(top, heights[v - first])
        for v in range(first, last):
            near[v] = heights[v - first] > top - reach
            if near[v] and count < ROOM:
                distance = vertex_gap(
                    shape, owner, turn, origin, hull, v, other, work, ends[0], ends[1], ends[2]
                )
                if distance < reach:
                    _write(features[count], VERTEX, hull, v, other, 0, pair)
                    count += 1
    # Edges that join foremost vertices, of both hulls.
    for e in range(first_edge[a], first_edge[a + 1]):
        if not (near[edges[e, 0]] and near[edges[e, 1]]):
            continue
        for f in range(first_edge[b], first_edge[b + 1]):
            if not (near[edges[f, 0]] and near[edges[f, 1]]) or count >= ROOM:
                continue
            if _crossing(shape, owner, turn, origin, a, e, b, f, reach, work, ends):
                _write(features[count], EDGE, a, e, b, f, pair)
                count += 1
    return count


@kernel
def _write(row, kind, a, i, b, j, pair):
    """Write a feature into a row (6,)."""
    # A tuple assigned to a row would take numba six seconds to compile.
    row[0], row[1], row[2], row[3], row[4], row[5] = kind, a, i, b, j, pair


@kernel
def _crossing(shape, owner, turn, origin, a, e, b, f, reach, work, ends):
    """Return whether two edges e and f of hulls a and b are closer than `reach`, within their ends.

    Edges that are closest at an end are features of a vertex already; parallel ones have none.
    """
    edge_ends(shape, owner, turn, origin, a, e, work[0], work[1])
    edge_ends(shape, owner, turn, origin, b, f, work[2], work[3])
    aa = bb = ab = 0.0
    for k in range(3):
        aa += work[1, k] ** 2
        bb += work[3, k] ** 2
        ab += work[1, k] * work[3, k]
    if 1.0 - ab * ab / (aa * bb) < PARALLEL**2:
        return False
    s, t = segments(work[0], work[1], work[2], work[3], ends[0], ends[1])
    if not (0.0 < s < 1.0 and 0.0 < t < 1.0):
        return False
    square = 0.0
    for k in range(3):
        square += (ends[0, k] - ends[1, k]) ** 2
    return square < reach**2
