"""Planar dynamics of a chain of N links with absolute headings th_1 (head) to th_N (tail).

With u_j = (cos th_j, sin th_j) and its normal n_j, joint j lies a behind the centre of link j and b
ahead of the centre of link j + 1. It carries the force l_j (2,) on link j and -l_j on link j + 1:

    m r''_j  = f_j + l_j - l_(j-1)
    J th''_j = T_j - a n_j . l_j - b n_j . l_(j-1),     T_j = moment_j + tau_j - tau_(j-1)
    r''_j - a (n_j th''_j - u_j th'_j^2) = r''_(j+1) + b (n_(j+1) th''_(j+1) - u_(j+1) th'_(j+1)^2)

Substituting the first two lines in the last gives a symmetric positive definite block-tridiagonal
system in l, which is solved in O(N). It is the same as M th'' + C th'^2 = Q with
M_jk = J d_jk + m (K'K)_jk cos(th_j - th_k). The state is y = [p, th, v, w], (2N + 4,), with the
centre of mass p and its velocity v; `body` is (a, b, m, J) [m, m, kg, kg m^2].

The equations and the order of the arithmetic must stay: test_dynamics compares them with the dense
form, momenta and energy, and hashes of runs depend on every bit.
"""

from __future__ import annotations

from roboaccord.numerics import kernel

from snake.model.ground import ground_forces
from snake.model.kinematics import cosines


@kernel
def joint_block(body, c, s, gx, gy, torque, j):
    """Return xx, xy, yy of the diagonal block of joint j, and its right-hand side."""
    a, b, m, J = body
    cj, sj, ck, sk = c[j], s[j], c[j + 1], s[j + 1]
    aa, bb, ta, tb = a * a / J, b * b / J, a / J * torque[j], b / J * torque[j + 1]
    xx, yy = 2.0 / m + aa * sj * sj + bb * sk * sk, 2.0 / m + aa * cj * cj + bb * ck * ck
    x, y = gx[j] - ta * sj - tb * sk, gy[j] + ta * cj + tb * ck
    return xx, -aa * sj * cj - bb * sk * ck, yy, x, y


@kernel
def link_block(body, c, s):
    """Return xx, xy and yy of the block between the joints of a link, a b / J n n' - 1 / m."""
    a, b, m, J = body
    ab = a * b / J
    return ab * s * s - 1.0 / m, -ab * s * c, ab * c * c - 1.0 / m


@kernel
def eliminate(row, link, pivot):
    """Return a row (`joint_block`) without the joint of a pivot, across their `link_block`."""
    xx, xy, yy, rx, ry = row
    oxx, oxy, oyy = link
    ixx, ixy, iyy, hx, hy = pivot
    pxx, pxy = oxx * ixx + oxy * ixy, oxx * ixy + oxy * iyy
    pyx, pyy = oxy * ixx + oyy * ixy, oxy * ixy + oyy * iyy
    xx -= pxx * oxx + pxy * oxy
    xy -= pxx * oxy + pxy * oyy
    yy -= pyx * oxy + pyy * oyy
    return xx, xy, yy, rx - (pxx * hx + pxy * hy), ry - (pyx * hx + pyy * hy)


@kernel
def invert(row):
    """Return the pivot of a row: the inverse of its block, and its right-hand side."""
    xx, xy, yy, rx, ry = row
    det = 1.0 / (xx * yy - xy * xy)
    return yy * det, -xy * det, xx * det, rx, ry


@kernel
def pivot_of(pivots, j):
    """Return one of the pivots (5, N)."""
    return pivots[0, j], pivots[1, j], pivots[2, j], pivots[3, j], pivots[4, j]


@kernel
def joint_force(pivot, link, x, y):
    """Return the force (2,) in a joint, for that (x, y) in the other joint of their link."""
    ixx, ixy, iyy, hx, hy = pivot
    oxx, oxy, oyy = link
    rx, ry = hx - (oxx * x + oxy * y), hy - (oxy * x + oyy * y)
    return ixx * rx + ixy * ry, ixy * rx + iyy * ry


