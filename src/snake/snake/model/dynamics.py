"""Planar dynamics of the snake: accelerations of a chain of links under efforts and ground forces.

The chain has N links with absolute headings th_1 (head) to th_N (tail). Let u_j = (cos th_j,
sin th_j) be the direction of link j and n_j = (-sin th_j, cos th_j) its normal. Joint j lies a
behind the centre of link j and b ahead of the centre of link j + 1. It carries the force l_j (2,)
on link j and -l_j on link j + 1. With the ground's force f_j and moment_j on link j and the joint
efforts tau_j, the motion of each link, and that the links of a joint do not part, state:

    m r''_j  = f_j + l_j - l_(j-1)
    J th''_j = T_j - a n_j . l_j - b n_j . l_(j-1),     T_j = moment_j + tau_j - tau_(j-1)
    r''_j - a (n_j th''_j - u_j th'_j^2) = r''_(j+1) + b (n_(j+1) th''_(j+1) - u_(j+1) th'_(j+1)^2)

Substituting the first two lines in the last gives equations for the joint forces alone, with 2 x 2
blocks D_j and O_j = O_j':

    O_j l_(j-1) + D_j l_j + O_(j+1) l_(j+1) = g_j + a T_j / J n_j + b T_(j+1) / J n_(j+1)

where g_j collects what does not depend on joint forces and torques: the difference of the ground's
forces over m, and the centripetal parts.

The matrix is symmetric, positive definite and block-tridiagonal, so the system is solved in O(N)
by elimination of one joint after the other; the accelerations then follow from the first two lines.
The dense form, with which tests compare, is M th'' + C th'^2 = Q, where M_jk = J d_jk +
m (K'K)_jk cos(th_j - th_k); d_jk is 1 for j = k and else 0, and the matrix K (N, N) gives the
links' centres relative to the centre of mass, r_j - p = sum_k K_jk u_k.

The state is y = [p, th, v, w], (2N + 4,), with the centre of mass p and its velocity v, the
headings th and their rates w; `body` is (a, b, m, J) [m, m, kg, kg m^2]. Indices in the code start
at 0. The order of the arithmetic must stay, since hashes of runs depend on every bit.
"""

from typing import NamedTuple

from roboaccord.numerics import kernel

from snake.model.coordinates import heading_rates, headings, velocities
from snake.model.ground import ground_forces
from snake.model.kinematics import cosines


class Block(NamedTuple):
    """Entries of a symmetric 2 x 2 block of the matrix, or of the inverse of one."""

    xx: float
    xy: float
    yy: float


class Row(NamedTuple):
    """Row of one joint in the system for the joint forces: two equations, along x and y.

    Attributes:
        xx, xy, yy: diagonal block, with the neighbours that are eliminated; its inverse in a pivot.
        x, y: components of the right-hand side [m/s^2].
    """

    xx: float
    xy: float
    yy: float
    x: float
    y: float


NO_BLOCK = Block(0.0, 0.0, 0.0)
NO_ROW = Row(0.0, 0.0, 0.0, 0.0, 0.0)  # pivot beyond the first and the last joint


@kernel
def joint_row(body, c, s, gx, gy, torque, j):
    """Return the row of joint j before elimination: diagonal block D_j, and right-hand side.

    The block is 2 / m + a^2 / J n_j n_j' + b^2 / J n_(j+1) n_(j+1)', and the right-hand side
    g_j + a T_j / J n_j + b T_(j+1) / J n_(j+1), with the torques T on both links.
    """
    a, b, m, J = body
    k = j + 1  # the link behind the joint
    # a^2 / J and b^2 / J; then a T_j / J and b T_k / J.
    a2, b2 = a * a / J, b * b / J
    xx = 2.0 / m + a2 * s[j] * s[j] + b2 * s[k] * s[k]
    xy = -a2 * s[j] * c[j] - b2 * s[k] * c[k]
    yy = 2.0 / m + a2 * c[j] * c[j] + b2 * c[k] * c[k]
    ta, tb = a / J * torque[j], b / J * torque[k]
    x = gx[j] - ta * s[j] - tb * s[k]
    y = gy[j] + ta * c[j] + tb * c[k]
    return Row(xx, xy, yy, x, y)


