"""Impacts on joint stops: active set, detection, and impulses."""

from __future__ import annotations

import numpy as np
from roboaccord.numerics import kernel

from snake.model.dynamics import factorise
from snake.model.stops import FROZEN, hold

TOUCH = 1e-9  # rad: a joint this close to its stop is at it
STILL = 1e-9  # rad/s: and rests there when slower than this
ASTRAY = 1e-6  # rad: a joint this far beyond its stop has left it in the step and come back


@kernel
def impact(body, y, side):
    """Stop the joints of `side` that move outwards, in place; return the impulses (n,) [N m s]."""
    n = side.shape[0] + 1
    c = np.cos(y[2 : n + 2])
    s = np.sin(y[2 : n + 2])
    factor = np.empty((n - 1, 3))
    factorise(body, c, s, factor)
    return hold(body, c, s, factor, y[n + 4 :], side)


@kernel
def taken(push, before, after):
    """Return the kinetic energy [J] that impulses against the joint angles (n,) [N m s] take.

    An impulse takes itself times the mean of the rates `before` and `after` it, which are those of
    the headings (N,).
    """
    return (0.5 * push * (before[:-1] - before[1:] + after[:-1] - after[1:])).sum()


@kernel
def update_sides(y, limit, side, touch):
    """Release the joints that have left their stops; return whether one hits its stop now."""
    n = side.shape[0] + 1
    hit = False
    for j in range(n - 1):
        if side[j] == FROZEN:
            continue
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
def first_violation(y0, y1, h, limit, side):
    """Return the joint that first passes its stop between y0 and y1, its side and the fraction.

    The angle in between is taken from the cubic through both ends' angles and rates.
    """
    n = side.shape[0] + 1
    best = 2.0
    joint = -1
    sign = 0
    for j in range(n - 1):
        if side[j] == FROZEN:
            continue
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
def excess(y, limit, sides, beyond):
    """Fill the sides (n,) of all joints that are not frozen, and headings (N,).

    The differences of the headings are the way beyond the stops.

    Returns:
        the largest way of a joint beyond its stop [rad].
    """
    n = y.shape[0] // 2 - 2
    worst = -limit
    beyond[n - 1] = 0.0
    for j in range(n - 2, -1, -1):
        if sides[j] == FROZEN:
            beyond[j] = beyond[j + 1]
            continue
        angle = y[2 + j] - y[3 + j]
        sides[j] = 1 if angle > 0 else -1
        beyond[j] = beyond[j + 1] + angle - sides[j] * limit
        worst = max(worst, abs(angle) - limit)
    return worst
