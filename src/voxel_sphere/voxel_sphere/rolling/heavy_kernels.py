"""A heavy sphere on a field (distance and normal of the ground): rolling, sliding, and in flight.

The equations are fixed, Newton's and Euler's: test_voxel_heavy tests the rolling pendulum, 5/7 g
sin a, slip, flight and landing in closed form. STILL and BISECTIONS, bounds of rounding, stay, and
so do codes DONE to LOST, which heavy.py reads. Friction may be changed, in `rates` and `grip`
together.

With contact force F = m (a - g), whose torque about the centre is -r n x F, and I W' = t - r n x F:

Rolling, v = r W x n, a = r W' x n + r W x n':  n x (W' x n) = W' - (n.W') n  and
n x (W x n') = -(n.W) n'  (as n.n' = 0) give, along n and in the plane,

    I n.W' = n.t        (I + m r^2) W'_t = t_t + m r n x g + m r^2 (n.W) n'

Sliding with u = v - r W x n:  f = -mu N u/|u|,  m a = m g + N n + f,  I W' = t - r n x f. The
centre stays on its surface, n.v = 0, so n.a = -v.n' and N = -m (n.g + v.n').

Numbers of the state: centre c, velocity v, angular velocity W in the world frame.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.numerics import cross, kernel

from voxel_sphere.rolling.exact import hits, turn
from voxel_sphere.rolling.field import sample, turning

ROLL, SLIDE, FLIGHT = range(3)
DONE, SLIPS, ROLLS, LIFTS, LANDS, HIT, LEFT, LOST = range(8)
STILL = 1e-9  # part of r |W| + |v| below which the contact does not slide
BISECTIONS = 40


@kernel
def rates(mode, field, body, y, torque, rate, force):
    """Fill the rates (9,) of y = [c, v, W] and the contact force (4,): friction (3), N.

    `body` is (r, mass, inertia, gravity, mu).
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
    u = np.empty(3)
    slip, size = 0.0, 0.0
    for i in range(3):
        u[i] = v[i] - r * side[i]
        slip += u[i] * u[i]
        size += abs(v[i]) + r * abs(y[6 + i])
    slip = math.sqrt(slip)
    normal = m * (gravity * n[2] - (v[0] * turned[0] + v[1] * turned[1] + v[2] * turned[2]))
    rolls = mode == ROLL
    if rolls or slip <= STILL * size:
        spin = y[6] * n[0] + y[7] * n[1] + y[8] * n[2]
        push = torque[0] * n[0] + torque[1] * n[1] + torque[2] * n[2]
        level = np.array([-n[1] * gravity, n[0] * gravity, 0.0])  # n x g, g = (0, 0, -gravity)
        for i in range(3):
            tangential = torque[i] - push * n[i] + m * r * level[i] + m * r * r * spin * turned[i]
            rate[6 + i] = tangential / (inertia + m * r * r) + push / inertia * n[i]
        a = np.empty(3)
        cross(rate[6:9], n, a)
        cross(y[6:9], turned, side)
        for i in range(3):
            a[i] = r * (a[i] + side[i])
            force[i] = m * a[i]
        force[2] += m * gravity
        along = force[0] * n[0] + force[1] * n[1] + force[2] * n[2]
        for i in range(3):
            force[i] -= along * n[i]
        normal = along
        force[3] = along
        if rolls:
            for i in range(3):
                rate[i], rate[3 + i] = v[i], a[i]
            return
        slip = math.sqrt(force[0] ** 2 + force[1] ** 2 + force[2] ** 2)
        for i in range(3):
            u[i] = -force[i]  # on the verge: friction as the rolling would have it
    force[3] = normal
    for i in range(3):
        force[i] = -mu * normal * u[i] / slip if slip > 0.0 else 0.0
    cross(n, force[0:3], side)
    for i in range(3):
        rate[i] = v[i]
        rate[3 + i] = (normal * n[i] + force[i]) / m
        rate[6 + i] = (torque[i] - r * side[i]) / inertia
    rate[5] -= gravity


@kernel
def _step(mode, field, body, y, torque, h, work):
    """Leave in work[5] the state after a step h of the classical method; keep v in the contact."""
    force = work[6]
    new = work[5]
    for stage in range(4):  # one place that calls, for the compiler's sake
        part = h if stage == 3 else 0.5 * h
        for i in range(9):
            new[i] = y[i] + (part * work[stage - 1, i] if stage > 0 else 0.0)
        rates(mode, field, body, new, torque, work[stage], force)
    for i in range(9):
        slopes = work[0, i] + 2.0 * (work[1, i] + work[2, i]) + work[3, i]
        new[i] = y[i] + h / 6.0 * slopes
    if mode == FLIGHT:
        return
    _, a, b, c = sample(field, new[0], new[1], new[2])
    if mode == ROLL:
        r = body[0]
        new[3] = r * (new[7] * c - new[8] * b)
        new[4] = r * (new[8] * a - new[6] * c)
        new[5] = r * (new[6] * b - new[7] * a)
    else:
        along = new[3] * a + new[4] * b + new[5] * c
        new[3], new[4], new[5] = new[3] - along * a, new[4] - along * b, new[5] - along * c


