"""Steps of the chain, with impacts on the joint stops located inside them."""

from __future__ import annotations

import numpy as np
from roboaccord.numerics import kernel, rk4_stage

from snake.model.dynamics import accelerations, factorise
from snake.model.impacts import STILL, TOUCH, excess, first_violation, impact, taken, update_sides
from snake.model.stops import hold


@kernel
def derivative(body, y, tau, friction, points, side, dy):
    """Fill dy of y = [p, th, v, w], (2N + 4,)."""
    n = tau.shape[0] + 1
    th = y[2 : n + 2]
    w = y[n + 4 :]
    c = np.empty(n)
    s = np.empty(n)
    factor = np.empty((n - 1, 3))
    dy[: n + 2] = y[n + 2 :]
    vx, vy = y[n + 2], y[n + 3]
    accelerations(body, th, y[0], vx, vy, w, tau, friction, points, c, s, factor, dy[n + 2 :])
    for j in range(n - 1):
        if side[j] != 0:
            hold(body, c, s, factor, dy[n + 4 :], side)
            break


@kernel
def rk4(body, y, tau, h, friction, points, side):
    """Return y after h [s]."""
    slope = np.empty(y.shape[0])
    stage = y.copy()
    end = y.copy()
    for k in range(4):
        derivative(body, stage, tau, friction, points, side, slope)
        rk4_stage(k, h, y, slope, stage, end)
    return end


MAX_IMPACTS = 6  # located in one step; more cost time and change no figure of a gait


@kernel
def keep_inside(body, y, tau, h, friction, points, limit, side):
    """Return y after h [s], with impulses at its start by which all joints end inside their stops.

    The energy that they take [J] is returned beside it.

    It is for steps with more impacts than are worth locating. An impact then comes up to h too
    early: an error of first order, with both momenta kept. Newton's method finds the impulses,
    since the motion is linear in them to first order; what four rounds leave is moved inside.
    """
    n = side.shape[0] + 1
    c = np.cos(y[2 : n + 2])
    s = np.sin(y[2 : n + 2])
    factor = np.empty((n - 1, 3))
    factorise(body, c, s, factor)
    sides = side.copy()
    beyond = np.empty(n)
    start = y.copy()
    held = side.copy()
    push = np.zeros(n - 1)
    after = y
    for turn in range(5):
        after = rk4(body, start, tau, h, friction, points, held)
        if excess(after, limit, sides, beyond) <= TOUCH:
            break
        before = beyond.copy()
        force = hold(body, c, s, factor, beyond, sides)
        if turn == 4:
            after[2 : n + 2] += beyond - before
            break
        start[n + 4 :] += (beyond - before) / h
        for j in range(n - 1):
            push[j] += force[j] * sides[j] / h
            if held[j] * (start[n + 4 + j] - start[n + 5 + j]) < -STILL:
                held[j] = 0
    return after, taken(push, y[n + 4 :], start[n + 4 :])


@kernel
def locate(body, y, after, tau, left, joint, sign, fraction, friction, points, limit, side):
    """Return the state in which the first joint has just come to its stop, and the time to it.

    Starts from the cubic's estimate, and goes on by secant steps on the true motion; another
    joint that turns out to be earlier takes the place of the first.
    """
    n = side.shape[0] + 1
    part = fraction * left
    for _ in range(12):
        after = rk4(body, y, tau, part, friction, points, side)
        other, other_sign, other_fraction = first_violation(y, after, part, limit, side)
        if other >= 0 and other != joint:
            joint, sign = other, other_sign
            part *= other_fraction
            continue
        gap = limit - sign * (after[2 + joint] - after[3 + joint])
        rate = sign * (after[n + 4 + joint] - after[n + 5 + joint])
        if abs(gap) < 0.1 * TOUCH or rate <= STILL:
            break
        part = min(max(part + gap / rate, 0.0), left)
    return after, part


@kernel
def advance(body, y, tau, h, steps, friction, points, limit, side, log):
    """Advance y and side in place by `steps` steps of h [s].

    Args:
        log: filled with a row for each joint (n, 2): the time of its first impact since the start
            [s], and the sum of the impulses of all of its impacts, 0 where there was none [N m s].

    Returns:
        the largest angle of any joint at the end [rad], and the energy that the stops took [J].
    """
    n = side.shape[0] + 1
    log[:] = 0.0
    lost = 0.0
    for step in range(steps):
        left = h
        attempts = 0
        while True:
            # Neighbours can hit in turn ever faster, without end: then nearly there is there.
            touch = TOUCH * 10.0 ** min(attempts // 8, 4)
            # An impact can drive another joint at its stop outwards, which then takes part.
            for _ in range(n):
                if not update_sides(y, limit, side, touch):
                    break
                before = y[n + 4 :].copy()
                impulse = impact(body, y, side)
                lost += taken(impulse * side, before, y[n + 4 :])
                for j in range(n - 1):
                    if impulse[j] > 0.0:
                        if log[j, 1] == 0.0:
                            log[j, 0] = step * h + (h - left)
                        log[j, 1] += impulse[j]
            if left <= 0.0:
                break
            after = rk4(body, y, tau, left, friction, points, side)
            joint, sign, fraction = first_violation(y, after, left, limit, side)
            attempts += 1
            if joint < 0 or attempts > MAX_IMPACTS:
                if joint >= 0:
                    after, more = keep_inside(body, y, tau, left, friction, points, limit, side)
                    lost += more
                y[:] = after
                left = 0.0
                continue
            after, part = locate(
                body, y, after, tau, left, joint, sign, fraction, friction, points, limit, side
            )
            y[:] = after
            left -= part
            if left < 1e-15:
                left = 0.0
    return np.abs(y[2 : n + 1] - y[3 : n + 2]).max(), lost
