"""Coordinates of the snake: conversion between states of the workspace and the model's state y.

y = [p, th, v, w], (2N + 4,), holds the centre of mass p and its velocity v in the plane, and the
headings th and rates w of the N links from the head to the tail. A state of the workspace has joint
angles and rates instead, and the pose and twist of `base_link`, the tail. The kernels walk from the
tail to the head and sum up the links' centres on the way.

The order of y must stay, since every kernel reads it; test_dynamics converts states to y and back,
to round-off.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract import Array, RobotState, Trajectory
from roboaccord.numerics import kernel

from snake.model.parameters import SnakeParameters


@kernel
def pack(body, q, qd, position, orientation, twist, y):
    """Fill y from joint angles and rates (n,), position (3,), orientation (4,) and twist (6,)."""
    a, b, _, _ = body
    n = q.shape[0] + 1
    z, w = orientation[2], orientation[3]
    heading = math.atan2(
        2.0 * (w * z + orientation[0] * orientation[1]), 1.0 - 2.0 * (orientation[1] ** 2 + z * z)
    )
    rate = twist[5]
    y[n + 1] = heading
    y[2 * n + 3] = rate
    c, s = math.cos(heading), math.sin(heading)
    # Centre (x, y_) and velocity (vx, vy) of a link relative to the tail's, and their sums over the
    # links, from the tail to the head.
    x, y_, vx, vy = 0.0, 0.0, 0.0, 0.0
    sx, sy, svx, svy = 0.0, 0.0, 0.0, 0.0
    tail_vx = c * twist[0] - s * twist[1]
    tail_vy = s * twist[0] + c * twist[1]
    for j in range(n - 2, -1, -1):
        x += b * c
        y_ += b * s
        vx -= b * s * rate
        vy += b * c * rate
        heading += q[j]
        rate += qd[j]
        c, s = math.cos(heading), math.sin(heading)
        x += a * c
        y_ += a * s
        vx -= a * s * rate
        vy += a * c * rate
        y[2 + j] = heading
        y[n + 4 + j] = rate
        sx += x
        sy += y_
        svx += vx
        svy += vy
    y[0] = position[0] + sx / n
    y[1] = position[1] + sy / n
    y[n + 2] = tail_vx + svx / n
    y[n + 3] = tail_vy + svy / n


@kernel
def pack_rows(body, q, qd, position, orientation, twist, rows):
    """Fill a row of y for each of k states, given by arrays with a row for each state."""
    for i in range(rows.shape[0]):
        pack(body, q[i], qd[i], position[i], orientation[i], twist[i], rows[i])


@kernel
def unpack(body, y, q, qd, position, orientation, twist):
    """Fill q, qd (n,), and position x, y, orientation (4,) and twist (6,) of `base_link`.

    Components outside the plane, such as the height, are left as they are.
    """
    a, b, _, _ = body
    n = q.shape[0] + 1
    heading, rate = y[n + 1], y[2 * n + 3]
    c, s = math.cos(heading), math.sin(heading)
    forward_x, forward_y = c, s
    x, y_, vx, vy = 0.0, 0.0, 0.0, 0.0
    sx, sy, svx, svy = 0.0, 0.0, 0.0, 0.0
    for j in range(n - 2, -1, -1):
        x += b * c
        y_ += b * s
        vx -= b * s * rate
        vy += b * c * rate
        q[j] = y[2 + j] - heading
        qd[j] = y[n + 4 + j] - rate
        heading, rate = y[2 + j], y[n + 4 + j]
        c, s = math.cos(heading), math.sin(heading)
        x += a * c
        y_ += a * s
        vx -= a * s * rate
        vy += a * c * rate
        sx += x
        sy += y_
        svx += vx
        svy += vy
    vx = y[n + 2] - svx / n
    vy = y[n + 3] - svy / n
    position[0] = y[0] - sx / n
    position[1] = y[1] - sy / n
    orientation[2] = math.sin(0.5 * y[n + 1])
    orientation[3] = math.cos(0.5 * y[n + 1])
    twist[0] = forward_x * vx + forward_y * vy
    twist[1] = forward_x * vy - forward_y * vx
    twist[5] = y[2 * n + 3]


@kernel
def unpack_rows(body, rows, q, qd, position, orientation, twist):
    """Fill the arrays of k states, a row each, from k rows of y."""
    for i in range(rows.shape[0]):
        unpack(body, rows[i], q[i], qd[i], position[i], orientation[i], twist[i])


class PlanarSnake:
    """Convert between states and y, for a chain in the plane.

    Attributes:
        parameters: of the snake.
        body: (a, b, m, J) of a link, as the kernels take it (`kinematics`).
    """

    def __init__(self, parameters: SnakeParameters) -> None:
        p = parameters
        self.parameters = p
        self.body = (p.pivot_behind_front, p.pivot_ahead_of_rear, p.link_mass, p.inertia_vertical)
        self._height = 0.5 * p.link_height  # of the links' centres above the ground [m]

    def pack(self, state: RobotState) -> Array:
        """Return y (2N + 4,) of a state; headings are continuous along the body."""
        y = np.empty(2 * self.parameters.links + 4)
        pack(self.body, state.q, state.qd, state.position, state.orientation, state.twist, y)
        return y

    def bearing(self, state: RobotState) -> tuple[float, float, float]:
        """Return the centre of mass x, y [m] and the mean heading of the links [rad]."""
        y = self.pack(state)
        return float(y[0]), float(y[1]), float(y[2 : self.parameters.links + 2].mean())

    def pack_motion(self, t: Trajectory) -> Array:
        """Return y of each sample of a motion (k, 2N + 4)."""
        rows = np.empty((len(t), 2 * self.parameters.links + 4))
        pack_rows(self.body, t.q, t.qd, t.position, t.orientation, t.twist, rows)
        return rows

    def middles(self, t: Trajectory) -> Array:
        """Return the centres of the links from the tail to the head (k, n + 1, 2) [m]."""
        behind, ahead = self.body[:2]
        headings = self.pack_motion(t)[:, self.parameters.links + 1 : 1 : -1]
        along = np.stack([np.cos(headings), np.sin(headings)], axis=-1)
        steps = ahead * along[:, :-1] + behind * along[:, 1:]
        middles = np.tile(t.position[:, None, :2], (1, self.parameters.links, 1))
        middles[:, 1:] += np.cumsum(steps, axis=1)
        return middles

    def unpack_motion(self, rows: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Return q, qd, position, orientation and twist of k rows of y, a row for each."""
        k, n = len(rows), self.parameters.joints
        q, qd = np.empty((2, k, n))
        orientation, twist = np.zeros((k, 4)), np.zeros((k, 6))
        position = np.tile((0.0, 0.0, self._height), (k, 1))
        unpack_rows(self.body, rows, q, qd, position, orientation, twist)
        return q, qd, position, orientation, twist

    def unpack(self, y: Array, time: float, effort: Array) -> RobotState:
        """Return the state of y."""
        n = self.parameters.joints
        q, qd, orientation, twist = np.empty(n), np.empty(n), np.zeros(4), np.zeros(6)
        position = np.array((0.0, 0.0, self._height))
        unpack(self.body, y, q, qd, position, orientation, twist)
        return RobotState(time, q, qd, effort, position, orientation, twist)
