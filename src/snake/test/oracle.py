"""The planar chain written down a second time: dense, slow, straight from Lagrange's equations.

M_jk = J d_jk + m (K'K)_jk cos(th_j - th_k), r_i = p + sum_j K_ij u_j; nothing here is shared with
the solver under test.
"""

import numpy as np


def lever_matrix(links, a, b):
    """Return K (N, N): r_j - r_(j+1) = a u_j + b u_(j+1), less the mean."""
    above = np.zeros((links, links))
    for i in reversed(range(links - 1)):
        above[i] = above[i + 1]
        above[i, i] += a
        above[i, i + 1] += b
    return above - above.mean(axis=0)


def headings(q, tail):
    """Return the absolute headings of the links, head first."""
    return np.append(tail + np.cumsum(q[::-1])[::-1], tail)


def accelerations(p, th, w, tau, force=None, moment=None):
    """Return p'' (2,) and th'' (N,) for ground forces (N, 2) and moments (N,)."""
    n = len(th)
    force = np.zeros((n, 2)) if force is None else force
    moment = np.zeros(n) if moment is None else moment
    K = lever_matrix(n, p.pivot_behind_front, p.pivot_ahead_of_rear)
    G = p.link_mass * K.T @ K
    d = th[:, None] - th[None, :]
    M = p.inertia_vertical * np.eye(n) + G * np.cos(d)
    D = np.eye(n)[:-1] - np.eye(n)[1:]
    Q = moment + D.T @ tau - (G * np.sin(d)) @ w**2
    Q += np.cos(th) * (K.T @ force[:, 1]) - np.sin(th) * (K.T @ force[:, 0])
    return force.sum(axis=0) / (n * p.link_mass), np.linalg.solve(M, Q)


def momenta(p, y):
    """Return linear momentum (2,), angular momentum about the origin, kinetic energy."""
    n = p.links
    centre, th, v, w = y[:2], y[2 : n + 2], y[n + 2 : n + 4], y[n + 4 :]
    K = lever_matrix(n, p.pivot_behind_front, p.pivot_ahead_of_rear)
    r = centre + np.column_stack([K @ np.cos(th), K @ np.sin(th)])
    rd = v + np.column_stack([-K @ (np.sin(th) * w), K @ (np.cos(th) * w)])
    linear = p.link_mass * rd.sum(axis=0)
    turn = p.link_mass * (r[:, 0] * rd[:, 1] - r[:, 1] * rd[:, 0]).sum()
    angular = turn + p.inertia_vertical * w.sum()
    energy = 0.5 * p.link_mass * (rd**2).sum() + 0.5 * p.inertia_vertical * (w**2).sum()
    return linear, angular, energy
