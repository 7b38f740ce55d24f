"""Fields: distance and normal of the ground at each point that the sphere's centre may take.

Rolling needs nothing else of the ground. `Field` has both for Python, and puts spheres on the
ground. For compiled functions a field is a tuple (kind, params, grid), which `sample` and `turning`
evaluate. A field of kind GRID has an array (n, n, n, 4) float32 with the distance to the ground
[voxels] and the smoothed normal at the centres of the voxels, which is interpolated linearly along
each axis; distance.py makes it from voxels. The other kinds are closed forms with parameters
(closed_forms.py).

The layout of the grid stays, for all compiled functions read it; test_voxel_field compares grids
with the closed forms. SHORTEST_NORMAL may be tuned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.numerics import kernel

from voxel_sphere.rolling.closed_forms import distance_and_normal, normal_rate
from voxel_sphere.rolling.distance import NORMAL_SD, Grid, Solid, Surfels, distance_grids
from voxel_sphere.terrain.slices import Done, no_progress

GRID = 0  # kind of a field on voxels; the others are those of closed_forms.py
# A shorter smoothed normal counts as none: opposite normals have cancelled. It is far above the
# round-off of the grid's floats, 1e-7, and far below the 0.7 at an edge.
SHORTEST_NORMAL = 1e-3
# Heights per voxel at which floors are searched, finer than the smoothing of a voxel.
FLOOR_SAMPLES = 4
FLOOR_BISECTIONS = 50  # bisections of an interval between two such heights: 2^-52 voxel, round-off
NO_GRID = np.zeros((1, 1, 1, 4), dtype=np.float32)  # the grid of a closed form
NO_PARAMS = np.zeros(7)  # the params of a GRID

# Three numbers, or as many as stated.
Vector = Sequence[float] | Array

# A field as the kernels take it: kind, params and grid.
Arrays = tuple[int, Array, Grid]


@dataclass(frozen=True, kw_only=True)
class Field:
    """Distance field of the ground for a sphere; lengths in voxels from the grid's corner.

    Args:
        radius: radius of the sphere [voxels].
        size: edge of the workspace [voxels], in which the centre stays.
        kind: GRID, or a kind of closed_forms.py.
        params: parameters of a closed form (7,).
        grid: distance and smoothed normal of a GRID (n, n, n, 4) float32.
        surface: pieces of the surface of a GRID, by which single contacts are found.
    """

    radius: float
    size: float
    kind: int
    params: Array
    grid: Grid
    surface: Surfels | None = None

    @classmethod
    def build(
        cls, solid: Solid, radius: float, *, smoothing: float = NORMAL_SD, done: Done = no_progress
    ) -> Field:
        """Make the field of a solid (n, n, n), bool or grey 0 to 255, indexed [x, y, z].

        Raises:
            AccordError: if it is empty or full, or too small for the sphere.
        """
        n = solid.shape[0]
        full = solid if solid.dtype == np.bool_ else solid >= 128
        if not full.any() or full.all():
            raise AccordError(f"the solid is {'full' if full.any() else 'empty'}: no surface")
        if not 1.0 <= radius <= n / 2:
            bounds = f"from 1 to n/2 = {n / 2:g}"
            raise AccordError(f"a radius of {radius:g} voxels: it must be {bounds}")
        distance, gradient, surface = distance_grids(solid, radius, smoothing=smoothing, done=done)
        grid = np.stack([distance, *gradient], axis=-1)
        return cls(
            radius=radius, size=float(n), kind=GRID, params=NO_PARAMS, grid=grid, surface=surface
        )

    @classmethod
    def closed(cls, kind: int, params: Vector, radius: float, size: float) -> Field:
        """Make the field of a closed form with its parameters, up to 7 (closed_forms.py)."""
        row = np.zeros(7)
        row[: len(params)] = params
        return cls(radius=radius, size=float(size), kind=kind, params=row, grid=NO_GRID)

    @property
    def arrays(self) -> Arrays:
        """The field as the kernels take it."""
        return self.kind, self.params, self.grid

    def distance(self, point: Vector) -> float:
        """Return the distance of a point from the ground [voxels]."""
        return float(sample(self.arrays, *map(float, point))[0])

    def normal(self, point: Vector) -> Array:
        """Return the ground's unit normal (3,) under a centre at a point."""
        return np.array(sample(self.arrays, *map(float, point))[1])

    def place(self, x: float, y: float, z: float | None = None) -> Array:
        """Return the centre (3,) of the sphere when it is lowered onto the ground at (x, y).

        Of several floors it is the lowest with room for the sphere. If a height z of the centre
        [voxels] is given, it is the floor nearest to z, which must be within r/10, or a voxel if
        that is more.

        Raises:
            AccordError: if there is no ground, or z is in the air or inside the ground.
        """
        if not (0.0 < x < self.size and 0.0 < y < self.size):
            raise AccordError(f"the start ({x:g}, {y:g}) is outside the workspace")
        heights = self._floors(x, y)
        if not heights:
            raise AccordError(f"no ground under ({x:g}, {y:g}) with room for the sphere")
        if z is None:
            return np.array([x, y, heights[0]])
        gap = self.distance((x, y, z)) - self.radius
        if abs(gap) > max(1.0, 0.1 * self.radius):
            where = "in the air" if gap > 0 else "inside the ground"
            raise AccordError(f"the start ({x:g}, {y:g}, {z:g}) is {where}, {abs(gap):.3g} voxels")
        return np.array([x, y, min(heights, key=lambda height: abs(height - z))])

    def _floors(self, x: float, y: float) -> list[float]:
        """Return the heights, in rising order, at which the distance rises through r."""
        steps = np.linspace(0.0, self.size, FLOOR_SAMPLES * int(self.size) + 1)
        gaps = [self.distance((x, y, z)) - self.radius for z in steps]
        floors = []
        for low, high, gap_low, gap_high in zip(steps, steps[1:], gaps, gaps[1:]):
            if gap_low < 0.0 <= gap_high:
                for _ in range(FLOOR_BISECTIONS):
                    middle = 0.5 * (low + high)
                    inside = self.distance((x, y, middle)) < self.radius
                    low, high = (middle, high) if inside else (low, middle)
                floors.append(float(high))
        return floors


