"""Planar dynamics of a chain of N links with absolute headings th_1 (head) to th_N (tail).

The equations below are fixed, Newton's and Euler's; test_dynamics compares them with the dense
form, momenta and energy. For another ground `ground_forces` and `grips` may be changed, together
with the law in roboaccord.contract: test_friction compares both forms.

With u_j = (cos th_j, sin th_j) and its normal n_j, joint j lies a behind the centre of link j and b
ahead of the centre of link j + 1. It carries the force l_j (2,) on link j and -l_j on link j + 1:

    m r''_j  = f_j + l_j - l_(j-1)
    J th''_j = T_j - a n_j . l_j - b n_j . l_(j-1),     T_j = moment_j + tau_j - tau_(j-1)
    r''_j - a (n_j th''_j - u_j th'_j^2) = r''_(j+1) + b (n_(j+1) th''_(j+1) - u_(j+1) th'_(j+1)^2)

The last line, with the first two put in, is a symmetric positive definite block-tridiagonal system
in l, solved in O(N). It is the same as M th'' + C th'^2 = Q with M_jk = J d_jk + m (K'K)_jk
cos(th_j - th_k), to which the tests hold it. `body` is (a, b, m, J) [m, m, kg, kg m^2], y is
[p, th, v, w] with the centre of mass p and its velocity v.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract import rigid_loads, sliding_force
from roboaccord.numerics import kernel


@kernel
def link_velocities(body, c, s, vx, vy, w, lx, ly):
    """Fill the velocities of the links' centres (N,), for the velocity (vx, vy) of the whole."""
    a, b = body[0], body[1]
    n = c.shape[0]
    lx[n - 1] = 0.0
    ly[n - 1] = 0.0
    mean_x = 0.0
    mean_y = 0.0
    for j in range(n - 2, -1, -1):
        lx[j] = lx[j + 1] - a * s[j] * w[j] - b * s[j + 1] * w[j + 1]
        ly[j] = ly[j + 1] + a * c[j] * w[j] + b * c[j + 1] * w[j + 1]
        mean_x += lx[j]
        mean_y += ly[j]
    lx += vx - mean_x / n
    ly += vy - mean_y / n


@kernel
def link_places(body, c, s, x, y, px, py):
    """Fill the places of the links' centres (N,) [m], for the centre of mass at (x, y)."""
    a, b = body[0], body[1]
    n = c.shape[0]
    px[n - 1] = 0.0
    py[n - 1] = 0.0
    for j in range(n - 2, -1, -1):
        px[j] = px[j + 1] + a * c[j] + b * c[j + 1]
        py[j] = py[j + 1] + a * s[j] + b * s[j + 1]
    px += x - px.sum() / n
    py += y - py.sum() / n


@kernel
def grips(body, c, s, x, friction, points, mu, loads):
    """Fill the coefficients along and across mu (N, 2) of links, and the loads (N, k) of points.

    Arguments are those of `ground_forces`.
    """
    n, count = loads.shape
    mu[:, 0] = friction[0]
    mu[:, 1] = friction[1]
    loads[:] = friction[2] / count
    rigid, changes = friction[6] > 0.0, friction.shape[0] > 7
    if rigid or changes:
        px, py = np.empty(n), np.empty(n)
        link_places(body, c, s, x, 0.0, px, py)
        if rigid:
            rigid_loads(px, py, c, s, points, friction[2], friction[5:7], loads)
        if changes:
            for i in range(n):
                if px[i] > friction[7]:
                    mu[i] = friction[8:10]


@kernel
def ground_forces(body, c, s, x, vx, vy, w, friction, points, fx, fy, moment):
    """Fill the ground's force (fx, fy) [N] and moment [N m] on every link (N,).

    `friction` is (mu_along, mu_across, load, slip_speed, pyramid, gyration about x, about y):
    pyramid is 1 where each axis is bounded by itself, and else 0; the squared radii of gyration of
    a link [m^2] are 0 where all links have the same load. Where the ground changes, three more
    state beyond which x [m] and to which coefficients. `x` is the centre of mass's. `points` (k, 2)
    [m] are the contact points of a link, which share its load equally where all have the same.
    """
    n, count = c.shape[0], points.shape[0]
    if count == 0:
        fx[:] = 0.0
        fy[:] = 0.0
        moment[:] = 0.0
        return
    along_most, across_most, load = friction[0], friction[1], friction[2] / count
    mu, loads = points[:0], points[:0]
    varies = friction[6] > 0.0 or friction.shape[0] > 7
    if varies:
        mu, loads = np.empty((n, 2)), np.empty((n, count))
        grips(body, c, s, x, friction, points, mu, loads)
    link_velocities(body, c, s, vx, vy, w, fx, fy)
    for i in range(n):
        along = c[i] * fx[i] + s[i] * fy[i]
        across = c[i] * fy[i] - s[i] * fx[i]
        sum_a = 0.0
        sum_c = 0.0
        sum_m = 0.0
        for k in range(count):
            px = points[k, 0]
            py = points[k, 1]
            if varies:
                along_most, across_most, load = mu[i, 0], mu[i, 1], loads[i, k]
            fa, fc = sliding_force(
                friction[4] > 0.0, along - w[i] * py, across + w[i] * px, along_most, across_most,
                load, friction[3],
            )  # fmt: skip
            sum_a += fa
            sum_c += fc
            sum_m += px * fc - py * fa
        fx[i] = c[i] * sum_a - s[i] * sum_c
        fy[i] = s[i] * sum_a + c[i] * sum_c
        moment[i] = sum_m


