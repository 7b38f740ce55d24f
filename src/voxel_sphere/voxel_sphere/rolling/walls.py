"""Walls: reflection, motion along them, and their separation from the ground.

MOVE is fixed, the source's r/5, and so are both ways in AFTER, its rule and the plain reflection.
STEEP, LEAST_WALL, UPRIGHT and REFLECTIONS may be tuned; STEEP is also `--steep`. The law of
reflection and `spin_for` are fixed by test_voxel_walls. Rules after a hit may be added: a name in
AFTER and its direction, like `tangent`.

Vectors are in the world frame. n is the ground's normal, m the wall's, v the centre's velocity,
which lies in the plane with the normal n; r w x n = v.
"""

from __future__ import annotations

import numpy as np
import scipy
from roboaccord.contract import AccordError, Array

from voxel_sphere.rolling.distance import Solid, Surfels

STEEP = 60.0  # deg from the level, of a face that is wall in a whole workspace
LEAST_WALL = 0.05  # part of the wall's normal in the plane of the ground, to reflect at it
UPRIGHT = 0.05  # z of the ground's normal below which w_z cannot be chosen
REFLECTIONS = 8  # at the walls of a corner, one after the other
AFTER = ("parallel", "reflected")  # what follows a hit
MOVE = 0.2  # r that a sphere rolls off before it turns: the source's r/5 steps of a voxel


def in_ground(m: Array, n: Array) -> Array | None:
    """Return the wall's unit normal (3,) within the plane of the ground, None if there is none."""
    part = m - (m @ n) * n
    size = float(np.linalg.norm(part))
    return part / size if size > LEAST_WALL else None


def reflected(v: Array, normals: list[Array]) -> Array | None:
    """Return the velocity (3,) after reflection at walls; None if it does not get out of a corner.

    Args:
        v: velocity of the centre (3,).
        normals: of the walls within the plane of the ground, each (3,).
    """
    for _ in range(REFLECTIONS):
        into = [(v @ m, k) for k, m in enumerate(normals) if v @ m < -1e-12 * np.linalg.norm(v)]
        if not into:
            return v
        speed, k = min(into)
        v = v - 2.0 * speed * normals[k]
    return None


def tangent(v: Array, m: Array, n: Array, away: Array | None) -> Array:
    """Return the unit direction (3,) along a wall that v has; head-on the one that leads away.

    Args:
        v: velocity of the centre (3,).
        m: the wall's normal within the plane of the ground (3,).
        n: the ground's normal (3,).
        away: from a second wall near, (3,), or None; without one it is the left one.
    """
    t = np.cross(n, m)
    along = float(v @ t)
    if abs(along) < 1e-3 * np.linalg.norm(v):
        along = 1.0 if away is None else float(away @ t)
    return t if along >= 0 else -t


def spin_for(v: Array, n: Array, r: float, w: Array) -> Array:
    """Return the angular velocity (3,) that rolls with v, and has w's z.

    w = n x v / r + s n for any s; s follows from w_z, and where the ground is upright from n . w.
    """
    rolling = np.cross(n, v) / r
    s = (w[2] - rolling[2]) / n[2] if abs(n[2]) > UPRIGHT else n @ w
    return np.asarray(rolling + s * n)


def split(solid: Solid, steep: float = STEEP) -> tuple[Solid, Solid | None]:
    """Return ground and walls, (n, n, n) each, of a whole workspace; None where nothing is steep.

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
    there = surface.number >= 0
    wall = np.zeros(solid.shape, dtype=bool)
    wall[there] = (surface.normals[:, 2] < np.cos(np.deg2rad(steep)))[surface.number[there]]
    _, nearest = scipy.ndimage.distance_transform_edt(~there, return_indices=True)
    of_wall = wall[tuple(nearest)]
    if not (of_wall & full).any():
        return solid, None
    none = np.zeros_like(solid)
    return np.where(of_wall, none, solid), np.where(of_wall, solid, none)
