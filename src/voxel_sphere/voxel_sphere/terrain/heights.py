"""A terrain as a height field, for engines that replace a mesh by its convex hull."""

from __future__ import annotations

import numpy as np
import scipy
from roboaccord.contract.contact import HeightField
from roboaccord.contract.errors import AccordError

from voxel_sphere.terrain.mesh import SMOOTH
from voxel_sphere.terrain.slices import SOLID
from voxel_sphere.terrain.workspace import Terrain

HALF = 128


def height_field(terrain: Terrain) -> HeightField:
    """Return the height of every column [m]: what it holds, which for grey slices is exact.

    Heights of binary slices are whole voxels; they are smoothed by a Gaussian of 2 voxels.

    Raises:
        AccordError: if the terrain is no graph: a column is empty below something solid.
    """
    solid = terrain.solid
    filled = solid >= HALF
    if (filled[:, :, 1:] & ~filled[:, :, :-1]).any():
        x, y = np.argwhere((filled[:, :, 1:] & ~filled[:, :, :-1]).any(axis=2))[0]
        raise AccordError(
            f"{terrain.name} is no height field: at x = {x}, y = {y} there is empty space below it"
        )
    heights = solid.sum(axis=2) / SOLID
    if not terrain.grey:
        heights = scipy.ndimage.gaussian_filter(heights, SMOOTH, mode="nearest")
    size, corner = terrain.voxel_size, 0.5 * terrain.voxel_size  # the first column's middle
    place = np.array([corner, corner, 0.0])
    return HeightField(name="terrain", heights=heights * size, spacing=size, position=place)
