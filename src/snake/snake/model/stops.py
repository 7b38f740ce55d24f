"""Inelastic joint stops: active set, detection of impacts, and constraint forces by an LCP.

A joint at a stop is pushed back by a force or an impulse lambda >= 0 that is just enough:

    0 <= lambda   perpendicular to   W lambda - b >= 0,      W = E M^-1 E',   b = E x

The rows of E give the outward joint rates of the joints at their stops, and x is either the free
acceleration (of a joint at rest there) or the velocity before an impact. After an impact a joint is
not driven back: the coefficient of restitution is 0. A joint that is frozen is held in both
directions, by the lambda with which its row of W lambda - b is 0. `side` is +1 for a joint at its
upper stop, -1 at the lower one, FROZEN, and else 0.

TOUCH, STILL and ASTRAY, tolerances, may be tuned; other values move impacts, and with them the
figures of gaits that reach their stops. The complementarity and the restitution of 0 are the model
and stay: test_stops compares momenta, energy and impact times.
"""

from __future__ import annotations

import numpy as np
from roboaccord.numerics import cholesky, kernel, solve_by_pivoting

from snake.model.dynamics import solve_headings

FROZEN = 2  # side of a joint that is held in both directions
# Both far above round-off, 1e-15, and far below what a figure shows.
TOUCH = 1e-9  # rad: a joint this close to its stop is at it
STILL = 1e-9  # rad/s: and is at rest there when slower than this
ASTRAY = 1e-6  # rad: a joint this far beyond its stop has left it in the step and come back
BISECTIONS = 40  # of a step, for the instant at which a joint passes its stop: to 1e-12 of it


@kernel
def joint_response(body, c, s, joint, size, response):
    """Fill the change of the headings' rates (N,) by an impulse on a joint."""
    work = np.zeros((8, c.shape[0]))
    torque = work[0]
    torque[joint] = size
    torque[joint + 1] = -size
    solve_headings(body, c, s, work[1], work[2], torque, work[3:], response)


@kernel
def lock(body, c, s, x, side):
    """Project x (N,) onto motions that turn no frozen joint, in the metric of the mass matrix."""
    joints = np.flatnonzero(side == FROZEN)
    k = len(joints)
    response, W, force = np.empty((k, len(x))), np.empty((k, k)), np.empty(k)
    for r in range(k):
        joint_response(body, c, s, joints[r], 1.0, response[r])
        force[r] = x[joints[r]] - x[joints[r] + 1]
        for i in range(k):
            W[i, r] = response[r, joints[i]] - response[r, joints[i] + 1]
    cholesky.factor(W, W)
    cholesky.solve(W, force)
    for r in range(k):
        x -= force[r] * response[r]


@kernel
def hold(body, c, s, x, side):
    """Push the joints at their stops back, in place, and return lambda by joint (n,).

    Args:
        body, c, s: as in `dynamics.solve_headings`.
        x: accelerations or velocities of the headings (N,), changed in place.
        side: +1 at the upper stop, -1 at the lower one, `FROZEN`, 0 elsewhere (n,).
    """
    links = x.shape[0]
    frozen = (side == FROZEN).any()
    if frozen:
        lock(body, c, s, x, side)
    joints = np.empty(links - 1, dtype=np.int64)
    k = 0
    for j in range(links - 1):
        if side[j] != 0 and side[j] != FROZEN:
            joints[k] = j
            k += 1
    response = np.zeros((k, links))
    b = np.empty(k)
    for r in range(k):
        j = joints[r]
        joint_response(body, c, s, j, side[j], response[r])
        if frozen:
            lock(body, c, s, response[r], side)
        b[r] = side[j] * (x[j] - x[j + 1])
    W = np.empty((k, k))
    for r in range(k):
        j = joints[r]
        for i in range(k):
            W[r, i] = side[j] * (response[i, j] - response[i, j + 1])
    force = solve_by_pivoting(W, b)
    total = np.zeros(links - 1)
    for r in range(k):
        total[joints[r]] = force[r]
        x -= force[r] * response[r]
    return total


@kernel
def impact(body, y, side):
    """Stop the joints of `side` that move outwards, in place; return the impulses (n,) [N m s]."""
    n = side.shape[0] + 1
    c = np.cos(y[2 : n + 2])
    s = np.sin(y[2 : n + 2])
    return hold(body, c, s, y[n + 4 :], side)


@kernel
def energy_taken(push, before, after):
    """Return the kinetic energy [J] that impulses against the joint angles (n,) [N m s] take.

    That is the impulse times the mean of a joint's rate before and after it; `before` and `after`
    are the rates of the headings (N,) [rad/s].
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

    The angle in between is energy_taken from the cubic through both ends' angles and rates.
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
        for _ in range(BISECTIONS):
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

    The differences of the headings are the angles beyond the stops.

    Returns:
        the largest angle of a joint beyond its stop [rad].
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
