"""Fill voxels with a solid: below a height, inside a signed distance, and the robot's sphere.

generate.py makes volumes (n, n, n) of surfaces by these functions. The value of a voxel is the part
of it that is solid, averaged over PARTS of each of its edges, so slices are grey. PARTS and BAND
stay: test_voxel_generate compares volumes with integrals. The position of the robot in its volume
is that of the source (the description of a MATLAB program, docs/voxel_sphere.md), and stays.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import AccordError, Array

from voxel_sphere.terrain.slices import SOLID, Done, Volume, no_progress
from voxel_sphere.terrain.surfaces import Distance, Height

# Parts of a voxel's edge over which its content is averaged. Measured on a sphere of 5 voxels: grey
# values, of 255, are wrong by at most 2 with 2 parts, by at most 1 with 3 to 6.
PARTS = 4
BAND = 0.87  # voxels; half the diagonal of a voxel. Farther from the surface it is full or empty


def centres(n: int, parts: int = 1) -> Array:
    """Return the centres of n voxels along an axis, or those of their parts, (n * parts,)."""
    return (np.arange(n * parts) + 0.5) / parts


def fill_below(height: Height, n: int, *, binary: bool = False, done: Done = no_progress) -> Volume:
    """Return the volume below z = f(x, y), exact along z, averaged over PARTS^2 columns a voxel.

    Args:
        height: height of the ground.
        n: size of the grid [voxels].
        binary: full where the centre of the voxel is below, else empty.
        done: called after each slice.

    Raises:
        AccordError: if the height is not finite, or leaves the grid.
    """
    parts = 1 if binary else PARTS
    x = centres(n, parts)
    columns = np.asarray(height(*np.meshgrid(x, x, indexing="ij")), float)
    check_heights(columns, n)
    volume = np.empty((n, n, n), np.uint8)
    for k in range(n):
        inside = columns > k + 0.5 if binary else np.clip(columns - k, 0.0, 1.0)
        volume[:, :, k] = grey(inside.reshape(n, parts, n, parts).mean(axis=(1, 3)))
        done(1)
    return volume


def check_heights(heights: Array, n: int) -> None:
    """Check that a grid of n voxels can show heights.

    Raises:
        AccordError: unless all are finite and between 1 and n - 1 voxels.
    """
    if not np.isfinite(heights).all():
        raise AccordError("the height is not a finite number everywhere on the grid")
    low, high = heights.min(), heights.max()
    if low < 1 or high > n - 1:
        extent = f"from {low:.4g} to {high:.4g} voxels"
        raise AccordError(f"the height goes {extent}; it must stay in 1 to {n - 1}")


def fill_inside(
    distance: Distance, n: int, *, binary: bool = False, done: Done = no_progress
) -> Volume:
    """Return the volume where a signed distance is negative.

    Args:
        distance: distance of the surface; it must change by at most 1 a voxel.
        n: size of the grid [voxels].
        binary: full where the centre of the voxel is inside, else empty.
        done: called after each slice.
    """
    x = centres(n)
    plan = np.meshgrid(x, x, indexing="ij")
    volume = np.empty((n, n, n), np.uint8)
    part = centres(1, PARTS) - 0.5  # along one axis, from the centre of the voxel
    offsets = np.stack(np.meshgrid(part, part, part), axis=-1).reshape(-1, 3)
    for k in range(n):
        from_surface = distance(*plan, np.full((n, n), k + 0.5))
        volume[:, :, k] = np.where(from_surface < 0, SOLID, 0)
        i, j = np.nonzero(np.abs(from_surface) < BAND)  # voxels near the surface
        if len(i) and not binary:
            points = np.stack([i, j, np.full_like(i, k)], axis=-1) + 0.5
            # Content of each part, whose edge is 1 / PARTS: the surface through it is taken as
            # parallel to one of its faces, so it falls from 1 to 0 over one edge.
            of_parts = distance(*np.moveaxis(points[:, None] + offsets, -1, 0))
            content = np.clip(0.5 - PARTS * of_parts, 0.0, 1.0).mean(axis=1)
            volume[i, j, k] = grey(content)
        done(1)
    return volume


def sphere(n: int, radius: float, *, binary: bool = False, done: Done = no_progress) -> Volume:
    """Return the robot, a sphere whose lowest point is at (n/2, n/2, 0), as in the source.

    Raises:
        AccordError: if it is larger than the grid.
    """
    if 2 * radius > n:
        raise AccordError(f"a sphere of radius {radius:g} is larger than the grid of {n} voxels")

    def distance(x: Array, y: Array, z: Array) -> Array:
        return np.sqrt((x - n / 2) ** 2 + (y - n / 2) ** 2 + (z - radius) ** 2) - radius

    return fill_inside(distance, n, binary=binary, done=done)


def grey(content: Array) -> Volume:
    """Return contents from 0 to 1 as values from 0 to 255."""
    return np.rint(content * SOLID).astype(np.uint8)