@kernel
def link_block(body, c, s):
    """Return the block O between the two joints of a link: a b / J n n' - 1 / m.

    `c` and `s` are the cosine and the sine of the link's heading.
    """
    a, b, m, J = body
    ab = a * b / J  # 1/kg
    return Block(ab * s * s - 1.0 / m, -ab * s * c, ab * c * c - 1.0 / m)


@kernel
def eliminate(row, link, pivot):
    """Eliminate the neighbouring joint from a joint's row: D - O I O, r - O I h.

    Args:
        row: D and r of the joint.
        link: O of the link between the two joints (`link_block`).
        pivot: I and h of the neighbour (`invert`).
    """
    # P = O I, which is not symmetric
    pxx = link.xx * pivot.xx + link.xy * pivot.xy
    pxy = link.xx * pivot.xy + link.xy * pivot.yy
    pyx = link.xy * pivot.xx + link.yy * pivot.xy
    pyy = link.xy * pivot.xy + link.yy * pivot.yy
    xx = row.xx - (pxx * link.xx + pxy * link.xy)
    xy = row.xy - (pxx * link.xy + pxy * link.yy)
    yy = row.yy - (pyx * link.xy + pyy * link.yy)
    x = row.x - (pxx * pivot.x + pxy * pivot.y)
    y = row.y - (pyx * pivot.x + pyy * pivot.y)
    return Row(xx, xy, yy, x, y)


@kernel
def invert(row):
    """Return the pivot of a row: the inverse of its block, and its right-hand side."""
    det = 1.0 / (row.xx * row.yy - row.xy * row.xy)
    return Row(row.yy * det, -row.xy * det, row.xx * det, row.x, row.y)


@kernel
def pivot_of(pivots, j):
    """Return the pivot of joint j, column j of the array of pivots (5, N)."""
    return Row(pivots[0, j], pivots[1, j], pivots[2, j], pivots[3, j], pivots[4, j])


@kernel
def joint_force(pivot, link, x, y):
    """Return the force (2,) in a joint by back-substitution: I (h - O l).

    Args:
        pivot: I and h of the joint, as `invert` returns them.
        link: O of the link that the joint shares with its neighbour.
        x, y: force l in the neighbour, which is known already.
    """
    rx = pivot.x - (link.xx * x + link.xy * y)
    ry = pivot.y - (link.xy * x + link.yy * y)
    return pivot.xx * rx + pivot.xy * ry, pivot.xy * rx + pivot.yy * ry


@kernel
def solve_headings(body, c, s, gx, gy, torque, pivots, acc):
    """Solve for the joint forces, and fill `acc` with the angular accelerations th'' (N,).

    Changes of the rates by impulses follow in the same way, with g of 0.

    The elimination runs from both ends to the middle, and the back-substitution from there to both
    ends. Each pivot needs the division of the one before it, so that a processor can work on the
    two chains at the same time.

    Args:
        body: (a, b, m, J) of a link.
        c, s: cosines and sines of the headings (N,).
        gx, gy: minus the acceleration at which the two links of each joint would part without joint
            forces and torques (N - 1,) [m/s^2]; replaced by the joint forces [N].
        torque: on every link, from ground and efforts (N,) [N m].
        pivots: scratch (5, N).
        acc: filled (N,) [rad/s^2].
    """
    last = c.shape[0] - 2
    middle = (last + 1) // 2
    head = tail = NO_ROW  # pivots of the last joints that were eliminated from either end
    # Elimination, from the head by joint i and from the tail by joint k. Its pivots are the columns
    # of `pivots`, the five fields of a Row in its rows.
    for i in range(middle):
        k = last - i
        row = joint_row(body, c, s, gx, gy, torque, i)
        head = invert(eliminate(row, link_block(body, c[i], s[i]), head))
        if k > middle:
            row = joint_row(body, c, s, gx, gy, torque, k)
            tail = invert(eliminate(row, link_block(body, c[k + 1], s[k + 1]), tail))
        for field in range(5):
            pivots[field, i], pivots[field, k] = head[field], tail[field]
    # The joint in the middle, with both of its neighbours eliminated.
    row = joint_row(body, c, s, gx, gy, torque, middle)
    row = eliminate(row, link_block(body, c[middle], s[middle]), head)
    row = eliminate(row, link_block(body, c[middle + 1], s[middle + 1]), tail)
    x, y = joint_force(invert(row), NO_BLOCK, 0.0, 0.0)
    gx[middle], gy[middle] = x, y
    # Back-substitution: (x, y) is the force of joint j towards the head, (u, v) that of joint k
    # towards the tail.
    u, v = x, y
    for i in range(1, middle + 1):
        j, k = middle - i, middle + i
        x, y = joint_force(pivot_of(pivots, j), link_block(body, c[j + 1], s[j + 1]), x, y)
        gx[j], gy[j] = x, y
        if k <= last:
            u, v = joint_force(pivot_of(pivots, k), link_block(body, c[k], s[k]), u, v)
            gx[k], gy[k] = u, v
    turn_links(body, c, s, gx, gy, torque, acc)


