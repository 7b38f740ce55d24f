"""Lines on a map where a value is reached."""

from __future__ import annotations

import numpy as np

from roboaccord.contract.state import Array


def contour(x: Array, y: Array, values: Array, level: float) -> Array:
    """Return the line where values on a grid pass a level, as pieces from point to point (k, 2, 2).

    Each cell of the grid is two triangles, on which the values are linear. Where one of a
    triangle's corners is NaN there is no line.

    Args:
        x, y: of the grid (n,), (m,).
        values: (n, m).
        level: to be passed.
    """
    grid = np.stack([*np.meshgrid(x, y, indexing="ij"), values - level], axis=-1)
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    corners = np.concatenate(
        [np.stack(triangle, axis=-2).reshape(-1, 3, 3) for triangle in ((a, b, c), (a, c, d))]
    )
    above = corners[..., 2] > 0.0
    mixed = np.isfinite(corners[..., 2]).all(axis=1) & above.any(axis=1) & ~above.all(axis=1)
    pieces = [_piece(triangle) for triangle in corners[mixed]]
    return np.array(pieces).reshape(-1, 2, 2)


def _piece(triangle: Array) -> Array:
    """Return the two points (2, 2) where the edges of a triangle (3, 3) pass 0."""
    points = []
    for one, other in zip(triangle, np.roll(triangle, -1, axis=0), strict=True):
        if (one[2] > 0.0) != (other[2] > 0.0):
            points.append((one + one[2] / (one[2] - other[2]) * (other - one))[:2])
    return np.array(points)
