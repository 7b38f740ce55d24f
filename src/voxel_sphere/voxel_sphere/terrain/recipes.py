"""Recipes of generated volumes in `workspace.yaml`: closed forms, and sheets of a thickness.

Keys of a recipe (surface, parameters, height, xyz, s, t, thickness) are in files of users and stay;
a new kind of volume is a function like `sheet_of` and a branch in cli/terrain.py. SPACING to
MARGIN, of accuracy and memory, may be tuned: test_voxel_generate fills a tube and tilted sheets
within 0.02 by them.

A sheet (X, Y, Z)(s, t) is a surface or wall in parametric form. The ball rolls on the side that
dP/ds x dP/dt points to; the sheet has its thickness behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
from roboaccord.contract import AccordError, Array

from voxel_sphere.terrain.expressions import expression
from voxel_sphere.terrain.slices import Done, Volume, nothing
from voxel_sphere.terrain.surfaces import Surface, centres, grey, make_surface

Index = npt.NDArray[np.int64]

SPACING = 0.25  # voxels, of the points that stand for the sheet
FIRST = 65  # points along s and t, from which the number of points is estimated
MOST = 6_000_000  # points
AT_ONCE = 200_000  # voxels
REACH = 2.0  # voxels
MARGIN = 6  # points from the rim, 1.5 voxels, where a place may be beyond it


@dataclass(frozen=True)
class Sheet:
    """A piece of surface in space, solid behind it.

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
        counts = _counts(self._sample(FIRST, FIRST))
        while counts[0] * counts[1] <= MOST:
            grid = self._sample(*counts)
            wide = [_gaps(grid, axis).max() > 2 * SPACING for axis in (0, 1)]
            if not any(wide):
                return grid
            counts = counts[0] * (1 + wide[0]), counts[1] * (1 + wide[1])
        raise AccordError("the surface is far larger than the grid, or is not continuous")

    @cached_property
    def front(self) -> tuple[Array, Array, Index]:
        """Points (m, 3) with the unit normals there (m, 3), and their places in the grid (m, 2).

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
        return scipy.spatial.cKDTree(self.front[0])

    def distance(self, x: Array, y: Array, z: Array) -> Array:
        """Return the signed distance, negative inside, from the plane at the nearest point.

        Beyond the thickness and 2 voxels, which is all that is looked through, it is just that.
        """
        place = np.stack(np.broadcast_arrays(x, y, z), axis=-1)
        shape, place = place.shape[:-1], place.reshape(-1, 3)
        points, normals, cells = self.front
        reach = self.thickness + REACH
        far, nearest = self._tree.query(place, distance_upper_bound=reach)
        reached = np.flatnonzero(np.isfinite(far))
        place, nearest = place[reached], nearest[reached]
        above = np.einsum("ij,ij->i", place - points[nearest], normals[nearest])
        distance = np.full(len(far), reach)
        distance[reached] = np.maximum.reduce(
            [above, -self.thickness - above, self._beyond_rim(place, cells[nearest])]
        )
        return distance.reshape(shape)

    def _beyond_rim(self, place: Array, cells: Index) -> Array:
        """Return how far places are beyond the rim, negative inside it, -inf far from it.

        Args:
            place: (m, 3) [voxels].
            cells: (m, 2), of the nearest points of the grid.
        """
        beyond = np.full(len(place), -np.inf)
        for axis in (0, 1):
            grid = np.moveaxis(self.grid, axis, 0)
            if np.abs(grid[0] - grid[-1]).max() < SPACING:
                continue  # it closes upon itself
            last = len(grid) - 1
            margin = min(MARGIN, last)
            for end, inner in ((0, margin), (last, last - margin)):
                near = np.flatnonzero(np.abs(cells[:, axis] - end) <= margin)
                across = cells[near, 1 - axis]
                outward = grid[end, across] - grid[inner, across]
                sizes = np.maximum(np.linalg.norm(outward, axis=1), 1e-9)
                offset = place[near] - grid[end, across]
                lateral = np.einsum("ij,ij->i", offset, outward) / sizes
                beyond[near] = np.maximum(beyond[near], lateral)
        return beyond

    def fill(self, n: int, *, binary: bool = False, done: Done = nothing) -> Volume:
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
        for begin in range(0, len(near), AT_ONCE):
            cells = near[begin : begin + AT_ONCE]
            d = self.distance(*x[cells.T])
            content = np.where(d < 0, 1.0, 0.0) if binary else np.clip(0.5 - d, 0.0, 1.0)
            volume[tuple(cells.T)] = grey(content)
        done(n)
        return volume

    def _sample(self, rows: int, columns: int) -> Array:
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
    return max(int(along_s / SPACING) + 1, 3), max(int(along_t / SPACING) + 1, 3)


Recipe = Mapping[str, Any]


def surface_of(recipe: Recipe, n: int, radius: float) -> Surface:
    """Return the graph of a recipe `surface` (named, with `parameters`) or `height` (expression).

    Args:
        recipe: as in `workspace.yaml`.
        n: size of the grid [voxels].
        radius: of the sphere [voxels].

    Raises:
        AccordError: if the recipe is neither, or cannot be made.
    """
    try:
        if "surface" in recipe:
            parameters = {key: float(v) for key, v in recipe.get("parameters", {}).items()}
            return make_surface(str(recipe["surface"]), n, radius, **parameters)
        text = str(recipe["height"])
    except (AttributeError, KeyError, TypeError, ValueError):
        raise AccordError(f"the recipe {dict(recipe)} makes no surface") from None
    return Surface(name="height", height=expression(text, "xy", {"n": n, "r": radius}))


def sheet_of(recipe: Recipe, n: int, radius: float) -> Sheet:
    """Return the sheet of a recipe `xyz` (three expressions), with `s`, `t` and `thickness`.

    Raises:
        AccordError: if the recipe is not that, or cannot be made.
    """
    constants = {"n": float(n), "r": radius}
    try:
        texts, s, t = ([str(text) for text in recipe[key]] for key in ("xyz", "s", "t"))
        thickness = float(recipe["thickness"])
        if (len(texts), len(s), len(t)) != (3, 2, 2):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise AccordError(f"the recipe {dict(recipe)} makes no sheet") from None
    if not 1 <= thickness <= n:
        raise AccordError(f"thickness is {thickness:g}; it must be 1 to {n} voxels")
    parts = [expression(text, "st", constants) for text in texts]

    def xyz(s: Array, t: Array) -> tuple[Array, Array, Array]:
        x, y, z = (part(s, t) for part in parts)
        return x, y, z

    return Sheet(xyz, interval("s", s, constants), interval("t", t, constants), thickness)


def interval(
    name: str, texts: Sequence[str], constants: Mapping[str, float]
) -> tuple[float, float]:
    """Return the ends of a range, which are expressions of n, r and pi.

    Raises:
        AccordError: if they are not two different finite numbers.
    """
    first, last = (float(expression(text, "", constants)()) for text in texts)
    if not np.isfinite([first, last]).all() or first == last:
        raise AccordError(f"--{name} goes from {first:g} to {last:g}, and must be a range")
    return first, last
