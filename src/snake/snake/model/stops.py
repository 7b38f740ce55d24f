"""Inelastic joint stops: which joints are held, and with what.

A joint at a stop is pushed back by a force or an impulse lambda >= 0 that is just enough:

    0 <= lambda   perpendicular to   W lambda - b >= 0,      W = E M^-1 E',   b = E x

where the rows of E give the outward joint rates of the joints at their stops and x is either the
free acceleration (a joint that rests there) or the velocity before an impact, after which it is
not driven back: the coefficient of restitution is 0.
"""

from __future__ import annotations

import numpy as np
from roboaccord.numerics.jit import kernel

from snake.model.dynamics import solve_headings


@kernel
def solve_lcp(W, b):  # type: ignore[no-untyped-def]
    """Return lambda of a linear complementarity problem with W (k, k) positive definite.

    Block principal pivoting (Judice and Pires, 1994), which starts from all held: all that are
    wrong change at once, and the last of them alone (Murty, which ends for such W) after ten
    rounds in which they did not get fewer.
    """
    k = b.shape[0]
    held = np.ones(k, dtype=np.bool_)
    wrong = np.zeros(k, dtype=np.bool_)
    result = np.zeros(k)
    scale = 1e-300
    for i in range(k):
        scale = max(scale, abs(b[i]))
    fewest, patience = k + 1, 10
    for _ in range(50 * k + 50):
        solve_held(W, b, held, result)
        count, last = 0, -1
        for i in range(k):
            rate = -b[i]
            for j in range(k):
                rate += W[i, j] * result[j]
            wrong[i] = result[i] < 0.0 if held[i] else rate < -1e-12 * scale
            if wrong[i]:
                count += 1
                last = i
        if count == 0:
            break
        if count < fewest:
            fewest, patience = count, 10
        else:
            patience -= 1
        for i in range(k):
            if wrong[i] and (patience > 0 or i == last):
                held[i] = not held[i]
    for i in range(k):
        result[i] = max(result[i], 0.0)
    return result


@kernel
def solve_held(W, b, held, x):  # type: ignore[no-untyped-def]
    """Fill x (k,) with the solution of W x = b on the rows and columns held, and 0 elsewhere.

    Cholesky, in which a row that is not held is that of the identity.
    """
    k = b.shape[0]
    L = np.zeros((k, k))
    for i in range(k):
        x[i] = b[i] if held[i] else 0.0
        for j in range(i + 1):
            both = held[i] and held[j]
            value = W[i, j] if both else (1.0 if i == j else 0.0)
            for m in range(j):
                value -= L[i, m] * L[j, m]
            if i == j:
                L[i, i] = np.sqrt(value)
            else:
                L[i, j] = value / L[j, j]
    for i in range(k):
        for m in range(i):
            x[i] -= L[i, m] * x[m]
        x[i] /= L[i, i]
    for i in range(k - 1, -1, -1):
        for m in range(i + 1, k):
            x[i] -= L[m, i] * x[m]
        x[i] /= L[i, i]


@kernel
def hold(body, c, s, factor, x, side):  # type: ignore[no-untyped-def]
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
    force = solve_lcp(W, b)
    total = np.zeros(links - 1)
    for r in range(k):
        total[joints[r]] = force[r]
        for i in range(links):
            x[i] -= force[r] * response[r, i]
    return total
