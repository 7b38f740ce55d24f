"""Runge-Kutta 4 for the chain, with impacts on the joint stops located inside the step."""

from __future__ import annotations

import numpy as np
from roboaccord.jit import kernel

from snake.dynamics import accelerations, factorise
from snake.stops import hold

TOUCH = 1e-9  # rad: a joint this close to its stop is at it
STILL = 1e-9  # rad/s: and rests there when slower than this
ASTRAY = 1e-6  # rad: a joint this far beyond its stop has left it in the step and come back
MAX_IMPACTS = 6  # located in one step; more cost time and change no figure of a gait


@kernel
def derivative(body, y, tau, friction, points, side, dy):  # type: ignore[no-untyped-def]
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
def rk4(body, y, tau, h, friction, points, side):  # type: ignore[no-untyped-def]
    """Return y after h [s]."""
    size = y.shape[0]
    slope = np.empty(size)
    stage = y.copy()
    end = y.copy()
    # One call in a loop over the stages: written out, it takes four times as long to compile.
    for k in range(4):
        derivative(body, stage, tau, friction, points, side, slope)
        weight = h / 6.0 if k in (0, 3) else h / 3.0
        reach = h if k == 2 else 0.5 * h
        for i in range(size):
            end[i] += weight * slope[i]
            stage[i] = y[i] + reach * slope[i]
    return end


@kernel
def impact(body, y, side):  # type: ignore[no-untyped-def]
    """Stop the joints of `side` that move outwards, in place; return the impulses (n,) [N m s]."""
    n = side.shape[0] + 1
    c = np.cos(y[2 : n + 2])
    s = np.sin(y[2 : n + 2])
    factor = np.empty((n - 1, 3))
    factorise(body, c, s, factor)
    return hold(body, c, s, factor, y[n + 4 :], side)


@kernel
def update_sides(y, limit, side, touch):  # type: ignore[no-untyped-def]
    """Release the joints that have left their stops; return whether one hits its stop now."""
    n = side.shape[0] + 1
    hit = False
    for j in range(n - 1):
        angle = y[2 + j] - y[3 + j]
        rate = y[n + 4 + j] - y[n + 5 + j]
        if side[j] != 0 and (side[j] * angle < limit - touch or side[j] * rate < -STILL):
            side[j] = 0
        if side[j] == 0:
            for sign in (1, -1):
                if sign * angle >= limit - touch and sign * rate >= -STILL:
                    side[j] = sign
        if side[j] != 0 and side[j] * rate > STILL:
            hit = True
    return hit


@kernel
def first_violation(y0, y1, h, limit, side):  # type: ignore[no-untyped-def]
    """Return the joint that first passes its stop between y0 and y1, its side and the fraction.

    The angle in between is taken from the cubic through both ends' angles and rates.
    """
    n = side.shape[0] + 1
    best = 2.0
    joint = -1
    sign = 0
    for j in range(n - 1):
        q1 = y1[2 + j] - y1[3 + j]
        s = 1 if q1 > 0 else -1
        if not s * q1 > limit + (TOUCH if side[j] == 0 else ASTRAY):
            continue
        q0 = s * (y0[2 + j] - y0[3 + j])
        d0 = s * (y0[n + 4 + j] - y0[n + 5 + j]) * h
        d1 = s * (y1[n + 4 + j] - y1[n + 5 + j]) * h
        q1 = s * q1
        low, high = 0.0, 1.0
        for _ in range(40):
            x = 0.5 * (low + high)
            value = (
                (1 + 2 * x) * (1 - x) ** 2 * q0
                + x * (1 - x) ** 2 * d0
                + x * x * (3 - 2 * x) * q1
                + x * x * (x - 1) * d1
            )
            if value > limit:
                high = x
            else:
                low = x
        if high < best:
            best, joint, sign = high, j, s
    return joint, sign, best


@kernel
def excess(y, limit, sides, beyond):  # type: ignore[no-untyped-def]
    """Fill the sides (n,) of all joints, and headings (N,) whose differences are the way beyond.

    Returns:
        the largest way of a joint beyond its stop [rad].
    """
    n = y.shape[0] // 2 - 2
    worst = -limit
    beyond[n - 1] = 0.0
    for j in range(n - 2, -1, -1):
        angle = y[2 + j] - y[3 + j]
        sides[j] = 1 if angle > 0 else -1
        beyond[j] = beyond[j + 1] + angle - sides[j] * limit
        worst = max(worst, abs(angle) - limit)
    return worst


@kernel
def keep_inside(body, y, tau, h, friction, points, limit, side):  # type: ignore[no-untyped-def]
    """Return y after h [s], with impulses at its start by which all joints end inside their stops.

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
    after = y
    for turn in range(5):
        after = rk4(body, start, tau, h, friction, points, held)
        if excess(after, limit, sides, beyond) <= TOUCH:
            break
        before = beyond.copy()
        hold(body, c, s, factor, beyond, sides)
        if turn == 4:
            after[2 : n + 2] += beyond - before
            break
        start[n + 4 :] += (beyond - before) / h
        for j in range(n - 1):
            if held[j] * (start[n + 4 + j] - start[n + 5 + j]) < -STILL:
                held[j] = 0
    return after


@kernel
def locate(body, y, after, tau, left, joint, sign, fraction, friction, points, limit, side):  # type: ignore[no-untyped-def]
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
def advance(body, y, tau, h, steps, friction, points, limit, side, log):  # type: ignore[no-untyped-def]
    """Advance y and side in place by `steps` steps of h [s].

    Args:
        log: filled with the rows (time since the start, joint, impulse) of impacts (k, 3).

    Returns:
        the number of rows of `log` that were filled.
    """
    n = side.shape[0] + 1
    count = 0
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
                impulse = impact(body, y, side)
                for j in range(n - 1):
                    if impulse[j] > 0.0 and count < log.shape[0]:
                        log[count, 0] = step * h + (h - left)
                        log[count, 1] = j
                        log[count, 2] = impulse[j]
                        count += 1
            if left <= 0.0:
                break
            after = rk4(body, y, tau, left, friction, points, side)
            joint, sign, fraction = first_violation(y, after, left, limit, side)
            attempts += 1
            if joint < 0 or attempts > MAX_IMPACTS:
                if joint >= 0:
                    after = keep_inside(body, y, tau, left, friction, points, limit, side)
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
    return count