@kernel
def solve_headings(body, c, s, gx, gy, torque, acc):
    """Fill acc (N,) = th'' for torques T (N,) and joint gaps' accelerations -g (N - 1,).

    `gx, gy` are used up. Velocities after impulses follow likewise, with gaps of 0.

    The inverses of the pivot blocks follow from each other, one division after the other, which is
    what takes the time: the right-hand side is eliminated beside them.
    """
    a, b, m, J = body
    n = c.shape[0]
    aa, ab, bb, least, twice = a * a / J, a * b / J, b * b / J, 1.0 / m, 2.0 / m
    inverse = np.empty((n - 1, 3))
    ixx, ixy, iyy, hx, hy = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(n - 1):
        cj, sj, ck, sk = c[j], s[j], c[j + 1], s[j + 1]
        # D_j = 2/m + a^2/J n_j n_j' + b^2/J n_(j+1) n_(j+1)', less what elimination takes off.
        xx = twice + aa * sj * sj + bb * sk * sk
        xy = -aa * sj * cj - bb * sk * ck
        yy = twice + aa * cj * cj + bb * ck * ck
        ta, tb = a * torque[j] / J, b * torque[j + 1] / J
        rx, ry = gx[j] - ta * sj - tb * sk, gy[j] + ta * cj + tb * ck
        if j > 0:  # the block beside the diagonal, ab n_j n_j' - 1/m, times the inverse before
            oxx, oxy, oyy = ab * sj * sj - least, -ab * sj * cj, ab * cj * cj - least
            pxx, pxy = oxx * ixx + oxy * ixy, oxx * ixy + oxy * iyy
            pyx, pyy = oxy * ixx + oyy * ixy, oxy * ixy + oyy * iyy
            xx -= pxx * oxx + pxy * oxy
            xy -= pxx * oxy + pxy * oyy
            yy -= pyx * oxy + pyy * oyy
            rx -= pxx * hx + pxy * hy
            ry -= pyx * hx + pyy * hy
        det = 1.0 / (xx * yy - xy * xy)
        ixx, ixy, iyy, hx, hy = yy * det, -xy * det, xx * det, rx, ry
        inverse[j, 0], inverse[j, 1], inverse[j, 2], gx[j], gy[j] = ixx, ixy, iyy, hx, hy
    for j in range(n):
        acc[j] = torque[j] / J
    fx, fy, oxx, oxy, oyy = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(n - 2, -1, -1):
        cj, sj = c[j], s[j]
        rx, ry = gx[j] - oxx * fx - oxy * fy, gy[j] - oxy * fx - oyy * fy
        fx = inverse[j, 0] * rx + inverse[j, 1] * ry
        fy = inverse[j, 1] * rx + inverse[j, 2] * ry
        acc[j] -= a / J * (cj * fy - sj * fx)
        acc[j + 1] -= b / J * (c[j + 1] * fy - s[j + 1] * fx)
        oxx, oxy, oyy = ab * sj * sj - least, -ab * sj * cj, ab * cj * cj - least


@kernel
def respond(body, c, s, w, fx, fy, torque, acc):
    """Fill acc (N + 2,) with p'' and th'' under forces (N,) [N] and torques (N,) [N m] on links.

    Impulses on a chain at rest, w of 0, change the velocities likewise.
    """
    a, b, m, _ = body
    n = c.shape[0]
    gaps = np.empty((2, n - 1))
    for j in range(n - 1):
        front, rear = a * w[j] * w[j], b * w[j + 1] * w[j + 1]
        gaps[0, j] = -(fx[j] - fx[j + 1]) / m - front * c[j] - rear * c[j + 1]
        gaps[1, j] = -(fy[j] - fy[j + 1]) / m - front * s[j] - rear * s[j + 1]
    solve_headings(body, c, s, gaps[0], gaps[1], torque, acc[2:])
    acc[0] = fx.sum() / (n * m)
    acc[1] = fy.sum() / (n * m)


@kernel
def accelerations(body, th, x, vx, vy, w, tau, friction, points, c, s, acc):
    """Fill acc (N + 2,) with p'' and th'', stops apart; and c and s (N,).

    x, vx and vy are the centre of mass's.
    """
    n = th.shape[0]
    loads = np.empty((3, n))
    fx, fy, torque = loads[0], loads[1], loads[2]
    for j in range(n):
        c[j] = math.cos(th[j])
        s[j] = math.sin(th[j])
    ground_forces(body, c, s, x, vx, vy, w, friction, points, fx, fy, torque)
    for j in range(n - 1):
        torque[j] += tau[j]
        torque[j + 1] -= tau[j]
    respond(body, c, s, w, fx, fy, torque, acc)
