"""Signed distance from a solid at each voxel, more accurate than a voxel, and its gradient.

`distance_grids` takes a volume of voxels and returns what field.py makes a field of. The
solid is smoothed by a Gaussian, and its surface is where the smoothed solid passes one half. Small
pieces of that surface (`Surfels`) give accurate distances in a band around the sphere's radius,
where the sphere's centre moves. Elsewhere, and for solids too thin to be smoothed, distances are
those between whole voxels (scipy's Euclidean distance transform).

The constants, except VOXEL_VARIANCE, may be tuned. They were measured against closed forms:
narrower Gaussians let voxels show, wider ones round off edges, and each change moves every path on
voxels and the accuracies in docs/voxel_rolling.md. test_voxel_field guards the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy
from roboaccord.contract import Array

from voxel_sphere.terrain.slices import Done, no_progress

# A solid (n, n, n), bool, or grey from 0 to 255; indexed [x, y, z].
Solid = npt.NDArray[np.bool_] | npt.NDArray[np.uint8]
# Numbers for each voxel (n, n, n), or a row of m numbers (n, n, n, m).
Grid = npt.NDArray[np.float32]
# Indices of voxels or of pieces of the surface.
Indices = npt.NDArray[np.integer]

# Standard deviations (SD) of Gaussians.
BINARY_SD = 2.0  # voxels; smooths a binary solid. 1.5 was measured and is worse
# voxels; the same for grey slices, which are smooth already. Errors of `exact` in bowl and sinusoid
# at n = 50, in 0.001 r, with 0.6 voxel: 13 and 37, 1: 9 and 37, 1.5: 6 and 40, 2: 16 and 47.
GREY_SD = 1.0
# voxels; smooths further, for the curvature. The same errors with 1 voxel: 10 and 34, 2: 9 and 37,
# 3: 9 and 40, 5: 14 and 47; on black and white slices 2 is better than 1 and 4.
CURVATURE_SD = 2.0
VOXEL_VARIANCE = 1 / 12  # voxel^2; variance of a voxel, over which a grey value is a mean
# voxels; margin around a surface in which it is smoothed. scipy ends Gaussians at 4 sigma, which is
# 11.3 for both together.
SURFACE_MARGIN = 12
# voxels; a boundary voxel farther from the smoothed surface has been smoothed away. It is
# BINARY_SD, about the distance by which smoothing rounds off an edge.
MAX_SHIFT = 2
# voxels; by how much the nearest voxel centre lies below the surface (measured), and the same far
# from the band, where it is anything between CENTRE_DEPTH and the 0.5 of a face: their mean.
CENTRE_DEPTH = 0.1
MEAN_DEPTH = 0.3
NORMAL_SD = 0.2  # r; smooths the gradient. 0.15 and 0.25 were measured and are worse
STAGE_COUNT = 4  # number of calls of `done` in `distance_grids`


def distance_grids(
    solid: Solid, radius: float, *, smoothing: float = NORMAL_SD, done: Done = no_progress
) -> tuple[Grid, list[Grid], Surfels]:
    """Return the distance (n, n, n) [voxels] to a solid, its smoothed gradient, and the surface.

    Args:
        solid: (n, n, n) bool, or grey from 0 to 255.
        radius: radius of the sphere [voxels].
        smoothing: standard deviation of the Gaussian that smooths the gradient [r].
        done: called with each of `STAGE_COUNT` stages.
    """
    full = solid if solid.dtype == np.bool_ else solid >= 128
    distance, nearest = scipy.ndimage.distance_transform_edt(~full, return_indices=True)
    done(1)
    surface = Surfels.of(solid)
    if surface.misses(full):
        surface = Surfels.of_voxels(full)
        distance -= CENTRE_DEPTH
    else:
        reach = 3.0 * smoothing * radius + 3.0  # the reach of the smoothing from the distance r
        band = np.nonzero(np.abs(distance - radius) < reach)
        start = np.stack([component[band] for component in nearest], axis=1)
        # Everywhere the distance of voxel centres; in the band the accurate one.
        distance -= MEAN_DEPTH
        distance[band] = surface.distance(np.stack(band, axis=1) + np.float64(0.5), start)
    done(1)
    field = distance.astype(np.float32)
    gradient = np.gradient(field)
    done(1)
    sigma = smoothing * radius
    # The normal is used only where the distance is about r.
    box = box_of(np.abs(distance - radius) < 3.0, 1 + int(6.0 * sigma))
    for component in gradient:
        component[box] = smooth(component[box], sigma)
    done(1)
    return field, gradient, surface


def smooth(values: Grid, sigma: float) -> Grid:
    """Return values smoothed by 2 G - G G, which leaves a constant curvature unchanged."""
    once = scipy.ndimage.gaussian_filter(values, sigma, mode="nearest")
    smoothed: Grid = 2.0 * once - scipy.ndimage.gaussian_filter(once, sigma, mode="nearest")
    return smoothed


class Surfels(NamedTuple):
    """Pieces of the smoothed surface, at most one in each voxel.

    Args:
        points: positions of the pieces (k, 3) [voxels].
        normals: unit normals of the pieces, out of the solid (k, 3).
        number: index of the piece in each voxel (n, n, n), -1 for none.
    """

    points: Array
    normals: Array
    number: Indices

    @classmethod
    def of(cls, solid: Solid) -> Surfels:
        """Return the pieces of a solid's surface: the mean of the crossings in each voxel."""
        return cls.merged(*surface_points(solid), solid.shape)

    @classmethod
    def of_voxels(cls, full: Solid) -> Surfels:
        """Return the boundary voxels of a solid too thin to be smoothed, without normals."""
        boundary = full & ~scipy.ndimage.binary_erosion(full, border_value=1)
        points = np.argwhere(boundary) + np.float64(0.5)
        return cls.merged(points, np.zeros_like(points), full.shape)

    @classmethod
    def merged(cls, points: Array, normals: Array, shape: tuple[int, ...]) -> Surfels:
        """Return one piece for each voxel that holds points (k, 3) with normals (k, 3)."""
        cell = np.minimum(points.astype(np.int64), np.array(shape) - 1)
        flat = np.ravel_multi_index(tuple(cell.T), shape)
        occupied, cell_of, count = np.unique(flat, return_inverse=True, return_counts=True)
        mean = [
            np.stack([np.bincount(cell_of, axis) for axis in values.T], axis=1) / count[:, None]
            for values in (points, normals)
        ]
        number = np.full(shape, -1, dtype=np.int32)
        number.ravel()[occupied] = np.arange(len(occupied))
        size = np.maximum(np.linalg.norm(mean[1], axis=1, keepdims=True), 1e-12)
        return cls(mean[0], mean[1] / size, number)

    def misses(self, full: Solid) -> bool:
        """Return whether the surface misses a part of the solid, a thin sheet for example."""
        edge = full & ~scipy.ndimage.binary_erosion(full, border_value=1)
        near = scipy.ndimage.maximum_filter(self.number >= 0, size=2 * MAX_SHIFT + 1)
        return not len(self.points) or bool(np.any(edge & ~near))

    def distance(self, points: Array, start: Indices) -> Array:
        """Return the distances of points (m, 3) from the surface.

        The nearest piece is searched around the nearest solid voxel `start` (m, 3), then around the
        foot of the perpendicular on that piece. A piece is up to half a voxel away from the foot,
        and the error of the distance from its tangent plane is of second order in that.
        """
        # A few voxels are the nearest ones of many points, so the first search is over voxels.
        shape = self.number.shape
        flat = np.ravel_multi_index(tuple(start.T), shape)
        voxels, voxel_of = np.unique(flat, return_inverse=True)
        cells = np.stack(np.unravel_index(voxels, shape), axis=1)
        piece = self._search(cells + np.float64(0.5), cells)[voxel_of]
        foot = points - self._height(points, piece)[:, None] * self.normals[piece]
        return self._height(points, self._search(points, foot.astype(np.int64)))

    def _height(self, points: Array, piece: Indices) -> Array:
        """Return the distances of points (m, 3) from the tangent planes of pieces (m,)."""
        gap = points - self.points[piece]
        return np.asarray(np.einsum("ij,ij->i", gap, self.normals[piece]))

    def _search(self, points: Array, cell: Indices) -> Indices:
        """Return the nearest pieces (m,) to points (m, 3) in the 27 voxels about cells (m, 3)."""
        best = np.full(len(points), np.inf, dtype=np.float64)  # squared distances so far
        piece = np.zeros(len(points), dtype=np.int64)
        top = np.array(self.number.shape) - 1
        for shift in np.ndindex(3, 3, 3):
            neighbour = np.clip(cell + (np.array(shift) - 1), 0, top)
            nearest = self.number[tuple(neighbour.T)]
            filled = np.flatnonzero(nearest >= 0)
            nearest = nearest[filled]
            gap = points[filled] - self.points[nearest]
            square = np.einsum("ij,ij->i", gap, gap)
            is_nearer = square < best[filled]
            best[filled[is_nearer]] = square[is_nearer]
            piece[filled[is_nearer]] = nearest[is_nearer]
        return piece


