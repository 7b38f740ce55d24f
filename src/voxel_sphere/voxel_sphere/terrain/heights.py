"""A terrain as a height field, for engines that replace a mesh by its convex hull."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy
from roboaccord.contract.errors import AccordError

from voxel_sphere.terrain.mesh import SMOOTH
from voxel_sphere.terrain.slices import SOLID
from voxel_sphere.terrain.workspace import Terrain

HALF = 128


@dataclass(frozen=True)
class HeightField:
    """Heights at the centres of the columns.

    Args:
        heights: (n, n), indexed [x, y] [m].
        spacing: of the columns [m]; column i is at (i + 0.5) spacing.
    """

    heights: npt.NDArray[np.float64]
    spacing: float


def height_field(terrain: Terrain) -> HeightField:
    """Return the height of every column: what it holds, which for grey slices is exact.

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
    return HeightField(heights * terrain.voxel_size, terrain.voxel_size)