@kernel
def turn_links(body, c, s, lx, ly, torque, acc):
    """Fill `acc` (N,) with th'' [rad/s^2] for joint forces lx, ly (N - 1,) [N] and torques (N,)."""
    a, b, _, J = body
    # Link by link from the head; (x, y) is the force in the joint ahead, then in the one behind.
    x, y = 0.0, 0.0
    n = c.shape[0]
    for j in range(n):
        moment = torque[j] - b * (c[j] * y - s[j] * x)
        if j < n - 1:
            x, y = lx[j], ly[j]
            moment -= a * (c[j] * y - s[j] * x)
        acc[j] = 1.0 / J * moment


@kernel
def respond(body, c, s, w, fx, fy, torque, work, acc):
    """Fill acc (N + 2,) with p'' [m/s^2] and th'' [rad/s^2] under forces and torques on the links.

    With impulses [N s, N m s] and w of 0 it is filled with the changes of the velocities instead.

    Args:
        body, c, s: as in `solve_headings`.
        w: rates of the headings (N,) [rad/s].
        fx, fy: forces on the links (N,) [N].
        torque: on the links (N,) [N m].
        work: scratch (7, N): g along x and y, then the pivots of `solve_headings`.
        acc: filled.
    """
    a, b, m, _ = body
    n = c.shape[0]
    gx, gy = work[0], work[1]
    inverse_mass = 1.0 / m
    # g of every joint: difference of the links' accelerations there, with the centripetal parts.
    sum_x, sum_y = fx[n - 1], fy[n - 1]
    for j in range(n - 1):
        front, rear = a * w[j] * w[j], b * w[j + 1] * w[j + 1]
        gx[j] = -inverse_mass * (fx[j] - fx[j + 1]) - front * c[j] - rear * c[j + 1]
        gy[j] = -inverse_mass * (fy[j] - fy[j + 1]) - front * s[j] - rear * s[j + 1]
        sum_x += fx[j]
        sum_y += fy[j]
    solve_headings(body, c, s, gx, gy, torque, work[2:], acc[2:])
    # The centre of mass moves by the sum of the forces.
    acc[0] = sum_x / (n * m)
    acc[1] = sum_y / (n * m)


@kernel
def accelerations(body, y, tau, friction, points, work, acc):
    """Fill acc (N + 2,) with p'' [m/s^2] and th'' [rad/s^2], without the forces of joint stops.

    Args:
        body: (a, b, m, J) of a link.
        y: state [p, th, v, w] (2N + 4,).
        tau: joint efforts (N - 1,) [N m].
        friction, points: of the ground, as in `ground.ground_forces`.
        work: scratch (12, N): cosines and sines of th, ground forces fx, fy and torques on the
            links in the first five rows, then the scratch of `respond`.
        acc: filled.
    """
    c, s, fx, fy, torque = work[0], work[1], work[2], work[3], work[4]
    v, w = velocities(y)[:2], heading_rates(y)
    cosines(headings(y), c, s)
    ground_forces(body, c, s, y[0], v[0], v[1], w, friction, points, fx, fy, torque)
    # An effort turns the link ahead of its joint forward, and the link behind it backward.
    for j in range(tau.shape[0]):
        torque[j] += tau[j]
        torque[j + 1] -= tau[j]
    respond(body, c, s, w, fx, fy, torque, work[5:], acc)
