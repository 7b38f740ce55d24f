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

from roboaccord.numerics import kernel

from voxel_sphere.rolling.field import sample, turning
from voxel_sphere.rolling.vectors import add_scaled, cross_product, dot, norm, scaled

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
    _, n = sample(field, c[0], c[1], c[2])
    rolling = scaled(r, cross_product(w, n))  # r W x n
    # The velocity v within the tangent plane, and the rate n' of the normal that follows from it.
    v = rolling if mode == ROLL else add_scaled(velocity, -dot(velocity, n), n)
    n_rate = turning(field, c[0], c[1], c[2], v[0], v[1], v[2])
    c_rate[0], c_rate[1], c_rate[2] = v
    if mode == ROLL:
        _roll_without_slip(body, w, torque, n, n_rate, v_rate, w_rate, force)
    else:
        slip = add_scaled(v, -1.0, rolling)
        _slide(body, v, w, slip, torque, n, n_rate, v_rate, w_rate, force)


@kernel
def _slide(body, v, w, u, torque, n, n_rate, v_rate, w_rate, force):
    """Fill v', W' and the contact force of a sphere that slides with the slip u (3).

    Args:
        body, torque: as in `rates`.
        v, w: velocity in the tangent plane, and angular velocity (3).
        u: slip v - r W x n (3).
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
        u = scaled(-1.0, force)
        slip = norm(u)
    force[NORMAL_FORCE] = normal
    for i in range(3):
        force[i] = -mu * normal * u[i] / slip if slip > 0.0 else 0.0
    n_cross_f = cross_product(n, force)
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
    n_cross_g = -n[1] * gravity, n[0] * gravity, 0.0  # g = (0, 0, -gravity)
    for i in range(3):
        tangential = torque[i] - drive * n[i] + m * r * n_cross_g[i] + m * r * r * spin * n_rate[i]
        w_rate[i] = tangential / (inertia + m * r * r) + drive / inertia * n[i]
    # v' = r W' x n + r W x n', and the contact force m (v' - g) that it needs.
    w_rate_cross_n = cross_product(w_rate, n)
    w_cross_n_rate = cross_product(w, n_rate)
    for i in range(3):
        v_rate[i] = r * (w_rate_cross_n[i] + w_cross_n_rate[i])
        force[i] = m * v_rate[i]
    force[2] += m * gravity
    force[NORMAL_FORCE] = remove_component(force, n)


@kernel
def slip_of(field, r, y):
    """Return the slip u = v - r W x n (3), the velocity of the contact point, and the normal n."""
    c, v, w = fields_of(y)
    _, n = sample(field, c[0], c[1], c[2])
    return add_scaled(v, -r, cross_product(w, n)), n


@kernel
def grip(field, body, y, limit):
    """Change v and W by the tangential impulse that ends the slip; return whether it has ended.

    The impulse is at most `limit` [M voxels/s].
    """
    r, m, inertia, _, _ = body
    _, v, w = fields_of(y)
    u, n = slip_of(field, r, y)
    slip = norm(u)
    if slip == 0.0:
        return True
    # An impulse at the contact changes the slip by (1/m + r^2/I) times itself.
    needed = slip / (1.0 / m + r * r / inertia)
    impulse = min(needed, limit)
    n_cross_u = cross_product(n, u)
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
