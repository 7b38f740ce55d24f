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
Columns and kinds must stay, because gaps.py and friction.py read them. MAX_PAIR_FEATURES may be
raised for hulls with more corners.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from roboaccord.contract import Array, Index
from roboaccord.numerics import kernel

from packbot.contact.polyhedra import HullArrays, point_to_hull, segments
from packbot.model.chain import Chain, add_jacobian, new_frames, place_bodies, to_body, to_world

VERTEX, EDGE, LOWER, UPPER = range(4)  # kinds of features, in the first column
KIND, HULL_A, PART_A, HULL_B, PART_B, PAIR = range(6)  # columns of a row of features
WIDTH = 6  # number of columns
# Sine of the angle between two edges; below it their crossing is only rounding. Its square is a
# difference of numbers near 1, so that sines below 1e-8 are round-off.
PARALLEL = 1e-6
# s; step of finite differences in time, in which hulls move far less than 1 mm. Their round-off is
# 1e-16 / 1e-6, and as small as COMPLIANCE of forces.py needs.
LOOK_AHEAD = 1e-6
# Times at which `measure` evaluates Jacobians, in units of LOOK_AHEAD from now.
PLAIN, TURNING = np.array([0.0]), np.array([1.0, -1.0, 0.0])
# Bound of the features of a pair: faces of 12 corners have 24 of vertices, and 12 x 12 of edges
MAX_PAIR_FEATURES = 400


class HullModel(NamedTuple):
    """The hulls of an arm and its obstacles, with the joints that move them, as kernels take them.

    Attributes:
        chain: joints and bodies of the arm.
        hulls: the h hulls, in the frames of their bodies.
        owner: body of each hull (h,); 0 is the world.
    """

    chain: Chain
    hulls: HullArrays
    owner: Index


class GapMeasures(NamedTuple):
    """Gaps of m features and their derivatives, which `measure` fills.

    Attributes:
        gaps: (m,) [m, rad].
        jacobian: J, their derivatives by the joint angles (m, n).
        witnesses: closest points on a and b, and the unit normal from a to b (m, 9).
        bias: dJ/dt v (m,), or 0 with `PLAIN`.
    """

    gaps: Array
    jacobian: Array
    witnesses: Array
    bias: Array


class Contacts(NamedTuple):
    """Features that touch, as the laws of friction and impact take them.

    Attributes:
        features: (m, 6).
        jacobian: J, derivatives of their gaps by the joint angles (m, n).
        witnesses: closest points on a and b, and the unit normal from a to b (m, 9).
    """

    features: Index
    jacobian: Array
    witnesses: Array


@kernel
def measure(model, limits, margins, features, q, v, shifts, measures):
    """Compute gaps of features, their Jacobian J, contact points and normals.

    With `TURNING` as `shifts`, dJ/dt v is computed as well, by a central difference of J along the
    motion; it contains the turning of the normals. (One kernel does both, because a second one that
    called it would compile everything again.)

    Args:
        model: as `HullModel`.
        limits: lower and upper angles of the joints (2, n) [rad].
        margins: margin of each pair (p,) [m].
        features: (m, 6).
        q, v: joint angles [rad] and their rates [rad/s] (n,).
        shifts: `PLAIN` or `TURNING`: times from now in units of `LOOK_AHEAD`, the last one 0.
        measures: as `GapMeasures`, filled.
    """
    gaps, jacobian, witnesses, bias = measures
    frames, work = new_frames(model.chain), np.empty((6, 3))
    bias[:] = 0.0
    for shift in shifts:
        place_bodies(model.chain, q + shift * LOOK_AHEAD * v, frames)
        for f in range(len(features)):
            kind, a, part_a, b, part_b, pair = features[f]
            jacobian[f, :] = 0.0
            # Joint limits.
            if kind == LOWER:
                gaps[f], jacobian[f, a] = q[a] - limits[0, a], 1.0
                continue
            if kind == UPPER:
                gaps[f], jacobian[f, a] = limits[1, a] - q[a], -1.0
                continue
            # Features of hulls.
            witness = witnesses[f]
            if kind == VERTEX:
                distance = vertex_gap(model, frames, a, part_a, b, work, witness)
            else:
                distance = edge_gap(model, frames, a, part_a, b, part_b, work, witness)
            gaps[f] = distance - margins[pair]
            add_parting_rates(model, frames, features[f], witness, witness[6:], jacobian[f])
            # Central difference: (J(now + LOOK_AHEAD) - J(now - LOOK_AHEAD)) v / (2 LOOK_AHEAD).
            for k in range(len(q)):
                bias[f] += shift * jacobian[f, k] * v[k] / (2.0 * LOOK_AHEAD)


