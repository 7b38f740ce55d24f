"""Inelastic joint stops: which joints are held, and with what.

A joint at a stop is pushed back by a force or an impulse lambda >= 0 that is just enough:

    0 <= lambda   perpendicular to   W lambda - b >= 0,      W = E M^-1 E',   b = E x

where the rows of E give the outward joint rates of the joints at their stops and x is either the
free acceleration (a joint that rests there) or the velocity before an impact, after which it is
not driven back: the coefficient of restitution is 0.
"""

from __future__ import annotations

import numpy as np
from roboaccord.jit import kernel

from snake.dynamics import solve_headings


@kernel
def solve_lcp(W, b):  # type: ignore[no-untyped-def]
    """Return lambda of a linear complementarity problem with W (k, k) positive definite.

    Murty's least-index principal pivoting, which ends for such W; it starts from all held.
    """
    k = b.shape[0]
    held = np.ones(k, dtype=np.bool_)
    result = np.zeros(k)
    scale = np.abs(b).max() + 1e-300
    for _ in range(50 * k + 50):
        index = np.flatnonzero(held)
        result[:] = 0.0
        if index.size:
            A = np.empty((index.size, index.size))
            for r in range(index.size):
                for c in range(index.size):
                    A[r, c] = W[index[r], index[c]]
            x = np.linalg.solve(A, b[index])
            for r in range(index.size):
                result[index[r]] = x[r]
        wrong = -1
        for i in range(k):
            if held[i]:
                if result[i] < 0.0:
                    wrong = i
                    break
            else:
                rate = -b[i]
                for j in range(k):
                    rate += W[i, j] * result[j]
                if rate < -1e-12 * scale:
                    wrong = i
                    break
        if wrong < 0:
            break
        held[wrong] = not held[wrong]
    return np.maximum(result, 0.0)


@kernel
def hold(body, c, s, factor, x, side):  # type: ignore[no-untyped-def]
    """Push the joints at their stops back, in place, and return lambda by joint (n,).

    Args:
        body, c, s, factor: as in `dynamics.solve_headings`.
        x: accelerations or velocities of the headings (N,), changed in place.
        side: +1 at the upper stop, -1 at the lower one, 0 elsewhere (n,).
    """
    links = x.shape[0]
    joints = np.flatnonzero(side)
    k = joints.size
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
        for c in range(k):
            W[r, c] = side[j] * (response[c, j] - response[c, j + 1])
    force = solve_lcp(W, b)
    for r in range(k):
        x -= force[r] * response[r]
    total = np.zeros(side.shape[0])
    total[joints] = force
    return total