@kernel
def slip_of(field, r, y, u):
    """Fill u (3) = v - r W x n, the contact's velocity on the ground; return its size."""
    _, a, b, c = sample(field, y[0], y[1], y[2])
    u[0] = y[3] - r * (y[7] * c - y[8] * b)
    u[1] = y[4] - r * (y[8] * a - y[6] * c)
    u[2] = y[5] - r * (y[6] * b - y[7] * a)
    return math.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])


@kernel
def grip(field, body, y, most):
    """Apply the tangential impulse that ends the slip, at most `most`; return whether it did."""
    r, m, inertia = body[0], body[1], body[2]
    u, side, n = np.empty(3), np.empty(3), np.empty(3)
    slip = slip_of(field, r, y, u)
    if slip == 0.0:
        return True
    needed = slip / (1.0 / m + r * r / inertia)
    impulse = min(needed, most)
    _, n[0], n[1], n[2] = sample(field, y[0], y[1], y[2])
    cross(n, u, side)
    for i in range(3):
        y[3 + i] -= impulse / m * u[i] / slip
        y[6 + i] += r * impulse / inertia * side[i] / slip
    return needed <= most


@kernel
def advance(ground, walls, walled, body, size, state, mode, torque, h, duration, guard, lost):
    """Move for `duration` [s] in steps h, or to what ends it; return code, mode and time.

    `state` is changed: centre (3), orientation (4), v (3), W (3).
    """
    r, m, mu = body[0], body[1], body[4]
    y, work = np.empty(9), np.empty((7, 9))
    new = work[5]
    y[0:3] = state[0:3]
    y[3:9] = state[7:13]
    u, w, n, side = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    time, code = 0.0, DONE
    while code == DONE and time < duration:
        d, nx, ny, nz = sample(ground, y[0], y[1], y[2])
        if mode != FLIGHT:
            if not abs(d - r) < lost:
                code = LOST
                break
            if abs(d - r) > guard:
                y[0], y[1], y[2] = y[0] - (d - r) * nx, y[1] - (d - r) * ny, y[2] - (d - r) * nz
            rates(mode, ground, body, y, torque, work[0], work[6])
            friction = math.sqrt(work[6, 0] ** 2 + work[6, 1] ** 2 + work[6, 2] ** 2)
            if work[6, 3] < 0.0:
                code, mode = LIFTS, FLIGHT
                break
            if mode == ROLL and friction > mu * work[6, 3]:
                code, mode = SLIPS, SLIDE
                break
        step = min(h, duration - time)
        slid = slip_of(ground, r, y, u)
        ends = False
        if mode == SLIDE and slid > 0.0:
            # Past the end of the slip friction turns round, so go by the rate of the slip now.
            n[0], n[1], n[2] = nx, ny, nz
            cross(work[0, 6:9], n, side)
            fading = 0.0
            for i in range(3):
                fading -= u[i] * (work[0, 3 + i] - r * side[i])
            fading /= slid
            ends = fading * step >= slid
            if ends:
                step = slid / fading
        _step(mode, ground, body, y, torque, step, work)
        if mode == SLIDE and ends:
            grip(ground, body, new, math.inf)
            code, mode = ROLLS, ROLL
        if mode == FLIGHT:
            e, nx, ny, nz = sample(ground, new[0], new[1], new[2])
            down = -(new[3] * nx + new[4] * ny + new[5] * nz)
            if e < r and down > 0.0:
                low, high = 0.0, step
                for _ in range(BISECTIONS):
                    step = 0.5 * (low + high)
                    _step(mode, ground, body, y, torque, step, work)
                    if sample(ground, new[0], new[1], new[2])[0] < r:
                        high = step
                    else:
                        low = step
                _, nx, ny, nz = sample(ground, new[0], new[1], new[2])
                down = -(new[3] * nx + new[4] * ny + new[5] * nz)
                new[3] += down * nx
                new[4] += down * ny
                new[5] += down * nz
                gripped = grip(ground, body, new, mu * m * max(down, 0.0))
                code, mode = LANDS, ROLL if gripped else SLIDE
        if walled and hits(walls, r, new[3], new[4], new[5], new[0], new[1], new[2]):
            code = HIT  # within a step of it: the state before is kept
            break
        if not (0.0 <= new[0] <= size and 0.0 <= new[1] <= size and 0.0 <= new[2] <= size):
            code = LEFT
            break
        for i in range(3):
            w[i] = 0.5 * (y[6 + i] + new[6 + i])
        turn(state, w, step)
        y[:] = new
        time += step
    state[0:3] = y[0:3]
    state[7:13] = y[3:9]
    return code, mode, time
