"""Walls: reflection, motion along them, and their separation from the ground.

Vectors are in the world frame: n is the ground's unit normal, m the wall's, v the centre's
velocity, which lies in the plane with the normal n, and w the angular velocity with r w x n = v.
A hit reflects v in the plane of the ground. `tangent` gives the direction along the wall that the
source takes afterwards, and `spin_for` the angular velocity of a new v.

A rule after a hit may be added: a name in AFTER and a direction like `tangent`. The constants may
be tuned but MOVE, which is the source's. test_voxel_walls guards reflection and `spin_for`.
"""

from __future__ import annotations

import numpy as np
import scipy
from roboaccord.contract import AccordError, Array

from voxel_sphere.rolling.distance import Solid, Surfels

# Angle from the level [deg] from which a face of a whole workspace is wall; the default of --steep.
STEEP = 60.0
# Part of a wall's normal in the plane of the ground from which it reflects: below it, 3 deg, the
# direction is noise of the voxels.
LEAST_WALL = 0.05
UPRIGHT = 0.05  # z of the ground's normal below which the ground is upright: w_z is not free
REFLECTIONS = 8  # most reflections in a corner; a corner of 45 deg needs four
APPROACH = 1e-12  # part of the speed below which motion towards a wall is round-off
HEAD_ON = 1e-3  # part of the speed along a wall below which the hit is head-on
AFTER = ("parallel", "reflected")  # what follows a hit: motion along the wall, or as reflected
MOVE = 0.2  # r of travel off the wall before the turn: the source's r/5 steps of a voxel


def in_ground(m: Array, n: Array) -> Array | None:
    """Return the wall's unit normal (3,) within the plane of the ground, None if there is none."""
    in_plane = m - (m @ n) * n
    size = float(np.linalg.norm(in_plane))
    return in_plane / size if size > LEAST_WALL else None


def reflected(v: Array, normals: list[Array]) -> Array | None:
    """Return the velocity (3,) after reflection at walls, None if a corner does not let it out.

    Args:
        v: velocity of the centre (3,).
        normals: of the walls within the plane of the ground, each (3,).
    """
    for _ in range(REFLECTIONS):
        speed, k = min((v @ m, k) for k, m in enumerate(normals))
        if not speed < -APPROACH * np.linalg.norm(v):
            return v
        v = v - 2.0 * speed * normals[k]
    return None


def tangent(v: Array, m: Array, n: Array, away: Array | None) -> Array:
    """Return the unit direction (3,) along a wall that v has; the one that leads away if head-on.

    Args:
        v: velocity of the centre (3,).
        m: the wall's normal within the plane of the ground (3,).
        n: the ground's normal (3,).
        away: normal of a second wall in the corner (3,); None without one: then it turns left.
    """
    t = np.cross(n, m)
    along = float(v @ t)
    if abs(along) < HEAD_ON * np.linalg.norm(v):
        along = 1.0 if away is None else float(away @ t)
    return t if along >= 0 else -t


def spin_for(v: Array, n: Array, r: float, w: Array) -> Array:
    """Return the angular velocity (3,) that rolls with v and keeps the z component of w.

    w = n x v / r + s n rolls for any s; s keeps w_z or, where the ground is upright, n . w.
    """
    rolling = np.cross(n, v) / r
    s = (w[2] - rolling[2]) / n[2] if abs(n[2]) > UPRIGHT else n @ w
    return np.asarray(rolling + s * n)


def split(solid: Solid, steep: float = STEEP) -> tuple[Solid, Solid | None]:
    """Return ground and walls (n, n, n) of a whole workspace; walls are None if nothing is steep.

    Args:
        solid: (n, n, n), bool or grey.
        steep: angle from the level from which on a face is wall [deg].
    """
    full = solid if solid.dtype == np.bool_ else solid >= 128
    surface = Surfels.of(solid)
    if surface.misses(full):
        raise AccordError(
            "the workspace is too thin to distinguish its walls: give surface and walls"
        )
    has_piece = surface.number >= 0
    wall = np.zeros(solid.shape, dtype=bool)
    wall[has_piece] = (surface.normals[:, 2] < np.cos(np.deg2rad(steep)))[surface.number[has_piece]]
    _, nearest = scipy.ndimage.distance_transform_edt(~has_piece, return_indices=True)
    of_wall = wall[tuple(nearest)]
    if not (of_wall & full).any():
        return solid, None
    none = np.zeros_like(solid)
    return np.where(of_wall, none, solid), np.where(of_wall, solid, none)
