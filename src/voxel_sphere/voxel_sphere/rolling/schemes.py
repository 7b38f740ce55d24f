"""Velocity of a sphere that rolls without slipping, by two schemes, and integration steps.

The centre c stays at the distance r from the ground, whose unit normal below it is n(c). With the
angular velocity w in the world frame it moves with c' = r w x n (scheme EXACT), and the orientation
matrix A turns with A' = [w] A, [w] being the cross-product matrix. The scheme LOCAL_PLANE is that
of the source (the description of a MATLAB program, docs/voxel_sphere.md): it takes the ground for a
plane, so that the contact moves with r w x n, and not the centre. Centres are integrated by the
classical Runge-Kutta method; the orientation turns exactly for a constant w.

A scheme may be added: a number beside these and a branch in `rolling`. test_voxel_rolling compares
both with quadrature, holonomy and Montana's equations.
"""

from __future__ import annotations

import math

from roboaccord.numerics import kernel

from voxel_sphere.rolling.field import sample, turning

EXACT, LOCAL_PLANE = range(2)


@kernel
def rolling(scheme, field, r, w, x, y, z, nx, ny, nz):
    """Return the velocity (3) of a centre (x, y, z) above the ground's normal (nx, ny, nz).

    In LOCAL_PLANE the contact c - r n moves with r w x n. With the normal's rate n' = J c' the
    centre then moves with c' = (1 - r J)^-1 r w x n, which is solved in the basis (a, b) of the
    ground's plane, a along r w x n.
    """
    wx, wy, wz = w
    vx, vy, vz = r * (wy * nz - wz * ny), r * (wz * nx - wx * nz), r * (wx * ny - wy * nx)
    speed = math.sqrt(vx * vx + vy * vy + vz * vz)
    if scheme == EXACT or speed == 0.0:
        return vx, vy, vz
    ax, ay, az = vx / speed, vy / speed, vz / speed
    bx, by, bz = ny * az - nz * ay, nz * ax - nx * az, nx * ay - ny * ax
    px, py, pz = turning(field, x, y, z, ax, ay, az)  # J a
    qx, qy, qz = turning(field, x, y, z, bx, by, bz)  # J b
    # Matrix 1 - r J in the basis (a, b), and its inverse times (speed, 0), by Cramer's rule.
    aa, ab = 1.0 - r * (ax * px + ay * py + az * pz), -r * (ax * qx + ay * qy + az * qz)
    ba, bb = -r * (bx * px + by * py + bz * pz), 1.0 - r * (bx * qx + by * qy + bz * qz)
    along, across = speed * bb / (aa * bb - ab * ba), -speed * ba / (aa * bb - ab * ba)
    return along * ax + across * bx, along * ay + across * by, along * az + across * bz


@kernel
def velocity(scheme, field, r, w, x, y, z):
    """Return the velocity (3) of a centre (x, y, z)."""
    _, nx, ny, nz = sample(field, x, y, z)
    return rolling(scheme, field, r, w, x, y, z, nx, ny, nz)


@kernel
def runge_kutta(scheme, field, r, w, x, y, z, ax, ay, az, h):
    """Return the centre (3) after a step h [s] whose first slope is (ax, ay, az)."""
    g = 0.5 * h
    bx, by, bz = velocity(scheme, field, r, w, x + g * ax, y + g * ay, z + g * az)
    cx, cy, cz = velocity(scheme, field, r, w, x + g * bx, y + g * by, z + g * bz)
    dx, dy, dz = velocity(scheme, field, r, w, x + h * cx, y + h * cy, z + h * cz)
    s = h / 6.0
    return (
        x + s * (ax + 2.0 * (bx + cx) + dx),
        y + s * (ay + 2.0 * (by + cy) + dy),
        z + s * (az + 2.0 * (bz + cz) + dz),
    )


@kernel
def turn(state, w, h):
    """Turn the orientation state[3:7], x y z w, by exp([w] h), exact for a constant w (3)."""
    wx, wy, wz = w[0], w[1], w[2]
    rate = math.sqrt(wx * wx + wy * wy + wz * wz)
    half = 0.5 * h * rate
    scale = math.sin(half) / rate if rate > 0.0 else 0.0
    px, py, pz, pw = wx * scale, wy * scale, wz * scale, math.cos(half)  # quaternion of the turn
    x, y, z, s = state[3], state[4], state[5], state[6]
    qx = pw * x + px * s + py * z - pz * y
    qy = pw * y + py * s + pz * x - px * z
    qz = pw * z + pz * s + px * y - py * x
    qw = pw * s - px * x - py * y - pz * z
    size = math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
    state[3], state[4], state[5], state[6] = qx / size, qy / size, qz / size, qw / size


@kernel
def hits(walls, r, vx, vy, vz, x, y, z):
    """Return whether a centre (x, y, z) is within r of a wall and approaches it.

    It moves with (vx, vy, vz).
    """
    d, mx, my, mz = sample(walls, x, y, z)
    return d < r and vx * mx + vy * my + vz * mz < 0.0
