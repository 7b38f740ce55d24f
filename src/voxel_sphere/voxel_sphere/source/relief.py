"""Heights of the ground and walls of a terrain, for the pictures of a run (pages.py).

A terrain is a volume of voxels (n, n, n); pictures need its height over each column of voxels, and
have ground and walls in different colours.
"""

from __future__ import annotations

import numpy as np
import scipy
from roboaccord.contract import Array

from voxel_sphere.rolling.path import RolledPath
from voxel_sphere.terrain.mesh import MIN_FILLED, SMOOTH_SD
from voxel_sphere.terrain.slices import SOLID, Volume
from voxel_sphere.terrain.workspace import Terrain

# voxels; smallest height above the ground that is drawn as wall. It is more than the rounding of a
# height to whole voxels.
WALL_HEIGHT = 1.0


def floor_heights(solid: Volume, *, smoothed: bool) -> Array:
    """Return the height (n, n) [voxels] to which each column is filled up to its first gap.

    So the height in a tunnel is that of its floor.

    Args:
        solid: volume (n, n, n), 0 empty to 255 full.
        smoothed: whether the heights are smoothed, which those of binary slices need.
    """
    n = solid.shape[2]
    filled = solid >= MIN_FILLED
    gap = np.where(filled.all(axis=2), n, np.argmin(filled, axis=2))
    # The voxel at the gap may be partly filled.
    below = np.arange(n) <= gap[..., None]
    heights = np.where(below, solid, 0).sum(axis=2) / SOLID
    if smoothed:
        heights = scipy.ndimage.gaussian_filter(heights, SMOOTH_SD, mode="nearest")
    return np.asarray(heights)


def ground_and_walls(path: RolledPath, terrain: Terrain) -> tuple[Array, Array]:
    """Return heights (n, n) of ground and walls [voxels]; each is NaN where the other one is.

    Walls are the volume of walls, and all terrain above the highest point that the sphere has
    reached. They are cut off at that height.
    """
    top = float(path.centre[:, 2].max()) + path.radius
    ground = floor_heights(terrain.surface, smoothed=not terrain.grey)
    total = np.maximum(floor_heights(terrain.solid, smoothed=False), ground)
    wall = (total > ground + WALL_HEIGHT) | (total > top)
    return np.where(wall, np.nan, ground), np.where(wall, np.minimum(total, top), np.nan)


def walls_with_feet(walls: Array, ground: Array) -> Array:
    """Return heights of walls (n, n) with those of the ground next to them, to draw their sides."""
    is_beside_wall = scipy.ndimage.binary_dilation(~np.isnan(walls)) & np.isnan(walls)
    return np.where(is_beside_wall, ground, walls)
