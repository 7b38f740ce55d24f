"""Newton's and Euler's equations of a heavy sphere that rolls, slides or flies; compiled kernels.

The contact force F = m (a - g) has the torque -r n x F about the centre, so I W' = t - r n x F with
the drive torque t. The ground's unit normal n turns with n'.

Rolling, v = r W x n and a = r W' x n + r W x n'. With n x (W' x n) = W' - (n.W') n and
n x (W x n') = -(n.W) n' (as n.n' = 0) this gives, along n and in the plane,

    I n.W' = n.t        (I + m r^2) W'_t = t_t + m r n x g + m r^2 (n.W) n'

Sliding with u = v - r W x n:  f = -mu N u/|u|,  m a = m g + N n + f,  I W' = t - r n x f. The
centre stays on its surface, n.v = 0, so n.a = -v.n' and N = -m (n.g + v.n').

The state y (9) is the centre c, its velocity v and the angular velocity W, in the world frame;
lengths are in voxels.

The law of friction may be changed, in `rates` and `grip` together. test_voxel_heavy compares the
equations with a second derivation and with motions in closed form.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from roboaccord.numerics import cross, kernel

from voxel_sphere.rolling.field import sample, turning

ROLL, SLIDE, FLIGHT = range(3)  # modes of motion
# Index of the normal force in a contact force, after the friction (3). If it is negative, the
# ground would have to pull.
NORMAL = 3
# Fraction of r |W| + |v|; a smaller slip is round-off of their difference, 1e-16, summed over the
# steps: the sphere does not slide, and friction is what rolling needs.
STILL = 1e-9


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
    r, m, inertia, gravity, mu = body
    rate[:] = 0.0
    force[:] = 0.0
    if mode == FLIGHT:
        rate[0:3] = y[3:6]
        rate[5] = -gravity
        for i in range(3):
            rate[6 + i] = torque[i] / inertia
        return
    # Normal n, side = W x n, velocity v within the tangent plane, and turned = n'.
    n, v, turned, side = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    _, n[0], n[1], n[2] = sample(field, y[0], y[1], y[2])
    cross(y[6:9], n, side)
    if mode == ROLL:
        for i in range(3):
            v[i] = r * side[i]
    else:
        along = y[3] * n[0] + y[4] * n[1] + y[5] * n[2]
        for i in range(3):
            v[i] = y[3 + i] - along * n[i]
    turned[0], turned[1], turned[2] = turning(field, y[0], y[1], y[2], v[0], v[1], v[2])
    # Slip u = v - r W x n, its size, and the scale of its round-off.
    u = np.empty(3)
    square, scale = 0.0, 0.0
    for i in range(3):
        u[i] = v[i] - r * side[i]
        square += u[i] * u[i]
        scale += abs(v[i]) + r * abs(y[6 + i])
    slip = math.sqrt(square)
    normal = m * (gravity * n[2] - (v[0] * turned[0] + v[1] * turned[1] + v[2] * turned[2]))
    if mode == ROLL or slip <= STILL * scale:
        a = np.empty(3)
        _roll_without_slip(body, y, torque, n, turned, rate, a, force)
        if mode == ROLL:
            for i in range(3):
                rate[i], rate[3 + i] = v[i], a[i]
            return
        # It slides without slip, as at the start: friction acts against what rolling would need.
        normal = force[NORMAL]
        slip = math.sqrt(force[0] ** 2 + force[1] ** 2 + force[2] ** 2)
        for i in range(3):
            u[i] = -force[i]
    force[NORMAL] = normal
    for i in range(3):
        force[i] = -mu * normal * u[i] / slip if slip > 0.0 else 0.0
    cross(n, force[0:3], side)
    for i in range(3):
        rate[i] = v[i]
        rate[3 + i] = (normal * n[i] + force[i]) / m
        rate[6 + i] = (torque[i] - r * side[i]) / inertia
    rate[5] -= gravity


@kernel
def _roll_without_slip(body, y, torque, n, turned, rate, a, force):
    """Fill W' in the rates, the acceleration a (3) of the centre and the contact force of rolling.

    Args:
        body, y, torque: as in `rates`.
        n, turned: the ground's normal (3), and its rate n' (3).
        rate: rate of the state (9), of which the last three are filled.
        a, force: filled (3), (4).
    """
    r, m, inertia, gravity, _ = body
    side = np.empty(3)
    spin = y[6] * n[0] + y[7] * n[1] + y[8] * n[2]  # n.W
    drive = torque[0] * n[0] + torque[1] * n[1] + torque[2] * n[2]  # n.t
    level = np.array([-n[1] * gravity, n[0] * gravity, 0.0])  # n x g, g = (0, 0, -gravity)
    for i in range(3):
        tangential = torque[i] - drive * n[i] + m * r * level[i] + m * r * r * spin * turned[i]
        rate[6 + i] = tangential / (inertia + m * r * r) + drive / inertia * n[i]
    cross(rate[6:9], n, a)
    cross(y[6:9], turned, side)
    for i in range(3):
        a[i] = r * (a[i] + side[i])
        force[i] = m * a[i]
    force[2] += m * gravity
    normal = force[0] * n[0] + force[1] * n[1] + force[2] * n[2]
    for i in range(3):
        force[i] -= normal * n[i]
    force[NORMAL] = normal


@kernel
def slip_of(field, r, y, u):
    """Fill u (3) = v - r W x n, the velocity of the contact point; return its size."""
    _, nx, ny, nz = sample(field, y[0], y[1], y[2])
    u[0] = y[3] - r * (y[7] * nz - y[8] * ny)
    u[1] = y[4] - r * (y[8] * nx - y[6] * nz)
    u[2] = y[5] - r * (y[6] * ny - y[7] * nx)
    return math.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])


@kernel
def grip(field, body, y, limit):
    """Change v and W by the tangential impulse that ends the slip; return whether it has ended.

    The impulse is at most `limit` [M voxels/s].
    """
    r, m, inertia, _, _ = body
    u, side, n = np.empty(3), np.empty(3), np.empty(3)
    slip = slip_of(field, r, y, u)
    if slip == 0.0:
        return True
    # An impulse at the contact changes the slip by (1/m + r^2/I) times itself.
    needed = slip / (1.0 / m + r * r / inertia)
    impulse = min(needed, limit)
    _, n[0], n[1], n[2] = sample(field, y[0], y[1], y[2])
    cross(n, u, side)
    for i in range(3):
        y[3 + i] -= impulse / m * u[i] / slip
        y[6 + i] += r * impulse / inertia * side[i] / slip
    return needed <= limit
