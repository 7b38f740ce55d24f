"""Fields of ground in closed form, by which voxels and motions are measured [voxels]."""

import numpy as np
from voxel_sphere.rolling.closed_forms import CYLINDER, PLANE, SPHERE, WAVE
from voxel_sphere.rolling.field import Field


def plane(point, normal, *, radius, size):
    """Return a plane through a point with a normal upwards."""
    return Field.closed(PLANE, [*point, *_unit(normal)], radius, size)


def bowl(centre, bowl_radius, *, radius, size):
    """Return the inside of a sphere."""
    return Field.closed(SPHERE, [*centre, 0.0, 0.0, 0.0, bowl_radius], radius, size)


def cylinder(point, axis, cylinder_radius, *, radius, size):
    """Return the inside of a cylinder."""
    return Field.closed(CYLINDER, [*point, *_unit(axis), cylinder_radius], radius, size)


def wave(base, amplitude, wavelength, direction=0.0, *, radius, size):
    """Return z = base + amplitude sin(2 pi s / wavelength), s along a direction in plan [rad]."""
    params = [np.cos(direction), np.sin(direction), base, amplitude, 2 * np.pi / wavelength]
    return Field.closed(WAVE, params, radius, size)


def _unit(vector):
    return np.asarray(vector, dtype=float) / np.linalg.norm(vector)
