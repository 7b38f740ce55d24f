"""Heights of a terrain for pictures: of the ground, and of walls apart from it."""

from __future__ import annotations

import numpy as np
import scipy
from roboaccord.contract.state import Array

from voxel_sphere.rolling.path import RolledPath
from voxel_sphere.terrain.mesh import SMOOTH
from voxel_sphere.terrain.slices import SOLID, Volume
from voxel_sphere.terrain.workspace import Terrain

HALF = 128


def floor_heights(solid: Volume, *, smoothed: bool) -> Array:
    """Return how high each column is filled, from below to its first gap (n, n) [voxels].

    So a tunnel has its floor.

    Args:
        solid: (n, n, n), 0 to 255.
        smoothed: as the meshes of binary slices are.
    """
    n = solid.shape[2]
    filled = solid >= HALF
    gap = np.where(filled.all(axis=2), n, np.argmin(filled, axis=2))
    # The voxel of the gap itself may be filled in part.
    below = np.arange(n) <= gap[..., None]
    heights = np.where(below, solid, 0).sum(axis=2) / SOLID
    return np.asarray(
        scipy.ndimage.gaussian_filter(heights, SMOOTH, mode="nearest") if smoothed else heights
    )


def ground_and_walls(path: RolledPath, terrain: Terrain) -> tuple[Array, Array]:
    """Return the heights (n, n) of the ground and of walls, each nan where the other is [voxels].

    Walls are what is given as walls and stands on the ground, and all that is higher than the
    sphere ever reached, where they are cut off.
    """
    top = float(path.centre[:, 2].max()) + path.radius
    ground = floor_heights(terrain.surface, smoothed=not terrain.grey)
    total = np.maximum(floor_heights(terrain.solid, smoothed=False), ground)
    wall = (total > ground + 1.0) | (total > top)
    return np.where(wall, np.nan, ground), np.where(wall, np.minimum(total, top), np.nan)


def with_feet(walls: Array, ground: Array) -> Array:
    """Return walls (n, n) with the ground beside them, so that a surface of them has its sides."""
    return np.where(
        scipy.ndimage.binary_dilation(~np.isnan(walls)) & np.isnan(walls), ground, walls
    )
