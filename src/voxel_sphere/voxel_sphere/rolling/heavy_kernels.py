"""Integration of a heavy sphere to its next event; compiled functions.

`advance` takes steps of the classical Runge-Kutta method on the equations of heavy_equations.py. It
stops when the time is over or when the mode changes: friction reaches its limit (SLIPS), a slip
ends (ROLLS), the normal force would have to pull (LIFTS), a flight ends (LANDS). It also stops at a
wall (HIT), at the edge of the workspace (LEFT), and if contact is lost (LOST). The end of a slip is
located by the rate at which the slip fades, the end of a flight by bisection.

heavy.py reads the codes. BISECTIONS may be tuned; test_voxel_heavy guards the rest.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.numerics import cross, kernel

from voxel_sphere.rolling.field import sample
from voxel_sphere.rolling.heavy_equations import FLIGHT, NORMAL, ROLL, SLIDE, grip, rates, slip_of
from voxel_sphere.rolling.schemes import hits, turn

DONE, SLIPS, ROLLS, LIFTS, LANDS, HIT, LEFT, LOST = range(8)
BISECTIONS = 40  # halvings of a step: they locate a landing to 1e-12 of the step


@kernel
def advance(surroundings, body, state, mode, torque, step_size, duration):
    """Move for a duration, or to an event; return its code, the mode, and the time passed [s].

    Args:
        surroundings: ground, walls and bounds (`ball.Surroundings`).
        body: the sphere (`heavy_equations.Body`).
        state: state of the heavy sphere as in state.py; changed.
        mode: ROLL, SLIDE or FLIGHT.
        torque: torque of the drive, world frame (3) [M voxels^2/s^2].
        step_size: longest step of the integration [s].
        duration: [s].
    """
    ground, size = surroundings.ground, surroundings.size
    r, _, _, _, mu = body
    y, new, u, w = np.empty(9), np.empty(9), np.empty(3), np.empty(3)
    slopes, force = np.empty((4, 9)), np.empty(4)
    y[0:3] = state[0:3]
    y[3:9] = state[7:13]
    time, code = 0.0, DONE
    while code == DONE and time < duration:
        d, nx, ny, nz = sample(ground, y[0], y[1], y[2])
        if mode != FLIGHT:
            if not abs(d - r) < surroundings.lost:
                code = LOST
                break
            if abs(d - r) > surroundings.guard:
                y[0], y[1], y[2] = y[0] - (d - r) * nx, y[1] - (d - r) * ny, y[2] - (d - r) * nz
            # Contact force of the present mode: it may lift the sphere or let it slip.
            rates(mode, ground, body, y, torque, slopes[0], force)
            friction = math.sqrt(force[0] ** 2 + force[1] ** 2 + force[2] ** 2)
            if force[NORMAL] < 0.0:
                code, mode = LIFTS, FLIGHT
                break
            if mode == ROLL and friction > mu * force[NORMAL]:
                code, mode = SLIPS, SLIDE
                break
        step = min(step_size, duration - time)
        slip = slip_of(ground, r, y, u)
        slip_ends = False
        if mode == SLIDE and slip > 0.0:
            # Friction reverses when the slip has ended: end the step there, by the slip's rate now.
            fading = _fading(r, slopes[0], nx, ny, nz, u, slip)
            slip_ends = fading * step >= slip
            if slip_ends:
                step = slip / fading
        _step(mode, ground, body, y, torque, step, slopes, force, new)
        if slip_ends:
            grip(ground, body, new, math.inf)
            code, mode = ROLLS, ROLL
        if mode == FLIGHT:
            d, nx, ny, nz = sample(ground, new[0], new[1], new[2])
            if d < r and _sinking(new, nx, ny, nz) > 0.0:
                step, mode = _land(ground, body, y, torque, step, slopes, force, new)
                code = LANDS
        centre, velocity = (new[0], new[1], new[2]), (new[3], new[4], new[5])
        if surroundings.has_walls and hits(surroundings.walls, r, centre, velocity):
            code = HIT  # within a step: the state before it is the result
            break
        if not (0.0 <= new[0] <= size and 0.0 <= new[1] <= size and 0.0 <= new[2] <= size):
            code = LEFT
            break
        # The orientation turns by the mean angular velocity of the step.
        for i in range(3):
            w[i] = 0.5 * (y[6 + i] + new[6 + i])
        turn(state, w, step)
        y[:] = new
        time += step
    state[0:3] = y[0:3]
    state[7:13] = y[3:9]
    return code, mode, time


@kernel
def _step(mode, field, body, y, torque, h, slopes, force, new):
    """Fill `new` (9) with the state after a step h [s] from y (9).

    On the ground the velocity is then projected: to rolling, v = r W x n, or to the tangent plane.
    The rates of the four stages, `slopes` (4, 9), and the last contact `force` (4) are filled, too.
    """
    for stage in range(4):  # a loop, so that `rates` is compiled into it once
        ahead = h if stage == 3 else 0.5 * h
        for i in range(9):
            new[i] = y[i] + (ahead * slopes[stage - 1, i] if stage > 0 else 0.0)
        rates(mode, field, body, new, torque, slopes[stage], force)
    for i in range(9):
        total = slopes[0, i] + 2.0 * (slopes[1, i] + slopes[2, i]) + slopes[3, i]
        new[i] = y[i] + h / 6.0 * total
    if mode == FLIGHT:
        return
    _, nx, ny, nz = sample(field, new[0], new[1], new[2])
    if mode == ROLL:
        r, _, _, _, _ = body
        new[3] = r * (new[7] * nz - new[8] * ny)
        new[4] = r * (new[8] * nx - new[6] * nz)
        new[5] = r * (new[6] * ny - new[7] * nx)
    else:
        along = new[3] * nx + new[4] * ny + new[5] * nz
        new[3], new[4], new[5] = new[3] - along * nx, new[4] - along * ny, new[5] - along * nz


@kernel
def _fading(r, rate, nx, ny, nz, u, slip):
    """Return the rate at which a slip u (3) of size `slip` fades now [voxels/s^2].

    It is -u . u' / |u|, with u' = v' - r W' x n from the rates (9).
    """
    n, side = np.empty(3), np.empty(3)
    n[0], n[1], n[2] = nx, ny, nz
    cross(rate[6:9], n, side)
    fading = 0.0
    for i in range(3):
        fading -= u[i] * (rate[3 + i] - r * side[i])
    return fading / slip


@kernel
def _sinking(new, nx, ny, nz):
    """Return the speed [voxels/s] of a state towards the ground whose normal is (nx, ny, nz)."""
    return -(new[3] * nx + new[4] * ny + new[5] * nz)


@kernel
def _land(ground, body, y, torque, step, slopes, force, new):
    """Fill `new` with the state just after landing within a step; return its time and mode.

    The impact takes all of the speed towards the ground; friction has an impulse up to mu times
    that of the normal force. `slopes` and `force` are scratch for `_step`.
    """
    r, m, _, _, mu = body
    # Time at which the flying sphere touches, by bisection.
    low, high = 0.0, step
    for _ in range(BISECTIONS):
        step = 0.5 * (low + high)
        _step(FLIGHT, ground, body, y, torque, step, slopes, force, new)
        if sample(ground, new[0], new[1], new[2])[0] < r:
            high = step
        else:
            low = step
    # Impact: the normal speed goes to 0, then friction ends the slip as far as it can.
    _, nx, ny, nz = sample(ground, new[0], new[1], new[2])
    down = _sinking(new, nx, ny, nz)
    new[3] += down * nx
    new[4] += down * ny
    new[5] += down * nz
    gripped = grip(ground, body, new, mu * m * max(down, 0.0))
    return step, ROLL if gripped else SLIDE