@kernel
def sample(field, x, y, z):
    """Return the distance to the ground [voxels] and the unit normal (3) at a point.

    The normal is 0 where the grid has none.
    """
    kind, params, grid = field
    if kind == GRID:
        d, nx, ny, nz = trilinear(grid, x, y, z)
        size = math.sqrt(nx * nx + ny * ny + nz * nz)
        if size < SHORTEST_NORMAL:
            return d, (0.0, 0.0, 0.0)
        return d, (nx / size, ny / size, nz / size)
    return distance_and_normal(kind, params, x, y, z)


@kernel
def turning(field, x, y, z, vx, vy, vz):
    """Return the derivative n' (3) of the unit normal at a point that moves with (vx, vy, vz)."""
    kind, params, grid = field
    if kind == GRID:
        _, nx, ny, nz = trilinear(grid, x, y, z)
        size = max(math.sqrt(nx * nx + ny * ny + nz * nz), SHORTEST_NORMAL)
        nx, ny, nz = nx / size, ny / size, nz / size
        tx, ty, tz = trilinear_along(grid, x, y, z, vx, vy, vz)
        along = nx * tx + ny * ty + nz * tz
        return (tx - along * nx) / size, (ty - along * ny) / size, (tz - along * nz) / size
    return normal_rate(kind, params, x, y, z, vx, vy, vz)


@kernel
def trilinear(grid, x, y, z):
    """Return the distance and the normal (3), not of unit length, of a grid at a point.

    The point is in the cell (i, j, k) of eight voxel centres, at the fractions a, b, c of its edges
    along x, y, z; w is the weight of a corner.
    """
    i, a = _cell(grid.shape[0], x)
    j, b = _cell(grid.shape[1], y)
    k, c = _cell(grid.shape[2], z)
    d = nx = ny = nz = 0.0
    for di in range(2):
        wx = a if di else 1.0 - a
        for dj in range(2):
            wxy = wx * (b if dj else 1.0 - b)
            for dk in range(2):
                w = wxy * (c if dk else 1.0 - c)
                d += w * grid[i + di, j + dj, k + dk, 0]
                nx += w * grid[i + di, j + dj, k + dk, 1]
                ny += w * grid[i + di, j + dj, k + dk, 2]
                nz += w * grid[i + di, j + dj, k + dk, 3]
    return d, nx, ny, nz


@kernel
def trilinear_along(grid, x, y, z, vx, vy, vz):
    """Return the rates (3) of the grid's normal for a point that moves with (vx, vy, vz).

    Names are those of `trilinear`; sx, sy, sz are the rates of the weights wx, wy, wz.
    """
    i, a = _cell(grid.shape[0], x)
    j, b = _cell(grid.shape[1], y)
    k, c = _cell(grid.shape[2], z)
    nx = ny = nz = 0.0
    for di in range(2):
        wx, sx = (a, vx) if di else (1.0 - a, -vx)
        for dj in range(2):
            wy, sy = (b, vy) if dj else (1.0 - b, -vy)
            for dk in range(2):
                wz, sz = (c, vz) if dk else (1.0 - c, -vz)
                w = sx * wy * wz + wx * sy * wz + wx * wy * sz
                nx += w * grid[i + di, j + dj, k + dk, 1]
                ny += w * grid[i + di, j + dj, k + dk, 2]
                nz += w * grid[i + di, j + dj, k + dk, 3]
    return nx, ny, nz


@kernel
def _cell(n, u):
    """Return the lower index and the fraction of a coordinate on n centres, clipped at the ends."""
    t = min(max(u - 0.5, 0.0), n - 1.0)
    i = int(min(max(0.0, t), n - 2.0))  # in this order nan, which stays the fraction, is cell 0
    return i, np.float64(t - i)  # interpreted, NumPy would round a float's products to float32
