"""Ground in closed form: plane, sphere, cylinder and wave, with which grids of voxels are compared.

A closed form is a kind and its parameters `params` (7,), lengths in voxels:

    PLANE     a point (3), and the unit normal there (3)
    SPHERE    hollow, with the ground inside: its centre (3), three zeros, and its radius
    CYLINDER  hollow, with the ground inside: a point of its axis (3), the axis (3), and its radius
    WAVE      cosine and sine of its direction in plan, mean height, amplitude, wave number

A wave is z = mean height + amplitude sin(wave number s), with s along its direction. The functions
give the distance of a point (x, y, z) from the ground, the unit normal there, and the normal's
rate. A form is added as a number here, and a branch in both functions. NEWTON may be tuned;
test_voxel_field compares grids with the closed forms.
"""

from __future__ import annotations

import math

from roboaccord.numerics import kernel

PLANE, SPHERE, CYLINDER, WAVE = range(1, 5)  # kinds of fields; 0 is GRID of field.py
# Largest number of iterations for the foot of a perpendicular on a wave; 6 reach round-off from the
# centres of balls on the generator's sinusoid (measured).
NEWTON = 20


@kernel
def distance_and_normal(kind, params, x, y, z):
    """Return the distance of a point from the ground [voxels], and the unit normal (3)."""
    if kind == PLANE:
        nx, ny, nz = params[3], params[4], params[5]
        d = (x - params[0]) * nx + (y - params[1]) * ny + (z - params[2]) * nz
        return d, nx, ny, nz
    if kind == WAVE:
        c, s, mean, amplitude, k = params[0], params[1], params[2], params[3], params[4]
        along = c * x + s * y
        # Below the ground there may be several feet; the height is enough there, for its sign.
        above = z > mean + amplitude * math.sin(k * along)
        foot = _foot_on_wave(params, along, z) if above else along
        slope = amplitude * k * math.cos(k * foot)
        size = math.sqrt(1.0 + slope * slope)
        height = mean + amplitude * math.sin(k * foot)
        d = ((z - height) - (along - foot) * slope) / size
        return d, -slope * c / size, -slope * s / size, 1.0 / size
    # SPHERE and CYLINDER: from the point straight towards the centre, or towards the axis.
    ux, uy, uz = params[0] - x, params[1] - y, params[2] - z
    along = ux * params[3] + uy * params[4] + uz * params[5]
    ux, uy, uz = ux - along * params[3], uy - along * params[4], uz - along * params[5]
    size = math.sqrt(ux * ux + uy * uy + uz * uz)
    return params[6] - size, ux / size, uy / size, uz / size


@kernel
def normal_rate(kind, params, x, y, z, vx, vy, vz):
    """Return the derivative n' (3) of the unit normal at a point that moves with (vx, vy, vz)."""
    if kind == PLANE:
        return 0.0, 0.0, 0.0
    d, nx, ny, nz = distance_and_normal(kind, params, x, y, z)
    # Parallel surfaces of a wave: the normal turns in the plane of the wave, by the curvature of
    # the surface at the distance d.
    if kind == WAVE:
        c, s, amplitude, k = params[0], params[1], params[3], params[4]
        foot = _foot_on_wave(params, c * x + s * y, z)
        slope = amplitude * k * math.cos(k * foot)
        bend = -amplitude * k * k * math.sin(k * foot)
        size = math.sqrt(1.0 + slope * slope)
        curvature = bend / (size * size * size)
        speed = ((vx * c + vy * s) + slope * vz) / size
        rate = -curvature / (1.0 - d * curvature) * speed
        return rate * c / size, rate * s / size, rate * slope / size
    # SPHERE and CYLINDER: the part of the velocity across the normal, over the distance to the
    # middle.
    radius = params[6] - d
    along = vx * params[3] + vy * params[4] + vz * params[5]
    wx, wy, wz = vx - along * params[3], vy - along * params[4], vz - along * params[5]
    radial = wx * nx + wy * ny + wz * nz
    return (-wx + radial * nx) / radius, (-wy + radial * ny) / radius, (-wz + radial * nz) / radius


@kernel
def _foot_on_wave(params, s, z):
    """Return s of the foot of the perpendicular from (s, z) on a wave, by Newton's method."""
    mean, amplitude, k = params[2], params[3], params[4]
    foot = s
    for _ in range(NEWTON):
        height = mean + amplitude * math.sin(k * foot)
        slope = amplitude * k * math.cos(k * foot)
        bend = -amplitude * k * k * math.sin(k * foot)
        step = ((foot - s) + (height - z) * slope) / (1.0 + slope * slope + (height - z) * bend)
        foot -= step
        if abs(step) < 1e-13 * (1.0 + abs(foot)):
            break
    return foot
