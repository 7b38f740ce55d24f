"""Newton's and Euler's equations of a heavy sphere that rolls, slides or flies; compiled kernels.

The contact force F = m (a - g) has the torque -r n x F about the centre, so I W' = t - r n x F with
the drive torque t. The ground's unit normal n turns with n'.

Rolling, v = r W x n and a = r W' x n + r W x n'. With n x (W' x n) = W' - (n.W') n and
n x (W x n') = -(n.W) n' (as n.n' = 0) this gives, along n and in the plane,

    I n.W' = n.t        (I + m r^2) W'_t = t_t + m r n x g + m r^2 (n.W) n'

Sliding with u = v - r W x n:  f = -mu N u/|u|,  m a = m g + N n + f,  I W' = t - r n x f. The
centre stays on its surface, n.v = 0, so n.a = -v.n' and N = -m (n.g + v.n').

The state y (9) is the centre c, its velocity v and the angular velocity W, in the world frame;
lengths are in voxels. `fields_of` returns these three parts of a state or of its rates. A contact
force (4) is the friction f (3), and then N.

The law of friction may be changed, in `rates` and `grip` together. test_voxel_heavy compares the
equations with a second derivation and with motions in closed form.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from roboaccord.numerics import cross, kernel

from voxel_sphere.rolling.field import sample, turning
from voxel_sphere.rolling.vectors import dot, norm

ROLL, SLIDE, FLIGHT = range(3)  # modes of motion
# Index of the normal force N in a contact force. If N is negative, the ground would have to pull.
NORMAL_FORCE = 3
# Fraction of r |W| + |v|; a smaller slip is round-off of their difference, 1e-16, summed over the
# steps: the sphere does not slide, and friction is what rolling needs.
SLIP_ROUND_OFF = 1e-9


class Body(NamedTuple):
    """A sphere and what acts on it; M is any unit of mass.

    Attributes:
        radius: r [voxels].
        mass: m [M].
        inertia: moment of inertia I about the centre [M voxels^2].
        gravity: downwards [voxels/s^2].
        mu: coefficient of dry friction of the ground, which may be infinite.
    """

    radius: float
    mass: float
    inertia: float
    gravity: float
    mu: float


@kernel
def rates(mode, field, body, y, torque, rate, force):
    """Fill the rates (9) of a state y and the contact force (4): friction (3), normal force.

    Args:
        mode: ROLL, SLIDE or FLIGHT.
        field: field of the ground.
        body: the sphere (`Body`).
        y: state (9).
        torque: torque t of the drive, world frame (3) [M voxels^2/s^2].
        rate, force: filled.
    """
    r, _, inertia, gravity, _ = body
    c, velocity, w = fields_of(y)
    c_rate, v_rate, w_rate = fields_of(rate)
    rate[:] = 0.0
    force[:] = 0.0
    if mode == FLIGHT:
        c_rate[:] = velocity
        v_rate[2] = -gravity
        for i in range(3):
            w_rate[i] = torque[i] / inertia
        return
    # Normal n, its rate n', the velocity v within the tangent plane, and W x n.
    n, n_rate, v, w_cross_n = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    _, n[0], n[1], n[2] = sample(field, c[0], c[1], c[2])
    cross(w, n, w_cross_n)
    if mode == ROLL:
        for i in range(3):
            v[i] = r * w_cross_n[i]
    else:
        v[:] = velocity
        remove_component(v, n)
    n_rate[0], n_rate[1], n_rate[2] = turning(field, c[0], c[1], c[2], v[0], v[1], v[2])
    c_rate[:] = v
    if mode == ROLL:
        _roll_without_slip(body, w, torque, n, n_rate, v_rate, w_rate, force)
    else:
        u = np.empty(3)  # slip u = v - r W x n
        for i in range(3):
            u[i] = v[i] - r * w_cross_n[i]
        _slide(body, v, w, u, torque, n, n_rate, v_rate, w_rate, force)


@kernel
def _slide(body, v, w, u, torque, n, n_rate, v_rate, w_rate, force):
    """Fill v', W' and the contact force of a sphere that slides with the slip u (3), changed.

    Args:
        body, torque: as in `rates`.
        v, w: velocity in the tangent plane, and angular velocity (3).
        u: slip (3); replaced by its direction, of any length, where it is round-off.
        n, n_rate: the ground's normal (3), and its rate n' (3).
        v_rate, w_rate, force: filled (3), (3), (4).
    """
    r, m, inertia, gravity, mu = body
    slip, scale = norm(u), 0.0
    for i in range(3):
        scale += abs(v[i]) + r * abs(w[i])
    normal = m * (gravity * n[2] - dot(v, n_rate))
    if slip <= SLIP_ROUND_OFF * scale:
        # It slides without slip, as at the start: friction acts against what rolling would need.
        _roll_without_slip(body, w, torque, n, n_rate, v_rate, w_rate, force)
        slip = norm(force)
        for i in range(3):
            u[i] = -force[i]
    force[NORMAL_FORCE] = normal
    for i in range(3):
        force[i] = -mu * normal * u[i] / slip if slip > 0.0 else 0.0
    n_cross_f = np.empty(3)
    cross(n, force[0:3], n_cross_f)
    for i in range(3):
        v_rate[i] = (normal * n[i] + force[i]) / m
        w_rate[i] = (torque[i] - r * n_cross_f[i]) / inertia
    v_rate[2] -= gravity


@kernel
def _roll_without_slip(body, w, torque, n, n_rate, v_rate, w_rate, force):
    """Fill v', W' and the contact force of a sphere that rolls.

    Args:
        body, torque: as in `rates`.
        w: angular velocity (3).
        n, n_rate: the ground's normal (3), and its rate n' (3).
        v_rate, w_rate, force: filled (3), (3), (4).
    """
    r, m, inertia, gravity, _ = body
    spin = dot(w, n)  # n.W
    drive = dot(torque, n)  # n.t
    n_cross_g = np.array([-n[1] * gravity, n[0] * gravity, 0.0])  # g = (0, 0, -gravity)
    for i in range(3):
        tangential = torque[i] - drive * n[i] + m * r * n_cross_g[i] + m * r * r * spin * n_rate[i]
        w_rate[i] = tangential / (inertia + m * r * r) + drive / inertia * n[i]
    # v' = r W' x n + r W x n', and the contact force m (v' - g) that it needs.
    w_cross_n_rate = np.empty(3)
    cross(w_rate, n, v_rate)
    cross(w, n_rate, w_cross_n_rate)
    for i in range(3):
        v_rate[i] = r * (v_rate[i] + w_cross_n_rate[i])
        force[i] = m * v_rate[i]
    force[2] += m * gravity
    force[NORMAL_FORCE] = remove_component(force, n)


@kernel
def slip_of(field, r, y, u):
    """Fill u (3) = v - r W x n, the velocity of the contact point; return its size."""
    c, v, w = fields_of(y)
    _, nx, ny, nz = sample(field, c[0], c[1], c[2])
    u[0] = v[0] - r * (w[1] * nz - w[2] * ny)
    u[1] = v[1] - r * (w[2] * nx - w[0] * nz)
    u[2] = v[2] - r * (w[0] * ny - w[1] * nx)
    return norm(u)


@kernel
def grip(field, body, y, limit):
    """Change v and W by the tangential impulse that ends the slip; return whether it has ended.

    The impulse is at most `limit` [M voxels/s].
    """
    r, m, inertia, _, _ = body
    c, v, w = fields_of(y)
    u, n_cross_u, n = np.empty(3), np.empty(3), np.empty(3)
    slip = slip_of(field, r, y, u)
    if slip == 0.0:
        return True
    # An impulse at the contact changes the slip by (1/m + r^2/I) times itself.
    needed = slip / (1.0 / m + r * r / inertia)
    impulse = min(needed, limit)
    _, n[0], n[1], n[2] = sample(field, c[0], c[1], c[2])
    cross(n, u, n_cross_u)
    for i in range(3):
        v[i] -= impulse / m * u[i] / slip
        w[i] += r * impulse / inertia * n_cross_u[i] / slip
    return needed <= limit


@kernel
def fields_of(y):
    """Return centre, velocity and angular velocity (3) of a state (9), or their rates, as views."""
    return y[0:3], y[3:6], y[6:9]


@kernel
def remove_component(v, n):
    """Take the component along a unit normal n (3) away from v (3), in place; return it."""
    along = dot(v, n)
    for i in range(3):
        v[i] -= along * n[i]
    return along
