"""Planar dynamics of a chain of N links with absolute headings th_1 (head) to th_N (tail).

With the centre of mass p, u_j = (cos th_j, sin th_j) and its normal n_j = (-sin th_j, cos th_j),

    r_i  = p + sum_j K_ij u_j
    M_jk = J d_jk + G_jk cos(th_j - th_k),           G = m K'K
    sum_k M_jk th''_k + sum_k G_jk sin(th_j - th_k) th'_k^2 = Q_j
    Q_j  = n_j . (K'f)_j + moment_j + (D'tau)_j
    N m p'' = sum_i f_i

where f_i (N, 2) [N] and moment_i (N,) [N m] are the ground's forces on the links, and tau_j acts
forward on link j and backward on link j + 1. The kernels are called 40,000 times a simulated second.
"""

from __future__ import annotations

import numpy as np
from roboaccord.friction import ellipse_force
from roboaccord.jit import kernel
from roboaccord.state import Array

from snake.parameters import SnakeParameters


def lever_matrix(p: SnakeParameters) -> Array:
    """Return K (N, N) [m], which puts the centre of link i at p + sum_j K_ij u_j."""
    n = p.links
    ahead = np.zeros((n, n))
    for i in range(n - 2, -1, -1):
        ahead[i] = ahead[i + 1]
        ahead[i, i] += p.pivot_behind_front
        ahead[i, i + 1] += p.pivot_ahead_of_rear
    return np.asarray(ahead - ahead.mean(axis=0))


@kernel
def ground_forces(K, c, s, vx, vy, w, friction, points, fx, fy, moment):  # type: ignore[no-untyped-def]
    """Fill the ground's force (fx, fy) and moment on every link.

    `friction` is (mu_along, mu_across, load, slip_speed) and `points` (k, 2) [m] are the contact
    points of a link, which share the load equally.
    """
    n = c.shape[0]
    count = points.shape[0]
    for i in range(n):
        fx[i] = 0.0
        fy[i] = 0.0
        moment[i] = 0.0
        if count == 0:
            continue
        lx = vx
        ly = vy
        for j in range(n):
            lx -= K[i, j] * s[j] * w[j]
            ly += K[i, j] * c[j] * w[j]
        along = c[i] * lx + s[i] * ly
        across = -s[i] * lx + c[i] * ly
        for k in range(count):
            px = points[k, 0]
            py = points[k, 1]
            fa, fc = ellipse_force(
                along - w[i] * py, across + w[i] * px,
                friction[0], friction[1], friction[2] / count, friction[3],
            )  # fmt: skip
            fx[i] += c[i] * fa - s[i] * fc
            fy[i] += s[i] * fa + c[i] * fc
            moment[i] += px * fc - py * fa


@kernel
def mass_and_force(K, G, J, c, s, w, tau, fx, fy, moment, M, Q):  # type: ignore[no-untyped-def]
    """Fill M (N, N), lower triangle, and the right-hand side Q (N,) without the efforts' limits."""
    n = c.shape[0]
    for j in range(n):
        kfx = 0.0
        kfy = 0.0
        centrifugal = 0.0
        for i in range(n):
            kfx += K[i, j] * fx[i]
            kfy += K[i, j] * fy[i]
            centrifugal += G[j, i] * (s[j] * c[i] - c[j] * s[i]) * w[i] * w[i]
        Q[j] = c[j] * kfy - s[j] * kfx + moment[j] - centrifugal
        if j < n - 1:
            Q[j] += tau[j]
        if j > 0:
            Q[j] -= tau[j - 1]
        for k in range(j):
            M[j, k] = G[j, k] * (c[j] * c[k] + s[j] * s[k])
        M[j, j] = G[j, j] + J


@kernel
def cholesky(M, n):  # type: ignore[no-untyped-def]
    """Replace the lower triangle of M by its Cholesky factor."""
    for j in range(n):
        d = M[j, j]
        for k in range(j):
            d -= M[j, k] * M[j, k]
        d = np.sqrt(d)
        M[j, j] = d
        for i in range(j + 1, n):
            x = M[i, j]
            for k in range(j):
                x -= M[i, k] * M[j, k]
            M[i, j] = x / d


@kernel
def cholesky_solve(L, x, n):  # type: ignore[no-untyped-def]
    """Replace x (n,) by the solution of L L' y = x."""
    for i in range(n):
        v = x[i]
        for k in range(i):
            v -= L[i, k] * x[k]
        x[i] = v / L[i, i]
    for i in range(n - 1, -1, -1):
        v = x[i]
        for k in range(i + 1, n):
            v -= L[k, i] * x[k]
        x[i] = v / L[i, i]


@kernel
def accelerations(K, G, J, m, th, vx, vy, w, tau, friction, points, M, acc):  # type: ignore[no-untyped-def]
    """Fill acc (N + 2,) with p'' and th'', and M with its Cholesky factor; stops apart."""
    n = th.shape[0]
    c = np.cos(th)
    s = np.sin(th)
    fx = np.empty(n)
    fy = np.empty(n)
    moment = np.empty(n)
    ground_forces(K, c, s, vx, vy, w, friction, points, fx, fy, moment)
    Q = acc[2:]
    mass_and_force(K, G, J, c, s, w, tau, fx, fy, moment, M, Q)
    cholesky(M, n)
    cholesky_solve(M, Q, n)
    acc[0] = fx.sum() / (n * m)
    acc[1] = fy.sum() / (n * m)


@kernel
def inverse_dynamics(K, G, J, th, w, qdd, fx, fy, moment):  # type: ignore[no-untyped-def]
    """Return the efforts (n,) that give the joints the accelerations qdd (n,); the base is free.

    The heading's own acceleration follows from the sum of all rows, in which the efforts cancel:
    with th'' = th''_N + S qdd, 1'M1 th''_N = 1'(Q - M S qdd). Then tau_j = sum_{i<=j} R_i with
    the residuals R = M th'' - Q.
    """
    n = th.shape[0]
    c = np.cos(th)
    s = np.sin(th)
    M = np.empty((n, n))
    Q = np.empty(n)
    mass_and_force(K, G, J, c, s, w, np.zeros(n - 1), fx, fy, moment, M, Q)
    shape = np.zeros(n)
    for j in range(n - 2, -1, -1):
        shape[j] = shape[j + 1] + qdd[j]
    R = np.zeros(n)
    row_sum = np.zeros(n)
    for j in range(n):
        for k in range(n):
            value = M[j, k] if k <= j else M[k, j]
            R[j] += value * shape[k]
            row_sum[j] += value
    R -= Q
    tail = -R.sum() / row_sum.sum()
    R += row_sum * tail
    return np.cumsum(R)[: n - 1]
