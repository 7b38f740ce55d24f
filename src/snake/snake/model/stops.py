"""Inelastic joint stops: active set and constraint forces by an LCP.

A joint at a stop is pushed back by a force or an impulse lambda >= 0 that is just enough:

    0 <= lambda   perpendicular to   W lambda - b >= 0,      W = E M^-1 E',   b = E x

where the rows of E give the outward joint rates of the joints at their stops and x is either the
free acceleration (a joint that rests there) or the velocity before an impact, after which it is
not driven back: the coefficient of restitution is 0. A joint that is frozen is held both ways, by
the lambda with which its row of W lambda - b is 0.
"""

from __future__ import annotations

import numpy as np
from roboaccord.numerics import cholesky, kernel, solve_by_pivoting

from snake.model.dynamics import solve_headings

FROZEN = 2  # side of a joint that is held both ways


@kernel
def joint_response(body, c, s, factor, joint, size, response):
    """Fill the change of the headings' rates (N,) by an impulse on a joint."""
    gx, gy = np.zeros(c.shape[0] - 1), np.zeros(c.shape[0] - 1)
    torque = np.zeros(c.shape[0])
    torque[joint] = size
    torque[joint + 1] = -size
    solve_headings(body, c, s, factor, gx, gy, torque, response)


@kernel
def lock(body, c, s, factor, x, side):
    """Take from x (N,) what turns frozen joints, orthogonally in the metric of the mass matrix."""
    joints = np.flatnonzero(side == FROZEN)
    k = len(joints)
    response, W, force = np.empty((k, len(x))), np.empty((k, k)), np.empty(k)
    for r in range(k):
        joint_response(body, c, s, factor, joints[r], 1.0, response[r])
        force[r] = x[joints[r]] - x[joints[r] + 1]
        for i in range(k):
            W[i, r] = response[r, joints[i]] - response[r, joints[i] + 1]
    cholesky.factor(W, W)
    cholesky.solve(W, force)
    for r in range(k):
        x -= force[r] * response[r]


@kernel
def hold(body, c, s, factor, x, side):
    """Push the joints at their stops back, in place, and return lambda by joint (n,).

    Args:
        body, c, s, factor: as in `dynamics.solve_headings`.
        x: accelerations or velocities of the headings (N,), changed in place.
        side: +1 at the upper stop, -1 at the lower one, `FROZEN`, 0 elsewhere (n,).
    """
    links = x.shape[0]
    frozen = (side == FROZEN).any()
    if frozen:
        lock(body, c, s, factor, x, side)
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
        joint_response(body, c, s, factor, j, side[j], response[r])
        if frozen:
            lock(body, c, s, factor, response[r], side)
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
