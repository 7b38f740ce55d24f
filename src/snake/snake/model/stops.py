"""Inelastic joint stops: active set and constraint forces by an LCP.

A joint at a stop is pushed back by a force or an impulse lambda >= 0 that is just enough:

    0 <= lambda   perpendicular to   W lambda - b >= 0,      W = E M^-1 E',   b = E x

where the rows of E give the outward joint rates of the joints at their stops and x is either the
free acceleration (a joint that rests there) or the velocity before an impact, after which it is
not driven back: the coefficient of restitution is 0.
"""

from __future__ import annotations

import numpy as np
from roboaccord.numerics.complementarity import solve_by_pivoting
from roboaccord.numerics.jit import kernel

from snake.model.dynamics import solve_headings


@kernel
def hold(body, c, s, factor, x, side):
    """Push the joints at their stops back, in place, and return lambda by joint (n,).

    Args:
        body, c, s, factor: as in `dynamics.solve_headings`.
        x: accelerations or velocities of the headings (N,), changed in place.
        side: +1 at the upper stop, -1 at the lower one, 0 elsewhere (n,).
    """
    links = x.shape[0]
    joints = np.empty(links - 1, dtype=np.int64)
    k = 0
    for j in range(links - 1):
        if side[j] != 0:
            joints[k] = j
            k += 1
    response = np.zeros((k, links))
    b = np.empty(k)
    torque = np.empty(links)
    gx = np.empty(links - 1)
    gy = np.empty(links - 1)
    for r in range(k):
        j = joints[r]
        torque[:] = 0.0
        torque[j] = side[j]
        torque[j + 1] = -side[j]
        gx[:] = 0.0
        gy[:] = 0.0
        solve_headings(body, c, s, factor, gx, gy, torque, response[r])
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
        for i in range(links):
            x[i] -= force[r] * response[r, i]
    return total