@kernel
def find_features(model, q, pair, a, b, along, reach, features):
    """Write the features of hulls a and b closer than `reach` into `features`; return their number.

    Only some vertices are measured: a plane perpendicular to `along` separates the hulls, so that a
    vertex more than `reach` behind the foremost one of its hull is farther than `reach` away.

    Args:
        model: as `HullModel`.
        q: joint angles (n,) [rad].
        pair: index of the pair.
        a, b: indices of its hulls.
        along: unit vector between the closest points, from a to b (3,).
        reach: bound of the distance [m].
        features: filled (MAX_PAIR_FEATURES, 6).
    """
    hulls = model.hulls
    frames, work, witness = new_frames(model.chain), np.empty((6, 3)), np.empty(9)
    place_bodies(model.chain, q, frames)
    count = 0
    near = np.zeros(len(hulls.vertices), dtype=np.bool_)
    for hull, other, sign in ((a, b, 1.0), (b, a, -1.0)):
        mark_foremost(model, frames, hull, sign, along, reach, work, near)
        for vertex in range(hulls.first_vertex[hull], hulls.first_vertex[hull + 1]):
            if near[vertex] and count < MAX_PAIR_FEATURES:
                distance = vertex_gap(model, frames, hull, vertex, other, work, witness)
                if distance < reach:
                    _write(features[count], VERTEX, hull, vertex, other, 0, pair)
                    count += 1
    # Edges that join foremost vertices, of both hulls.
    for edge_a in range(hulls.first_edge[a], hulls.first_edge[a + 1]):
        if not (near[hulls.edges[edge_a, 0]] and near[hulls.edges[edge_a, 1]]):
            continue
        for edge_b in range(hulls.first_edge[b], hulls.first_edge[b + 1]):
            ends = hulls.edges[edge_b]
            if not (near[ends[0]] and near[ends[1]]) or count >= MAX_PAIR_FEATURES:
                continue
            if _cross_within(model, frames, a, edge_a, b, edge_b, reach, work, witness):
                _write(features[count], EDGE, a, edge_a, b, edge_b, pair)
                count += 1
    return count


@kernel
def mark_foremost(model, frames, hull, sign, along, reach, work, near):
    """Set in `near` (v,) which vertices of a hull are within `reach` of its foremost one.

    Args:
        model, frames: as in `vertex_gap`.
        hull: index of the hull.
        sign: 1 if `along` (3,) points out of the hull, -1 if into it.
        along: unit vector between the closest points of two hulls (3,).
        reach: distance behind the foremost vertex, along `along` [m].
        work: scratch memory (6, 3).
        near: filled for the vertices of this hull.
    """
    vertices, first_vertex = model.hulls.vertices, model.hulls.first_vertex
    turn, origin, _ = frames
    body, first, last = model.owner[hull], first_vertex[hull], first_vertex[hull + 1]
    heights, top = np.empty(last - first), -np.inf
    for v in range(first, last):
        to_world(turn[body], origin[body], vertices[v], work[0])
        height = along[0] * work[0, 0] + along[1] * work[0, 1] + along[2] * work[0, 2]
        heights[v - first] = sign * height
        top = max(top, heights[v - first])
    for v in range(first, last):
        near[v] = heights[v - first] > top - reach


@kernel
def vertex_gap(model, frames, a, vertex, b, work, witness):
    """Return the signed distance of a vertex of hull a from hull b [m].

    Args:
        model: as `HullModel`.
        frames: rotations, origins and joint axes of all bodies in the world, by `place_bodies`.
        a, b: indices of the hulls.
        vertex: index of the vertex.
        work: scratch memory (6, 3).
        witness: filled with the closest points on a and b in the world [m], and the unit vector
            from a to b (9,).
    """
    hulls = model.hulls
    turn, origin, _ = frames
    body_a, body_b = model.owner[a], model.owner[b]
    on_a, on_b, normal = witness[:3], witness[3:6], witness[6:]
    # In the frame of hull b: the vertex, its closest point, and the unit vector from b to it.
    point, nearest, outward = work[0], work[2], work[3]
    to_world(turn[body_a], origin[body_a], hulls.vertices[vertex], on_a)
    to_body(turn[body_b], origin[body_b], on_a, point)
    first, last = hulls.first_plane[b], hulls.first_plane[b + 1]
    distance = point_to_hull(point, hulls.planes, first, last, work[1], nearest, outward)
    # The same in the world, with the normal from a to b.
    to_world(turn[body_b], origin[body_b], nearest, on_b)
    for k in range(3):
        normal[k] = 0.0
        for m in range(3):
            normal[k] -= turn[body_b, k, m] * outward[m]
    return distance