def surface_points(solid: Solid) -> tuple[Array, Array]:
    """Return points (k, 3) of a solid's surface and outward normals there (k, 3).

    A Gaussian moves a curved surface by sigma^2 / 2 times the divergence of its normal. This shift
    is undone; the divergence is taken from a wider Gaussian, where it is less noisy.
    """
    grey = solid.dtype != np.bool_ and bool(np.any((solid > 0) & (solid < 255)))
    filled = solid.astype(np.float32) / (1.0 if solid.dtype == np.bool_ else 255.0)
    largest = scipy.ndimage.maximum_filter(filled, 3)
    box = box_of(largest != scipy.ndimage.minimum_filter(filled, 3), SURFACE_MARGIN)
    filled = filled[box]  # most of a volume is far from its surface
    sigma = GREY_SD if grey else BINARY_SD
    share = scipy.ndimage.gaussian_filter(filled, sigma, mode="nearest")
    # Across a plane a Gaussian gives the normal distribution; its inverse is linear there.
    level = scipy.special.ndtri(np.clip(share, 1e-4, 1.0 - 1e-4))
    points = level_points(level)
    slope = at_points(np.gradient(level), points)
    normals = -slope / np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-12)
    wide = scipy.ndimage.gaussian_filter(share, CURVATURE_SD, mode="nearest")
    variance = sigma**2 + (VOXEL_VARIANCE if grey else 0.0)
    points += 0.5 * variance * at_points([divergence(wide)], points) * normals
    points += np.array([extent.start for extent in box])
    return points, normals


