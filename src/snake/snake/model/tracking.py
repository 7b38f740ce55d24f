"""Inverse dynamics of the chain with a free base, and the serpenoid.

`inverse_dynamics` and `tracking_efforts` give the efforts that a desired shape takes.

Of the links' accelerations only that of the mean heading is not given by the shape. It follows from
the balance of angular momentum about the centre of mass, in which joint forces and efforts cancel.
The joint forces and efforts then follow link by link from the head. `serpenoid` and
`follow_serpenoid` are the formulas of the classes Serpenoid and VariableSerpenoid
(controllers/serpenoid.py), where gaits are changed.

The equations are fixed: test_dynamics undoes the forward dynamics with `inverse_dynamics`, and
test_gaits differentiates the two gaits.
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
    """Change x (N,) so that it has the given successive differences (N - 1,) and its old mean."""
    n, total = x.shape[0], 0.0
    for j in range(n):
        total += x[j]
    x[n - 1] = 0.0
    for j in range(n - 2, -1, -1):
        x[j] = x[j + 1] + differences[j]
    set_mean(x, total / n)


@kernel
def centre_accelerations(body, c, s, w, acc, ax, ay):
    """Fill the links' accelerations relative to the centre of mass (N,) for th'' = acc (N,)."""
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

    Returns:
        the acceleration of the mean heading that goes with them [rad/s^2].
    """
    a, b, m, J = body
    n = th.shape[0]
    c, s, rx, ry = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    ax, ay, acc = np.empty(n), np.empty(n), np.empty(n)
    cosines(th, c, s)
    acc[n - 1] = 0.0
    for j in range(n - 2, -1, -1):
        acc[j] = acc[j + 1] + qdd[j]
    link_places(body, c, s, 0.0, 0.0, rx, ry)
    centre_accelerations(body, c, s, w, acc, ax, ay)
    missing, inertia, sum_x, sum_y, sum_acc = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(n):
        sum_x += fx[j]
        sum_y += fy[j]
        sum_acc += acc[j]
        missing += moment[j] + rx[j] * (fy[j] - m * ay[j]) - ry[j] * (fx[j] - m * ax[j])
        missing -= J * acc[j]
        inertia += J + m * (rx[j] * rx[j] + ry[j] * ry[j])
    # A common th'' turns the whole about its centre: it adds z x r to every link's acceleration.
    turn = missing / inertia
    mean_x, mean_y = sum_x / n, sum_y / n
    lx = 0.0
    ly = 0.0
    effort = 0.0
    for j in range(n - 1):
        old_x, old_y = lx, ly
        lx += m * (ax[j] - turn * ry[j]) + mean_x - fx[j]
        ly += m * (ay[j] + turn * rx[j]) + mean_y - fy[j]
        lever = a * (c[j] * ly - s[j] * lx) + b * (c[j] * old_y - s[j] * old_x)
        effort += J * (acc[j] + turn) - moment[j] + lever
        tau[j] = effort
    return turn + sum_acc / n


@kernel
def tracking_efforts(body, y, q, qd, qdd, friction, points, tau):
    """Fill tau (n,) with the efforts of a desired shape q, qd, qdd (n,).

    The shape is put at the centre of mass, mean heading and velocities of y: hung on one end of
    the body instead, an error there would be magnified by the body's length.
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
    """Fill tau (n,) with the efforts by which a state comes to a shape q, qd, qdd (n,).

    The errors decay with `bandwidth` [rad/s], critically damped. See serpenoid.Tracker.
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
    """Fill the serpenoid's angles, rates and accelerations (n,)."""
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
    """Advance the filters by `step` [s] under `held` (4,), and fill the shape under `next_points`.

    `state` (9,) is the phase, then the filtered amplitude, rate 2 pi f, lag and offset, then their
    derivatives; `held` and `next_points` (4,) are set-points of these four. They are
    those of VariableSerpenoid.
    """
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
    a, rate, lag, offset, ad, rated, lagd, offsetd = state[1:]
    pull = bandwidth**2 * (next_points - state[1:5]) - 2.0 * bandwidth * state[5:]
    for i in range(q.shape[0]):
        phase = state[0] - lag * (i + 1)
        first = rate - lagd * (i + 1)
        second = rated - pull[2] * (i + 1)
        sin, cos = math.sin(phase), math.cos(phase)
        q[i] = a * sin + offset
        qd[i] = ad * sin + a * cos * first + offsetd
        qdd[i] = (pull[0] - a * first * first) * sin + pull[3]
        qdd[i] += (2.0 * ad * first + a * second) * cos
