"""Ground in closed form: plane, sphere, cylinder and wave, with which grids of voxels are compared.

A closed form is a kind and its parameters `params` (7,), lengths in voxels:

    PLANE     a point (3), and the unit normal there (3)
    SPHERE    hollow, with the ground inside: its centre (3), three zeros, and its radius
    CYLINDER  hollow, with the ground inside: a point of its axis (3), the axis (3), and its radius
    WAVE      cosine and sine of its direction in plan, mean height, amplitude, wave number

A wave is z = mean height + amplitude sin(wave number s), with s along its direction. The functions
give the distance of a point (x, y, z) from the ground, the unit normal there, and the normal's
rate. A form is added as a number here, and a branch in both functions. MAX_ITERATIONS may be tuned;
test_voxel_field compares grids with the closed forms.
"""

from __future__ import annotations

import math

from roboaccord.numerics import kernel

from voxel_sphere.rolling.vectors import add_scaled, dot, norm, scaled

PLANE, SPHERE, CYLINDER, WAVE = range(1, 5)  # kinds of fields; 0 is GRID of field.py
# Largest number of iterations for the foot of a perpendicular on a wave; 6 reach round-off from the
# centres of balls on the generator's sinusoid (measured).
MAX_ITERATIONS = 20


@kernel
def distance_and_normal(kind, params, x, y, z):
    """Return the distance of a point from the ground [voxels], and the unit normal (3)."""
    if kind == PLANE:
        point, n = params[0:3], params[3:6]
        return dot((x - point[0], y - point[1], z - point[2]), n), (n[0], n[1], n[2])
    if kind == WAVE:
        c, s = params[0], params[1]
        along = c * x + s * y
        # Below the ground there may be several feet; the height is enough there, for its sign.
        is_above = z > _wave(params, along)[0]
        foot = _foot_on_wave(params, along, z) if is_above else along
        height, slope, _ = _wave(params, foot)
        size = math.sqrt(1.0 + slope * slope)
        d = ((z - height) - (along - foot) * slope) / size
        return d, (-slope * c / size, -slope * s / size, 1.0 / size)
    # SPHERE and CYLINDER: from the point straight towards the centre, or towards the axis.
    middle, axis, radius = params[0:3], params[3:6], params[6]
    u = middle[0] - x, middle[1] - y, middle[2] - z
    u = add_scaled(u, -dot(u, axis), axis)
    size = norm(u)
    return radius - size, (u[0] / size, u[1] / size, u[2] / size)


@kernel
def normal_rate(kind, params, x, y, z, vx, vy, vz):
    """Return the derivative n' (3) of the unit normal at a point that moves with (vx, vy, vz)."""
    if kind == PLANE:
        return 0.0, 0.0, 0.0
    d, n = distance_and_normal(kind, params, x, y, z)
    # Parallel surfaces of a wave: the normal turns in the plane of the wave, by the curvature of
    # the surface at the distance d.
    if kind == WAVE:
        c, s = params[0], params[1]
        foot = _foot_on_wave(params, c * x + s * y, z)
        _, slope, bend = _wave(params, foot)
        size = math.sqrt(1.0 + slope * slope)
        curvature = bend / (size * size * size)
        speed = ((vx * c + vy * s) + slope * vz) / size
        rate = -curvature / (1.0 - d * curvature) * speed
        return rate * c / size, rate * s / size, rate * slope / size
    # SPHERE and CYLINDER: the part of the velocity across the normal, over the distance to the
    # middle.
    radius = params[6] - d
    axis, v = params[3:6], (vx, vy, vz)
    across = add_scaled(v, -dot(v, axis), axis)
    rate = add_scaled(scaled(-1.0, across), dot(across, n), n)
    return rate[0] / radius, rate[1] / radius, rate[2] / radius


@kernel
def _wave(params, s):
    """Return height [voxels], slope and second derivative [1/voxel] of a wave at s."""
    mean, amplitude, k = params[2], params[3], params[4]
    height = mean + amplitude * math.sin(k * s)
    slope = amplitude * k * math.cos(k * s)
    bend = -amplitude * k * k * math.sin(k * s)
    return height, slope, bend


@kernel
def _foot_on_wave(params, s, z):
    """Return s of the foot of the perpendicular from (s, z) on a wave, by Newton's method."""
    foot = s
    for _ in range(MAX_ITERATIONS):
        height, slope, bend = _wave(params, foot)
        step = ((foot - s) + (height - z) * slope) / (1.0 + slope * slope + (height - z) * bend)
        foot -= step
        if abs(step) < 1e-13 * (1.0 + abs(foot)):
            break
    return foot