def box_of(chosen: npt.NDArray[np.bool_], margin: int) -> tuple[slice, ...]:
    """Return the box around all chosen voxels (n, n, n), with a margin; of none, the whole grid."""
    boxes = scipy.ndimage.find_objects(chosen.astype(np.int8))
    ranges = boxes[0] if boxes else [slice(0, n) for n in chosen.shape]
    return tuple(
        slice(max(r.start - margin, 0), min(r.stop + margin, n))
        for r, n in zip(ranges, chosen.shape, strict=True)
    )


def level_points(level: Grid) -> Array:
    """Return the points (k, 3) where lines between neighbouring voxels pass the level 0."""
    points = []
    for axis in range(3):
        # Levels of all voxels but the last along the axis, and of their neighbours along it.
        a, b = np.delete(level, -1, axis), np.delete(level, 0, axis)
        crosses = np.nonzero((a > 0) != (b > 0))
        crossing = np.stack(crosses, axis=1) + 0.5
        crossing[:, axis] += a[crosses] / (a[crosses] - b[crosses])
        points.append(crossing)
    return np.concatenate(points)


def divergence(share: Grid) -> Grid:
    """Return the divergence of the outward normal of a smoothed solid (n, n, n) [1/voxel]."""
    slope = np.gradient(share)
    size = np.sqrt(sum(component**2 for component in slope)) + np.float32(1e-6)
    rates = (np.gradient(-component / size, axis=axis) for axis, component in enumerate(slope))
    total: Grid = sum(rates)
    return total


def at_points(fields: Sequence[Grid], points: Array) -> Array:
    """Return fields (n, n, n) at points (k, 3), trilinear, as columns."""
    columns = [
        scipy.ndimage.map_coordinates(values, (points - 0.5).T, order=1, mode="nearest")
        for values in fields
    ]
    return np.asarray(np.stack(columns, axis=1))
