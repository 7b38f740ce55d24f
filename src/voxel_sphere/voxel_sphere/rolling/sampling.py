"""Kernels that interpolate a field: distance, normal, and the normal's rate.

A field is (kind, params, grid). Of kind GRID it is (n, n, n, 4) float32 at the centres of the
voxels: the distance to the ground [voxels] and the smoothed normal, between them trilinear. The
others are closed forms, the yardstick of the first.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.numerics import kernel

GRID, PLANE, SPHERE, CYLINDER, WAVE = range(5)
LEAST = 1e-3  # size of a smoothed normal below which there is none
NEWTON = 20  # iterations at most, for the foot of a perpendicular on a wave


@kernel
def _cell(n, u):
    """Return the lower index and the fraction of a coordinate on n centres, held at the ends."""
    t = min(max(u - 0.5, 0.0), n - 1.0)
    i = int(min(max(0.0, t), n - 2.0))  # in this order nan, which stays the fraction, is cell 0
    return i, np.float64(t - i)  # interpreted, NumPy would round a float's products to float32


@kernel
def trilinear(grid, x, y, z):
    """Return the four numbers of a grid at a point."""
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
    """Return the rates of the normal's three numbers for a point that moves with (vx, vy, vz)."""
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
def _foot(params, s, z):
    """Return where on a wave z = p2 + p3 sin(p4 s) a point (s, z) has its foot: s, slope, bend."""
    base, amplitude, k = params[2], params[3], params[4]
    t = s
    for _ in range(NEWTON):
        height = base + amplitude * math.sin(k * t)
        slope = amplitude * k * math.cos(k * t)
        bend = -amplitude * k * k * math.sin(k * t)
        step = ((t - s) + (height - z) * slope) / (1.0 + slope * slope + (height - z) * bend)
        t -= step
        if abs(step) < 1e-13 * (1.0 + abs(t)):
            break
    return t


@kernel
def _closed(kind, params, x, y, z):
    """Return distance and normal of a closed form at a point."""
    if kind == PLANE:  # params: a point, the normal
        nx, ny, nz = params[3], params[4], params[5]
        d = (x - params[0]) * nx + (y - params[1]) * ny + (z - params[2]) * nz
        return d, nx, ny, nz
    if kind == WAVE:  # params: cos, sin of the direction, base, amplitude, wave number
        s = params[0] * x + params[1] * y
        # Below the ground there may be several feet; there the height will do, for its sign.
        above = z > params[2] + params[3] * math.sin(params[4] * s)
        t = _foot(params, s, z) if above else s
        slope = params[3] * params[4] * math.cos(params[4] * t)
        w = math.sqrt(1.0 + slope * slope)
        height = params[2] + params[3] * math.sin(params[4] * t)
        d = ((z - height) - (s - t) * slope) / w
        return d, -slope * params[0] / w, -slope * params[1] / w, 1.0 / w
    # params: the centre or a point of the axis, the axis or 0, radius; inside of it
    ux, uy, uz = params[0] - x, params[1] - y, params[2] - z
    along = ux * params[3] + uy * params[4] + uz * params[5]
    ux, uy, uz = ux - along * params[3], uy - along * params[4], uz - along * params[5]
    size = math.sqrt(ux * ux + uy * uy + uz * uz)
    return params[6] - size, ux / size, uy / size, uz / size


@kernel
def sample(field, x, y, z):
    """Return the distance to the ground [voxels] and the unit normal (3) at a point, 0 for none."""
    kind, params, grid = field
    if kind == GRID:
        d, nx, ny, nz = trilinear(grid, x, y, z)
        size = math.sqrt(nx * nx + ny * ny + nz * nz)
        if size < LEAST:
            return d, 0.0, 0.0, 0.0
        return d, nx / size, ny / size, nz / size
    return _closed(kind, params, x, y, z)


@kernel
def turning(field, x, y, z, vx, vy, vz):
    """Return n' (3) for a point that moves with (vx, vy, vz): the field's own derivative."""
    kind, params, grid = field
    if kind == PLANE:
        return 0.0, 0.0, 0.0
    if kind == GRID:
        _, nx, ny, nz = trilinear(grid, x, y, z)
        size = max(math.sqrt(nx * nx + ny * ny + nz * nz), LEAST)
        nx, ny, nz = nx / size, ny / size, nz / size
        tx, ty, tz = trilinear_along(grid, x, y, z, vx, vy, vz)
        along = nx * tx + ny * ty + nz * tz
        return (tx - along * nx) / size, (ty - along * ny) / size, (tz - along * nz) / size
    d, nx, ny, nz = _closed(kind, params, x, y, z)
    if kind == WAVE:  # it turns in the plane of the wave only, by the curvature at the distance d
        t = _foot(params, params[0] * x + params[1] * y, z)
        slope = params[3] * params[4] * math.cos(params[4] * t)
        bend = -params[3] * params[4] * params[4] * math.sin(params[4] * t)
        w = math.sqrt(1.0 + slope * slope)
        hollow = bend / (w * w * w)
        speed = ((vx * params[0] + vy * params[1]) + slope * vz) / w
        rate = -hollow / (1.0 - d * hollow) * speed
        return rate * params[0] / w, rate * params[1] / w, rate * slope / w
    size = params[6] - d
    along = vx * params[3] + vy * params[4] + vz * params[5]
    wx, wy, wz = vx - along * params[3], vy - along * params[4], vz - along * params[5]
    radial = wx * nx + wy * ny + wz * nz
    return (-wx + radial * nx) / size, (-wy + radial * ny) / size, (-wz + radial * nz) / size
