"""Sheets: pieces of surface in parametric form with a thickness, and the voxels that they fill.

A sheet is a point P = (X, Y, Z) as a function of (s, t), for ground and walls that are no graph
z = f(x, y), such as a tube. The ball rolls on the side to which dP/ds x dP/dt points; the solid is
behind it. recipes.py makes a `Sheet` of expressions, and `Sheet.fill` its voxels. The sheet is
sampled by a grid of points. The distance of a voxel is that from the tangent plane at the nearest
point, cut off at the rim of the sheet.

The constants trade accuracy for memory and may be tuned: test_voxel_generate fills a tube and
tilted sheets with them, to 0.02.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from roboaccord.contract import AccordError, Array, Index

from voxel_sphere.terrain.filling import centres, grey
from voxel_sphere.terrain.slices import Done, Volume, no_progress

# voxels; distance between the points that sample the sheet. A voxel is then at most 0.18 beside the
# nearest point, where a tangent plane of curvature radius 3 r is off by 0.18^2 / (6 r) voxels.
POINT_SPACING = 0.25
# Points along s and t of a first grid, which gives the number of points of the final grid: any from
# 20 to 200 would do, for that is refined until the points are close enough.
COARSE_POINTS = 65
MAX_POINTS = 6_000_000  # largest number of points: 150 MB each for points and normals
VOXELS_PER_CALL = 200_000  # voxels whose distances are computed in one call: 5 MB for their points
# voxels; in front of the sheet and behind it, up to where distances are computed: more than the
# 0.87 from which on a voxel is full or empty
DISTANCE_REACH = 2.0
# Points, 1.5 voxels; a voxel whose nearest point is this close to the rim may lie beyond the rim:
# the 0.87 voxel of BAND, in which its content counts, and the 0.5 by which points are apart.
RIM_MARGIN = 6


@dataclass(frozen=True)
class Sheet:
    """A piece of a surface in space, solid behind it.

    Args:
        xyz: (s, t) -> (X, Y, Z), of two arrays of one shape [voxels].
        s: first and last s.
        t: first and last t.
        thickness: [voxels].
    """

    xyz: Callable[[Array, Array], tuple[Array, Array, Array]]
    s: tuple[float, float]
    t: tuple[float, float]
    thickness: float = 6.0

    @cached_property
    def grid(self) -> Array:
        """Points on the front, at most 0.5 voxels apart, (rows, columns, 3).

        Raises:
            AccordError: if the sheet is not finite, or is far too large.
        """
        counts = _counts(self._sample(COARSE_POINTS, COARSE_POINTS))
        while counts[0] * counts[1] <= MAX_POINTS:
            grid = self._sample(*counts)
            too_wide = [_gaps(grid, axis).max() > 2 * POINT_SPACING for axis in (0, 1)]
            if not any(too_wide):
                return grid
            # Twice as many points along an axis on which they are too far apart.
            counts = counts[0] * (1 + too_wide[0]), counts[1] * (1 + too_wide[1])
        raise AccordError("the surface is far larger than the grid, or is not continuous")

    @cached_property
    def front(self) -> tuple[Array, Array, Index]:
        """Points (m, 3), unit normals there (m, 3), and their indices in the grid (m, 2).

        Raises:
            AccordError: if the sheet is a line or a point.
        """
        normals = np.cross(np.gradient(self.grid, axis=0), np.gradient(self.grid, axis=1))
        sizes = np.linalg.norm(normals, axis=2)
        proper = sizes > 1e-9
        if not proper.any():
            raise AccordError("the surface has no area: X, Y, Z do not change with both s and t")
        return self.grid[proper], normals[proper] / sizes[proper][:, None], np.argwhere(proper)

    @cached_property
    def _tree(self) -> scipy.spatial.cKDTree:
        """Search tree of the points on the front."""
        return scipy.spatial.cKDTree(self.front[0])

    def distance(self, x: Array, y: Array, z: Array) -> Array:
        """Return the signed distances at (x, y, z), negative inside, by the nearest tangent plane.

        Farther away than the thickness and DISTANCE_REACH they are that bound.
        """
        positions = np.stack(np.broadcast_arrays(x, y, z), axis=-1)
        shape, positions = positions.shape[:-1], positions.reshape(-1, 3)
        points, normals, cells = self.front
        bound = self.thickness + DISTANCE_REACH
        gaps, nearest = self._tree.query(positions, distance_upper_bound=bound)
        reached = np.flatnonzero(np.isfinite(gaps))
        positions, nearest = positions[reached], nearest[reached]
        above = np.einsum("ij,ij->i", positions - points[nearest], normals[nearest])
        distance = np.full(len(gaps), bound)
        # Largest of three signed distances: from the front, from the back, and from the rim.
        beyond_rim = self._beyond_rim(positions, cells[nearest])
        distance[reached] = np.maximum.reduce([above, -self.thickness - above, beyond_rim])
        return distance.reshape(shape)

    def _beyond_rim(self, positions: Array, cells: Index) -> Array:
        """Return how far positions are beyond the rim [voxels]: negative inside, -inf far from it.

        Args:
            positions: (m, 3) [voxels].
            cells: indices of the nearest points of the grid (m, 2).
        """
        beyond = np.full(len(positions), -np.inf)
        for axis in (0, 1):
            grid = np.moveaxis(self.grid, axis, 0)
            if np.abs(grid[0] - grid[-1]).max() < POINT_SPACING:
                continue  # this edge meets the opposite one, as on a tube
            last = len(grid) - 1
            margin = min(RIM_MARGIN, last)
            for end, inner in ((0, margin), (last, last - margin)):
                near = np.flatnonzero(np.abs(cells[:, axis] - end) <= margin)
                across = cells[near, 1 - axis]
                outward = grid[end, across] - grid[inner, across]
                sizes = np.maximum(np.linalg.norm(outward, axis=1), 1e-9)
                offset = positions[near] - grid[end, across]
                lateral = np.einsum("ij,ij->i", offset, outward) / sizes
                beyond[near] = np.maximum(beyond[near], lateral)
        return beyond

    def fill(self, n: int, *, binary: bool = False, done: Done = no_progress) -> Volume:
        """Return the volume of the sheet, (n, n, n); what is out of the grid is cut off."""
        points, normals, _ = self.front
        empty = np.ones((n, n, n), bool)
        for depth in np.arange(0.0, self.thickness + 0.5, 0.5):
            cells = np.floor(points - depth * normals).astype(int)
            cells = cells[((cells >= 0) & (cells < n)).all(axis=1)]
            empty[tuple(cells.T)] = False
        volume = np.zeros((n, n, n), np.uint8)
        if empty.all():
            raise AccordError(f"the surface is nowhere in the grid of {n} voxels")
        near = np.argwhere(scipy.ndimage.distance_transform_edt(empty) < 2.0)
        x = centres(n)
        for begin in range(0, len(near), VOXELS_PER_CALL):
            cells = near[begin : begin + VOXELS_PER_CALL]
            d = self.distance(*x[cells.T])
            content = np.where(d < 0, 1.0, 0.0) if binary else np.clip(0.5 - d, 0.0, 1.0)
            volume[tuple(cells.T)] = grey(content)
        done(n)
        return volume

    def _sample(self, rows: int, columns: int) -> Array:
        """Return points of the sheet on a grid over s and t (rows, columns, 3) [voxels].

        Raises:
            AccordError: if they are not finite.
        """
        s, t = np.linspace(*self.s, rows), np.linspace(*self.t, columns)
        x, y, z = self.xyz(*np.meshgrid(s, t, indexing="ij"))
        grid = np.stack([np.broadcast_to(axis, (rows, columns)) for axis in (x, y, z)], axis=2)
        if not np.isfinite(grid).all():
            raise AccordError("X, Y, Z are not finite numbers everywhere in the ranges of s and t")
        return np.asarray(grid, float)


def _gaps(grid: Array, axis: int) -> Array:
    """Return the distances between neighbours along an axis of a grid."""
    return np.asarray(np.linalg.norm(np.diff(grid, axis=axis), axis=2))


def _counts(grid: Array) -> tuple[int, int]:
    """Return the number of points along s and t for the spacing, from a coarse grid."""
    along_s, along_t = (min(_gaps(grid, axis).sum(axis=axis).max(), 1e6) for axis in (0, 1))
    return max(int(along_s / POINT_SPACING) + 1, 3), max(int(along_t / POINT_SPACING) + 1, 3)
