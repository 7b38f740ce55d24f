"""Walls: how a sphere moves after hitting one, and which part of a workspace is wall.

Vectors are in the world frame: n is the ground's unit normal, m the wall's, v the centre's
velocity, which is perpendicular to n, and w the angular velocity, with r w x n = v. A hit reflects
v in the plane of the ground (`reflected`). After some travel the sphere may turn parallel to the
wall, as in the source (the description of a MATLAB program, docs/voxel_sphere.md): `tangent` gives
that direction, and `spin_for` the angular velocity of a new v. `split` separates ground and walls
of a workspace by steepness.

A rule after a hit may be added: a name in AFTER and a direction like `tangent`. MOVE is the
source's and stays; the other constants may be tuned. test_voxel_walls guards reflection and
`spin_for`.
"""

from __future__ import annotations

import numpy as np
import scipy
from roboaccord.contract import AccordError, Array

from voxel_sphere.rolling.distance import Solid, Surfels

# deg; faces of a whole workspace that are steeper are wall. The default of --steep, our choice: any
# from 45 to 80 separates the generator's ramp, at most 21 deg, from its walls, 90.
STEEP_ANGLE = 60.0
# Sine of the angle between the normals of wall and ground from which a wall reflects: below it,
# 3 deg, the direction of the wall in the ground's plane is noise of the voxels.
MIN_WALL_SINE = 0.05
# z of the ground's normal; below it the ground is within 3 deg of upright, so that w_z cannot be
# chosen freely: the spin about the normal that it takes is 20 times as large.
UPRIGHT_NORMAL_Z = 0.05
REFLECTIONS = 8  # most reflections in one corner; a corner of 45 deg needs four
# Fraction of the speed; a smaller velocity towards a wall is round-off, 1e-16 in each of a few
# sums; a real one of this size would take longer to reach the wall than any run.
APPROACH_ROUND_OFF = 1e-12
# Fraction of the speed; a hit with less velocity along the wall is head-on. It is 0.06 deg, half of
# the error of a heading at n = 200 (docs/voxel_rolling.md), which leaves the side to chance.
HEAD_ON_SPEED = 1e-3
AFTER = ("parallel", "reflected")  # what follows a hit: a turn along the wall, or nothing more
# r; travel away from the wall before the turn parallel to it: the source's r/5 steps of one voxel.
MOVE = 0.2


def project_to_ground(m: Array, n: Array) -> Array | None:
    """Return the unit vector (3,) of a wall's normal m projected onto the ground's plane.

    None if the projection is shorter than MIN_WALL_SINE.
    """
    in_plane = m - (m @ n) * n
    size = float(np.linalg.norm(in_plane))
    return in_plane / size if size > MIN_WALL_SINE else None


def reflected(v: Array, normals: list[Array]) -> Array | None:
    """Return the velocity (3,) after reflection at walls; None if it does not leave the corner.

    It is reflected at the wall that it approaches fastest, until it approaches none.

    Args:
        v: velocity of the centre (3,).
        normals: normals of the walls within the plane of the ground, each (3,).
    """
    for _ in range(REFLECTIONS):
        speeds = [v @ m for m in normals]  # away from each wall
        nearest = int(np.argmin(speeds))  # the wall that it approaches fastest
        if not speeds[nearest] < -APPROACH_ROUND_OFF * np.linalg.norm(v):
            return v
        v = v - 2.0 * speeds[nearest] * normals[nearest]
    return None


def tangent(v: Array, m: Array, n: Array, away: Array | None) -> Array:
    """Return the unit direction (3,) along a wall in which v points.

    In a head-on hit v points in neither direction: then the one away from a second wall in the
    corner, or else to the left.

    Args:
        v: velocity of the centre (3,).
        m: the wall's normal within the plane of the ground (3,).
        n: the ground's normal (3,).
        away: normal of the second wall (3,), or None if there is none.
    """
    t = np.cross(n, m)
    along = float(v @ t)
    if abs(along) < HEAD_ON_SPEED * np.linalg.norm(v):
        along = 1.0 if away is None else float(away @ t)
    return t if along >= 0 else -t


def spin_for(v: Array, n: Array, r: float, w: Array) -> Array:
    """Return the angular velocity (3,) with which the sphere rolls at v and keeps the spin of w.

    n x v / r + s n rolls at v for any s. Here s is chosen such that w_z stays or, where the ground
    is upright and w_z does not depend on s, such that the component n . w stays.
    """
    rolling = np.cross(n, v) / r
    s = (w[2] - rolling[2]) / n[2] if abs(n[2]) > UPRIGHT_NORMAL_Z else n @ w
    return np.asarray(rolling + s * n)


def split(solid: Solid, steep: float = STEEP_ANGLE) -> tuple[Solid, Solid | None]:
    """Return ground and walls (n, n, n) of a whole workspace; walls are None if nothing is steep.

    Args:
        solid: (n, n, n), bool or grey.
        steep: angle from the level from which on a face is wall [deg].
    """
    full = solid if solid.dtype == np.bool_ else solid >= 128
    # The surface as small faces (surfels), of which each voxel at the surface has one.
    surface = Surfels.of(solid)
    if surface.misses(full):
        reason = "the workspace is too thin to distinguish its walls"
        raise AccordError(f"{reason}: give surface and walls")
    # Mark the surface voxels of steep faces as wall, and let all voxels follow the nearest of them.
    has_surfel = surface.number >= 0
    is_steep = surface.normals[:, 2] < np.cos(np.deg2rad(steep))
    is_wall = np.zeros(solid.shape, dtype=bool)
    is_wall[has_surfel] = is_steep[surface.number[has_surfel]]
    _, nearest = scipy.ndimage.distance_transform_edt(~has_surfel, return_indices=True)
    is_wall = is_wall[tuple(nearest)]
    if not (is_wall & full).any():
        return solid, None
    empty = np.zeros_like(solid)
    return np.where(is_wall, empty, solid), np.where(is_wall, solid, empty)
