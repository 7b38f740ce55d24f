"""Inverse dynamics of the snake, for controllers: efforts that move the joints as desired.

A shape is the joint angles of the snake with their rates and accelerations. The shape determines
all accelerations of the links but one, that of the mean heading, since nothing holds the base. It
follows from the balance of angular momentum about the centre of mass, in which joint forces and
efforts cancel. The joint forces and the efforts then follow link by link from the head
(`inverse_dynamics`). `tracking_efforts` applies this at the present position and velocity, and
`track` adds the feedback of computed torque.

In all kernels c and s are cosines and sines of the headings th, w the rates of the headings, and
`body` is (a, b, m, J) of a link: the distances of its joints, a behind its centre and b ahead of
it, its mass, and its inertia about the vertical (`kinematics`).
"""

import numpy as np
from roboaccord.numerics import kernel

from snake.model.coordinates import heading_rates, headings, pack, velocities
from snake.model.ground import ground_forces
from snake.model.kinematics import cosines, link_positions, set_mean


@kernel
def set_differences(x, differences):
    """Change x (N,) in place such that x_j - x_(j+1) = differences_j and its mean stays."""
    n, total = x.shape[0], 0.0
    for j in range(n):
        total += x[j]
    x[n - 1] = 0.0
    for j in range(n - 2, -1, -1):
        x[j] = x[j + 1] + differences[j]
    set_mean(x, total / n)


@kernel
def centre_accelerations(body, c, s, w, acc, ax, ay):
    """Fill ax, ay (N,) with the links' accelerations relative to the centre of mass [m/s^2].

    c, s are cosines and sines of the headings, w their rates and acc their accelerations (N,).
    """
    a, b, _, _ = body
    n = c.shape[0]
    ax[n - 1], ay[n - 1] = 0.0, 0.0
    for j in range(n - 2, -1, -1):
        k = j + 1
        wj2, wk2 = w[j] * w[j], w[k] * w[k]
        ax[j] = ax[k] - a * (s[j] * acc[j] + c[j] * wj2) - b * (s[k] * acc[k] + c[k] * wk2)
        ay[j] = ay[k] + a * (c[j] * acc[j] - s[j] * wj2) + b * (c[k] * acc[k] - s[k] * wk2)
    set_mean(ax, 0.0)
    set_mean(ay, 0.0)


@kernel
def inverse_dynamics(body, th, w, qdd, fx, fy, moment, tau):
    """Fill tau (n,) with the efforts that give the joints the accelerations qdd (n,).

    Args:
        body: (a, b, m, J) of a link.
        th, w: headings (N,) [rad] and their rates (N,) [rad/s].
        qdd: wanted accelerations of the joints (n,) [rad/s^2].
        fx, fy, moment: of the ground on every link (N,) [N, N, N m].
        tau: filled [N m].

    Returns:
        the acceleration of the mean heading that results [rad/s^2].
    """
    a, b, m, J = body
    n = th.shape[0]
    c, s = np.empty(n), np.empty(n)
    rx, ry = np.empty(n), np.empty(n)  # links' centres relative to the centre of mass [m]
    ax, ay, acc = np.empty(n), np.empty(n), np.empty(n)  # accelerations of links and headings
    # Accelerations of the headings, but for a common one that is still unknown.
    cosines(th, c, s)
    acc[n - 1] = 0.0
    for j in range(n - 2, -1, -1):
        acc[j] = acc[j + 1] + qdd[j]
    link_positions(body, c, s, 0.0, 0.0, rx, ry)
    centre_accelerations(body, c, s, w, acc, ax, ay)
    # Angular momentum about the centre of mass: the moment that the motion so far lacks, over the
    # inertia of the whole, is the common acceleration.
    missing_moment, inertia, sum_x, sum_y, sum_acc = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(n):
        sum_x += fx[j]
        sum_y += fy[j]
        sum_acc += acc[j]
        missing_moment += moment[j] + rx[j] * (fy[j] - m * ay[j]) - ry[j] * (fx[j] - m * ax[j])
        missing_moment -= J * acc[j]
        inertia += J + m * (rx[j] * rx[j] + ry[j] * ry[j])
    # It turns the whole about its centre, and adds turn z x r_j to the acceleration of link j.
    common_acc = missing_moment / inertia
    mean_x, mean_y = sum_x / n, sum_y / n
    # Newton's and Euler's equations, link by link: force (lx, ly) and effort of joint j.
    lx, ly, effort = 0.0, 0.0, 0.0
    for j in range(n - 1):
        x_before, y_before = lx, ly
        lx += m * (ax[j] - common_acc * ry[j]) + mean_x - fx[j]
        ly += m * (ay[j] + common_acc * rx[j]) + mean_y - fy[j]
        lever = a * (c[j] * ly - s[j] * lx) + b * (c[j] * y_before - s[j] * x_before)
        effort += J * (acc[j] + common_acc) - moment[j] + lever
        tau[j] = effort
    return common_acc + sum_acc / n


@kernel
def tracking_efforts(body, y, q, qd, qdd, friction, points, tau):
    """Fill tau (n,) with the efforts that a desired shape q, qd, qdd (n,) needs [N m].

    The desired shape is placed at the centre of mass, mean heading and mean velocities of the
    present state y (2N + 4,). If it were attached to one end of the body instead, an error there
    would grow along the body. `friction` and `points` are those of the ground (`ground`).
    """
    n = q.shape[0] + 1
    th, w = headings(y).copy(), heading_rates(y).copy()
    c, s = np.empty(n), np.empty(n)
    fx, fy, moment = np.empty(n), np.empty(n), np.empty(n)
    set_differences(th, q)
    set_differences(w, qd)
    v = velocities(y)[:2]
    cosines(th, c, s)
    ground_forces(body, c, s, y[0], v[0], v[1], w, friction, points, fx, fy, moment)
    inverse_dynamics(body, th, w, qdd, fx, fy, moment, tau)


@kernel
def track(body, state, shape, bandwidth, friction, points, tau):
    """Fill tau (n,) with the efforts that bring a state to a shape [N m].

    Computed torque: the accelerations are those of the shape plus feedback, w^2 e + 2 w e', where e
    is the error of the angles and w the bandwidth. Errors then decay critically damped.

    Args:
        body: (a, b, m, J) of a link.
        state: joint angles and rates, and position, orientation and twist of `base_link`, as in
            `coordinates.pack`.
        shape: desired angles, rates and accelerations (n,) [rad, rad/s, rad/s^2].
        bandwidth: w [rad/s].
        friction, points: of the ground, as in `ground.ground_forces`.
        tau: filled.
    """
    measured_q, measured_qd, position, orientation, twist = state
    q, qd, qdd = shape
    y = np.empty(2 * q.shape[0] + 6)
    pack(body, measured_q, measured_qd, position, orientation, twist, y)
    corrected = np.empty(q.shape[0])
    for i in range(q.shape[0]):
        error, rate_error = q[i] - measured_q[i], qd[i] - measured_qd[i]
        corrected[i] = qdd[i] + bandwidth * (bandwidth * error + 2.0 * rate_error)
    tracking_efforts(body, y, q, qd, corrected, friction, points, tau)