@kernel
def solve_headings(body, c, s, gx, gy, torque, pivots, acc):
    """Fill acc (N,) = th'' for torques T (N,) and joint gaps' accelerations -g (N - 1,).

    `gx, gy` are used up: they are filled with the forces; pivots (5, N) are scratch. Velocities
    after impulses follow likewise, with gaps of 0. The elimination goes from both ends to the
    middle, and back: a pivot waits for the division of the one before it, so two are under way at a
    time.
    """
    a, b, _, J = body
    last = c.shape[0] - 2
    middle = (last + 1) // 2
    none = (0.0, 0.0, 0.0)
    head = tail = (0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(middle):
        k = last - i
        row = joint_block(body, c, s, gx, gy, torque, i)
        head = invert(eliminate(row, link_block(body, c[i], s[i]), head))
        if k > middle:
            row = joint_block(body, c, s, gx, gy, torque, k)
            tail = invert(eliminate(row, link_block(body, c[k + 1], s[k + 1]), tail))
        for d in range(5):
            pivots[d, i], pivots[d, k] = head[d], tail[d]
    row = joint_block(body, c, s, gx, gy, torque, middle)
    row = eliminate(row, link_block(body, c[middle], s[middle]), head)
    row = eliminate(row, link_block(body, c[middle + 1], s[middle + 1]), tail)
    x, y = joint_force(invert(row), none, 0.0, 0.0)
    gx[middle], gy[middle] = x, y
    u, v = x, y
    for i in range(1, middle + 1):
        j, k = middle - i, middle + i
        x, y = joint_force(pivot_of(pivots, j), link_block(body, c[j + 1], s[j + 1]), x, y)
        gx[j], gy[j] = x, y
        if k <= last:
            u, v = joint_force(pivot_of(pivots, k), link_block(body, c[k], s[k]), u, v)
            gx[k], gy[k] = u, v
    x, y = 0.0, 0.0
    for j in range(last + 2):
        moment = torque[j] - b * (c[j] * y - s[j] * x)
        if j <= last:
            x, y = gx[j], gy[j]
            moment -= a * (c[j] * y - s[j] * x)
        acc[j] = 1.0 / J * moment


@kernel
def respond(body, c, s, w, fx, fy, torque, work, acc):
    """Fill acc (N + 2,) with p'' and th'' under forces (N,) [N] and torques (N,) [N m] on links.

    Impulses on a chain at rest, w of 0, change the velocities likewise. `work` (7, N) is scratch.
    """
    a, b, m, _ = body
    n = c.shape[0]
    gx, gy, least = work[0], work[1], 1.0 / m
    sum_x, sum_y = fx[n - 1], fy[n - 1]
    for j in range(n - 1):
        front, rear = a * w[j] * w[j], b * w[j + 1] * w[j + 1]
        gx[j] = -least * (fx[j] - fx[j + 1]) - front * c[j] - rear * c[j + 1]
        gy[j] = -least * (fy[j] - fy[j + 1]) - front * s[j] - rear * s[j + 1]
        sum_x += fx[j]
        sum_y += fy[j]
    solve_headings(body, c, s, gx, gy, torque, work[2:], acc[2:])
    acc[0] = sum_x / (n * m)
    acc[1] = sum_y / (n * m)


@kernel
def accelerations(body, th, x, vx, vy, w, tau, friction, points, work, acc):
    """Fill acc (N + 2,) with p'' and th'', without the forces of joint stops.

    x, vx and vy are the centre of mass's; `work` (12, N) is scratch, whose first two rows are
    filled with the cosines and sines of th.
    """
    n = th.shape[0]
    c, s, fx, fy, torque = work[0], work[1], work[2], work[3], work[4]
    cosines(th, c, s)
    ground_forces(body, c, s, x, vx, vy, w, friction, points, fx, fy, torque)
    for j in range(n - 1):
        torque[j] += tau[j]
        torque[j + 1] -= tau[j]
    respond(body, c, s, w, fx, fy, torque, work[5:], acc)
