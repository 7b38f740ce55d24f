"""Velocity of a sphere that rolls without slipping, by two schemes, and integration steps.

The centre c stays at the distance r from the ground, whose unit normal below it is n(c). With the
angular velocity w in the world frame it moves with c' = r w x n (scheme EXACT), and the orientation
matrix A turns with A' = [w] A, [w] being the cross-product matrix. The scheme LOCAL_PLANE is that
of the source (the description of a MATLAB program, docs/voxel_sphere.md): it takes the ground for a
plane, so that the contact moves with r w x n, and not the centre. Centres are integrated by the
classical Runge-Kutta method; the orientation turns exactly for a constant w.

A scheme may be added: a number beside these and a branch in `rolling_velocity`. test_voxel_rolling
compares both with quadrature, holonomy and Montana's equations.
"""

from __future__ import annotations

import math

from roboaccord.numerics import kernel

from voxel_sphere.rolling.field import sample, turning

EXACT, LOCAL_PLANE = range(2)


@kernel
def rolling_velocity(scheme, field, r, w, c, n):
    """Return the velocity (3) of the centre c (3) of a sphere above the ground's normal n (3).

    In LOCAL_PLANE the contact c - r n moves with r w x n. With the normal's rate n' = J c' the
    centre then moves with c' = (1 - r J)^-1 r w x n, which is solved in the basis (a, b) of the
    ground's plane, a along r w x n.

    Args:
        scheme: EXACT or LOCAL_PLANE.
        field: field of the ground, (kind, params, grid).
        r: radius of the sphere [voxels].
        w: angular velocity in the world frame (3) [rad/s].
        c, n: tuples of 3 numbers [voxels, 1].
    """
    (x, y, z), (wx, wy, wz), (nx, ny, nz) = c, w, n
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
def velocity(scheme, field, r, w, c):
    """Return the velocity (3) of a centre c (3); the arguments are those of `rolling_velocity`."""
    _, nx, ny, nz = sample(field, *c)
    return rolling_velocity(scheme, field, r, w, c, (nx, ny, nz))


@kernel
def moved(c, h, v):
    """Return c + h v (3), the point that a velocity v (3) reaches from c (3) in a time h [s]."""
    return c[0] + h * v[0], c[1] + h * v[1], c[2] + h * v[2]


@kernel
def runge_kutta(scheme, field, r, w, c, v, h):
    """Return the centre (3) after a step h [s] from c, where its velocity is v (3)."""
    v2 = velocity(scheme, field, r, w, moved(c, 0.5 * h, v))
    v3 = velocity(scheme, field, r, w, moved(c, 0.5 * h, v2))
    v4 = velocity(scheme, field, r, w, moved(c, h, v3))
    s = h / 6.0
    return (
        c[0] + s * (v[0] + 2.0 * (v2[0] + v3[0]) + v4[0]),
        c[1] + s * (v[1] + 2.0 * (v2[1] + v3[1]) + v4[1]),
        c[2] + s * (v[2] + 2.0 * (v2[2] + v3[2]) + v4[2]),
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
def hits(walls, r, c, v):
    """Return whether a centre c (3) is within r of a wall and approaches it with v (3)."""
    d, mx, my, mz = sample(walls, *c)
    return d < r and v[0] * mx + v[1] * my + v[2] * mz < 0.0
