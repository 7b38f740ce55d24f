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
from voxel_sphere.rolling.vectors import add_scaled, cross_product, dot, norm, scaled

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
    v = scaled(r, cross_product(w, n))
    speed = norm(v)
    if scheme == EXACT or speed == 0.0:
        return v
    a = v[0] / speed, v[1] / speed, v[2] / speed
    b = cross_product(n, a)
    n_rate_a = turning(field, c[0], c[1], c[2], a[0], a[1], a[2])  # J a
    n_rate_b = turning(field, c[0], c[1], c[2], b[0], b[1], b[2])  # J b
    # Matrix 1 - r J in the basis (a, b), and its inverse times (speed, 0), by Cramer's rule.
    m_aa = 1.0 - r * dot(a, n_rate_a)
    m_ab = -r * dot(a, n_rate_b)
    m_ba = -r * dot(b, n_rate_a)
    m_bb = 1.0 - r * dot(b, n_rate_b)
    determinant = m_aa * m_bb - m_ab * m_ba
    return add_scaled(scaled(speed * m_bb / determinant, a), -speed * m_ba / determinant, b)


@kernel
def velocity(scheme, field, r, w, c):
    """Return the velocity (3) of a centre c (3); the arguments are those of `rolling_velocity`."""
    _, n = sample(field, c[0], c[1], c[2])
    return rolling_velocity(scheme, field, r, w, c, n)


@kernel
def runge_kutta(scheme, field, r, w, c, v, h):
    """Return the centre (3) after a step h [s] from c, where its velocity is v (3)."""
    v2 = velocity(scheme, field, r, w, add_scaled(c, 0.5 * h, v))
    v3 = velocity(scheme, field, r, w, add_scaled(c, 0.5 * h, v2))
    v4 = velocity(scheme, field, r, w, add_scaled(c, h, v3))
    s = h / 6.0
    return (
        c[0] + s * (v[0] + 2.0 * (v2[0] + v3[0]) + v4[0]),
        c[1] + s * (v[1] + 2.0 * (v2[1] + v3[1]) + v4[1]),
        c[2] + s * (v[2] + 2.0 * (v2[2] + v3[2]) + v4[2]),
    )


@kernel
def turn(state, w, h):
    """Turn the orientation state[3:7], x y z w, by exp([w] h), exact for a constant w (3)."""
    rate = norm(w)
    half = 0.5 * h * rate
    scale = math.sin(half) / rate if rate > 0.0 else 0.0
    px, py, pz = scaled(scale, w)  # quaternion of the turn, with pw
    pw = math.cos(half)
    x, y, z, s = state[3], state[4], state[5], state[6]
    qx = pw * x + px * s + py * z - pz * y
    qy = pw * y + py * s + pz * x - px * z
    qz = pw * z + pz * s + px * y - py * x
    qw = pw * s - px * x - py * y - pz * z
    size = math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
    product = qx, qy, qz, qw
    for i in range(4):
        state[3 + i] = product[i] / size


@kernel
def hits(walls, r, c, v):
    """Return whether a centre c (3) is within r of a wall and approaches it with v (3)."""
    d, m = sample(walls, c[0], c[1], c[2])
    return d < r and dot(v, m) < 0.0