@kernel
def edge_gap(model, frames, a, edge_a, b, edge_b, work, witness):
    """Return the signed distance of two edges [m]; the arguments are those of `vertex_gap`."""
    on_a, on_b, normal = witness[:3], witness[3:6], witness[6:]
    # Start of edge a and the vector along it, then the same of edge b.
    edge_ends(model, frames, a, edge_a, work[0], work[1])
    edge_ends(model, frames, b, edge_b, work[2], work[3])
    s, t = segments(work[0], work[1], work[2], work[3], on_a, on_b)
    # Normal: across both edges if the closest points lie within them, else from point to point.
    is_crossing = 0.0 < s < 1.0 and 0.0 < t < 1.0
    length = along = 0.0
    for k in range(3):
        m, n = (k + 1) % 3, (k + 2) % 3
        between = on_b[k] - on_a[k]
        # Unlike `between`, the cross product loses no digits when the edges nearly touch.
        cross = work[1, m] * work[3, n] - work[1, n] * work[3, m]
        normal[k] = cross if is_crossing else between
        length += normal[k] ** 2
        along += normal[k] * between
    length = np.sqrt(length) if along >= 0.0 else -np.sqrt(length)
    if length == 0.0:
        return 0.0
    for k in range(3):
        normal[k] /= length
    return along / length


@kernel
def edge_ends(model, frames, hull, edge, start, along):
    """Fill in the start of a hull's edge in the world, and the vector along it (3,) [m]."""
    vertices, edges = model.hulls.vertices, model.hulls.edges
    turn, origin, _ = frames
    body = model.owner[hull]
    to_world(turn[body], origin[body], vertices[edges[edge, 0]], start)
    to_world(turn[body], origin[body], vertices[edges[edge, 1]], along)
    for k in range(3):
        along[k] -= start[k]


@kernel
def add_parting_rates(model, frames, feature, witness, direction, row):
    """Add to `row` (n,) the rate, per joint rate, at which the points of a feature part.

    Args:
        model, frames: as in `vertex_gap`.
        feature: row of the feature (6,).
        witness: its points on a and b, and its normal (9,).
        direction: along which the points part (3,).
        row: to which the rates are added [m/rad].
    """
    a, b = model.owner[feature[HULL_A]], model.owner[feature[HULL_B]]
    add_jacobian(model.chain, frames, b, witness[3:6], direction, 1.0, row)
    add_jacobian(model.chain, frames, a, witness[:3], direction, -1.0, row)


@kernel
def _write(row, kind, a, part_a, b, part_b, pair):
    """Write a feature into a row (6,)."""
    # A tuple assigned to a row would take numba six seconds to compile.
    row[0], row[1], row[2], row[3], row[4], row[5] = kind, a, part_a, b, part_b, pair


@kernel
def _cross_within(model, frames, a, edge_a, b, edge_b, reach, work, witness):
    """Return whether two edges of hulls a and b are closer than `reach`, within their ends.

    Edges that are closest at an end are features of a vertex already; parallel ones have none. The
    arguments are those of `vertex_gap`.
    """
    # Start of edge a and the vector along it, then the same of edge b; products of the vectors.
    edge_ends(model, frames, a, edge_a, work[0], work[1])
    edge_ends(model, frames, b, edge_b, work[2], work[3])
    aa = bb = ab = 0.0
    for k in range(3):
        aa += work[1, k] ** 2
        bb += work[3, k] ** 2
        ab += work[1, k] * work[3, k]
    if 1.0 - ab * ab / (aa * bb) < PARALLEL**2:
        return False
    s, t = segments(work[0], work[1], work[2], work[3], witness[:3], witness[3:6])
    if not (0.0 < s < 1.0 and 0.0 < t < 1.0):
        return False
    square = 0.0
    for k in range(3):
        square += (witness[k] - witness[3 + k]) ** 2
    return square < reach**2
