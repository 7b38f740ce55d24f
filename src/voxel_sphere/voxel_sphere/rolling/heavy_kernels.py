"""Integration of a heavy sphere to its next event; compiled functions.

`advance` takes steps of the classical Runge-Kutta method on the equations of heavy_equations.py. It
stops when the time is over or when the mode changes: friction reaches its limit (SLIPS), a slip
ends (ROLLS), the normal force would have to pull (LIFTS), a flight ends (LANDS). It also stops at a
wall (HIT), at the edge of the workspace (LEFT), and if contact is lost (LOST). The end of a slip is
located by the rate at which the slip fades, the end of a flight by bisection.

The state y (9) is that of heavy_equations.py, whose `fields_of` returns its parts as views;
`advance` copies it from the sphere's state (state.py) and back. heavy.py reads the codes.
BISECTIONS may be tuned; test_voxel_heavy guards the rest.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.numerics import kernel

from voxel_sphere.rolling import heavy_equations as equations
from voxel_sphere.rolling.field import sample
from voxel_sphere.rolling.schemes import hits, turn
from voxel_sphere.rolling.vectors import add_scaled, cross_product, dot, is_inside, norm, scaled

# Codes that `advance` returns: the time is over, or the event that ended the motion.
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
    ground = surroundings.ground
    r, _, _, _, mu = body
    # State, state after a step, rates of its four stages, and contact force.
    y, new, slopes, force = np.empty(9), np.empty(9), np.empty((4, 9)), np.empty(4)
    y[0:3] = state[0:3]
    y[3:9] = state[7:13]  # VELOCITY and SPIN of state.py
    c, _, w = equations.fields_of(y)
    new_c, new_v, new_w = equations.fields_of(new)
    time, code = 0.0, DONE
    while code == DONE and time < duration:
        step = min(step_size, duration - time)
        slip_ends = False
        if mode != equations.FLIGHT:
            d, n = sample(ground, c[0], c[1], c[2])
            if not abs(d - r) < surroundings.lost:
                code = LOST
                break
            if abs(d - r) > surroundings.guard:  # the centre is put back
                for i in range(3):
                    c[i] -= (d - r) * n[i]
            equations.rates(mode, ground, body, y, torque, slopes[0], force)
            code, mode = _contact_event(mode, mu, force)
            if code != DONE:
                break
            if mode == equations.SLIDE:
                # Friction reverses when the slip has ended: end the step there.
                step, slip_ends = _step_to_grip(ground, r, y, slopes[0], n, step)
        _step(mode, ground, body, y, torque, step, slopes, force, new)
        if slip_ends:
            equations.grip(ground, body, new, math.inf)
            code, mode = ROLLS, equations.ROLL
        if mode == equations.FLIGHT:
            d, new_n = sample(ground, new_c[0], new_c[1], new_c[2])
            if d < r and dot(new_v, new_n) < 0.0:
                step, mode = _land(ground, body, y, torque, step, slopes, force, new)
                code = LANDS
        if surroundings.has_walls and hits(surroundings.walls, r, new_c, new_v):
            code = HIT  # within a step: the state before it is the result
            break
        if not is_inside(new_c, surroundings.size):
            code = LEFT
            break
        # The orientation turns by the mean angular velocity of the step.
        turn(state, scaled(0.5, add_scaled(w, 1.0, new_w)), step)
        y[:] = new
        time += step
    state[0:3] = y[0:3]
    state[7:13] = y[3:9]
    return code, mode, time


@kernel
def _contact_event(mode, mu, force):
    """Return the code of the event that a contact force (4) causes, or DONE, and the mode after it.

    A normal force below 0 lifts the sphere, and friction beyond its limit lets a rolling one slip.
    """
    normal_force = force[equations.NORMAL_FORCE]
    if normal_force < 0.0:
        return LIFTS, equations.FLIGHT
    if mode == equations.ROLL and norm(force) > mu * normal_force:
        return SLIPS, equations.SLIDE
    return DONE, mode


@kernel
def _step_to_grip(ground, r, y, rate, n, step):
    """Return a step [s], shortened to the end of the slip, and whether the slip ends within it.

    The slip u (3) of a state y (9) fades at the rate -u . u' / |u| [voxels/s^2], taken as constant,
    with u' = v' - r W' x n from the rates (9) and the normal n (3).
    """
    u, _ = equations.slip_of(ground, r, y)
    slip_speed = norm(u)
    if slip_speed == 0.0:
        return step, False
    _, v_rate, w_rate = equations.fields_of(rate)
    u_rate = add_scaled(v_rate, -r, cross_product(w_rate, n))
    fading = -dot(u, u_rate) / slip_speed
    if fading * step >= slip_speed:
        return slip_speed / fading, True
    return step, False


@kernel
def _step(mode, field, body, y, torque, h, slopes, force, new):
    """Fill `new` (9) with the state after a step h [s] from y (9).

    On the ground the velocity is then projected: to rolling, v = r W x n, or to the tangent plane.
    The rates of the four stages, `slopes` (4, 9), and the last contact `force` (4) are filled, too.
    """
    for stage in range(4):  # a loop, so that `rates` is compiled into it once
        fraction = h if stage == 3 else 0.5 * h
        for i in range(9):
            new[i] = y[i] + (fraction * slopes[stage - 1, i] if stage > 0 else 0.0)
        equations.rates(mode, field, body, new, torque, slopes[stage], force)
    for i in range(9):
        total = slopes[0, i] + 2.0 * (slopes[1, i] + slopes[2, i]) + slopes[3, i]
        new[i] = y[i] + h / 6.0 * total
    if mode == equations.FLIGHT:
        return
    r, _, _, _, _ = body
    c, v, w = equations.fields_of(new)
    _, n = sample(field, c[0], c[1], c[2])
    if mode == equations.ROLL:
        v[0], v[1], v[2] = scaled(r, cross_product(w, n))
    else:
        equations.remove_component(v, n)


@kernel
def _land(ground, body, y, torque, step, slopes, force, new):
    """Fill `new` with the state just after landing within a step; return its time and mode.

    The impact takes all of the speed towards the ground; friction has an impulse up to mu times
    that of the normal force. `slopes` and `force` are scratch for `_step`.
    """
    r, mass, _, _, mu = body
    c, v, _ = equations.fields_of(new)
    # Time at which the flying sphere touches, by bisection.
    low, high = 0.0, step
    for _ in range(BISECTIONS):
        step = 0.5 * (low + high)
        _step(equations.FLIGHT, ground, body, y, torque, step, slopes, force, new)
        if sample(ground, c[0], c[1], c[2])[0] < r:
            high = step
        else:
            low = step
    # Impact: the normal speed goes to 0, then friction ends the slip as far as it can.
    _, n = sample(ground, c[0], c[1], c[2])
    falling_speed = -equations.remove_component(v, n)
    largest_impulse = mu * mass * max(falling_speed, 0.0)
    gripped = equations.grip(ground, body, new, largest_impulse)
    return step, equations.ROLL if gripped else equations.SLIDE
