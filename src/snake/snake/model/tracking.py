"""Inverse dynamics of the snake, for controllers: efforts that move the joints as desired.

A shape is the joint angles of the snake with their rates and accelerations. The shape determines
all accelerations of the links but one, that of the mean heading, since nothing holds the base. It
follows from the balance of angular momentum about the centre of mass, in which joint forces and
efforts cancel. The joint forces and the efforts then follow link by link from the head
(`inverse_dynamics`). `tracking_efforts` applies this at the present position and velocity, and
`track` adds the feedback of computed torque.

`serpenoid` and `follow_serpenoid` compute the shapes of two gaits, for the classes Serpenoid and
VariableSerpenoid of controllers/serpenoid.py. `body` is (a, b, m, J) of a link (`kinematics`).
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.numerics import kernel

from snake.model.coordinates import pack
from snake.model.ground import ground_forces
from snake.model.kinematics import cosines, link_places, set_mean


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
    ax[n - 1] = 0.0
    ay[n - 1] = 0.0
    for j in range(n - 2, -1, -1):
        k = j + 1
        sj, sk = w[j] * w[j], w[k] * w[k]
        ax[j] = ax[k] - a * (s[j] * acc[j] + c[j] * sj) - b * (s[k] * acc[k] + c[k] * sk)
        ay[j] = ay[k] + a * (c[j] * acc[j] - s[j] * sj) + b * (c[k] * acc[k] - s[k] * sk)
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
    c, s, rx, ry = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    ax, ay, acc = np.empty(n), np.empty(n), np.empty(n)
    # Accelerations of the headings, but for a common one that is still unknown.
    cosines(th, c, s)
    acc[n - 1] = 0.0
    for j in range(n - 2, -1, -1):
        acc[j] = acc[j + 1] + qdd[j]
    link_places(body, c, s, 0.0, 0.0, rx, ry)
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
    lx = 0.0
    ly = 0.0
    effort = 0.0
    for j in range(n - 1):
        old_x, old_y = lx, ly
        lx += m * (ax[j] - common_acc * ry[j]) + mean_x - fx[j]
        ly += m * (ay[j] + common_acc * rx[j]) + mean_y - fy[j]
        lever = a * (c[j] * ly - s[j] * lx) + b * (c[j] * old_y - s[j] * old_x)
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
    th, w, c, s = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    fx, fy, moment = np.empty(n), np.empty(n), np.empty(n)
    for j in range(n):
        th[j], w[j] = y[2 + j], y[n + 4 + j]
    set_differences(th, q)
    set_differences(w, qd)
    vx, vy = y[n + 2], y[n + 3]
    cosines(th, c, s)
    ground_forces(body, c, s, y[0], vx, vy, w, friction, points, fx, fy, moment)
    inverse_dynamics(body, th, w, qdd, fx, fy, moment, tau)


@kernel
def track(
    body, state_q, state_qd, position, orientation, twist, q, qd, qdd, bandwidth, friction, points,
    tau,
):  # fmt: skip
    """Fill tau (n,) with the efforts that bring a state to a shape q, qd, qdd (n,) [N m].

    Computed torque: the accelerations are those of the shape plus feedback, w^2 e + 2 w e', where e
    is the error of the angles and w is `bandwidth` [rad/s]. Errors then decay critically damped.
    The state is given as in `coordinates.pack`. See serpenoid.Tracker.
    """
    y = np.empty(2 * q.shape[0] + 6)
    pack(body, state_q, state_qd, position, orientation, twist, y)
    wanted = np.empty(q.shape[0])
    for i in range(q.shape[0]):
        error, rate = q[i] - state_q[i], qd[i] - state_qd[i]
        wanted[i] = qdd[i] + bandwidth * (bandwidth * error + 2.0 * rate)
    tracking_efforts(body, y, q, qd, wanted, friction, points, tau)


@kernel
def serpenoid(time, amplitude, rate, lag, offset, ramp, q, qd, qdd):
    """Fill q, qd, qdd (n,) with the serpenoid g(t) (A sin(2 pi f t - beta i) + offset), i from 1.

    The factor g(t) = 10 x^3 - 15 x^4 + 6 x^5, x = t / ramp, rises from 0 to 1 twice differentiable.

    Args:
        time: t [s].
        amplitude: A [rad].
        rate: 2 pi f [rad/s].
        lag: beta [rad].
        offset: [rad].
        ramp: [s].
        q, qd, qdd: filled [rad, rad/s, rad/s^2].
    """
    g, gd, gdd = 1.0, 0.0, 0.0
    if time < ramp:
        x = time / ramp
        g = x * x * x * (10.0 - 15.0 * x + 6.0 * x * x)
        gd = 30.0 * x * x * (1.0 - x) ** 2 / ramp
        gdd = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (ramp * ramp)
    for i in range(q.shape[0]):
        phase = rate * time - lag * (i + 1)
        sin = amplitude * math.sin(phase)
        cos = amplitude * rate * math.cos(phase)
        base = sin + offset
        q[i] = g * base
        qd[i] = gd * base + g * cos
        qdd[i] = gdd * base + 2.0 * gd * cos - g * rate * rate * sin


@kernel
def follow_serpenoid(state, held, next_points, step, bandwidth, q, qd, qdd):
    """Advance VariableSerpenoid's filters by a step, and fill q, qd, qdd (n,) with the shape.

    Args:
        state: the phase; the filtered amplitude, rate 2 pi f, lag and offset; and the derivatives
            of these four (9,). Advanced in place.
        held: set-points of the four during the step (4,).
        next_points: set-points after the step, on which the accelerations qdd depend (4,).
        step: [s].
        bandwidth: of the filters, 1 / T [rad/s].
        q, qd, qdd: filled [rad, rad/s, rad/s^2].
    """
    # Exact solution of the critically damped filters over the step, and of the phase, the integral
    # of the rate.
    decay = math.exp(-bandwidth * step)
    for k in range(4):
        error = state[1 + k] - held[k]
        slope = state[5 + k] + bandwidth * error
        if k == 1:
            swept = error * (1.0 - decay) / bandwidth
            swept += slope * (1.0 - decay * (1.0 + bandwidth * step)) / bandwidth**2
            state[0] += held[k] * step + swept
        state[5 + k] = (state[5 + k] - bandwidth * slope * step) * decay
        state[1 + k] = held[k] + (error + slope * step) * decay
    # Derivatives of A sin(phase - lag i) + offset; `pull` are the filters' second derivatives.
    a, rate, lag, offset, ad, rated, lagd, offsetd = state[1:]
    second_derivatives = bandwidth**2 * (next_points - state[1:5]) - 2.0 * bandwidth * state[5:]
    for i in range(q.shape[0]):
        phase = state[0] - lag * (i + 1)
        phase_rate = rate - lagd * (i + 1)
        phase_acceleration = rated - second_derivatives[2] * (i + 1)
        sin, cos = math.sin(phase), math.cos(phase)
        q[i] = a * sin + offset
        qd[i] = ad * sin + a * cos * phase_rate + offsetd
        qdd[i] = (second_derivatives[0] - a * phase_rate * phase_rate) * sin + second_derivatives[3]
        qdd[i] += (2.0 * ad * phase_rate + a * phase_acceleration) * cos
