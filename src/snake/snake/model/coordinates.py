"""Coordinates of the snake: conversion between states of the workspace and the model's state y.

The model's state is y = [p, th, v, w], (2N + 4,), for a chain of N = n + 1 links and n joints:

    y[0:2]             p, the centre of mass in the plane [m]
    y[2:n + 3]         th, the headings of the links from the head to the tail [rad]
    y[n + 3:n + 5]     v, the velocity of the centre of mass [m/s]
    y[n + 5:2n + 6]    w, the rates of the headings [rad/s]

In the kernels, where n is the number of links, th begins at index 2, v at n + 2, and w at n + 4.

A state of the workspace (`RobotState`) has joint angles and rates instead, and the pose and twist
of `base_link`, the tail. Both conversions walk along the chain from the tail to the head: from the
centre of a link they go b forward to the joint, turn by its angle, and go a forward to the centre
of the next link. On the way they sum up the centres and velocities, for the mean over all links is
that of the centre of mass. The order of y must stay, since every kernel reads it.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract import Array, RobotState, Trajectory
from roboaccord.numerics import kernel

from snake.model.parameters import SnakeParameters


@kernel
def pack(body, q, qd, position, orientation, twist, y):
    """Fill y (2N + 4,) from joint angles and rates and the pose and twist of `base_link`.

    Args:
        body: (a, b, m, J) of a link; a and b are where the joints are (`kinematics`) [m].
        q, qd: joint angles (N - 1,) [rad] and rates [rad/s].
        position: of `base_link` in the world (3,) [m].
        orientation: of `base_link`, a quaternion x, y, z, w (4,).
        twist: of `base_link` in its own frame, linear and angular (6,) [m/s, rad/s].
        y: filled.
    """
    a, b, _, _ = body
    n = q.shape[0] + 1
    # Heading and rate of the tail, about the vertical.
    z, w = orientation[2], orientation[3]
    heading = math.atan2(
        2.0 * (w * z + orientation[0] * orientation[1]), 1.0 - 2.0 * (orientation[1] ** 2 + z * z)
    )
    rate = twist[5]
    y[n + 1] = heading
    y[2 * n + 3] = rate
    c, s = math.cos(heading), math.sin(heading)
    # Centre (px, py) and velocity (vx, vy) of a link relative to the tail's, and their sums over
    # the links, from the tail to the head.
    px, py, vx, vy = 0.0, 0.0, 0.0, 0.0
    sum_px, sum_py, sum_vx, sum_vy = 0.0, 0.0, 0.0, 0.0
    tail_vx = c * twist[0] - s * twist[1]
    tail_vy = s * twist[0] + c * twist[1]
    for j in range(n - 2, -1, -1):
        px += b * c
        py += b * s
        vx -= b * s * rate
        vy += b * c * rate
        heading += q[j]
        rate += qd[j]
        c, s = math.cos(heading), math.sin(heading)
        px += a * c
        py += a * s
        vx -= a * s * rate
        vy += a * c * rate
        y[2 + j] = heading
        y[n + 4 + j] = rate
        sum_px += px
        sum_py += py
        sum_vx += vx
        sum_vy += vy
    y[0] = position[0] + sum_px / n
    y[1] = position[1] + sum_py / n
    y[n + 2] = tail_vx + sum_vx / n
    y[n + 3] = tail_vy + sum_vy / n


@kernel
def pack_rows(body, q, qd, position, orientation, twist, rows):
    """Fill `rows` with y of k states; the arguments of `pack` have a row for each state."""
    for i in range(rows.shape[0]):
        pack(body, q[i], qd[i], position[i], orientation[i], twist[i], rows[i])


@kernel
def unpack(body, y, q, qd, position, orientation, twist):
    """Fill joint angles and rates and the pose and twist of `base_link`; the inverse of `pack`.

    Arguments are those of `pack`. Components outside the plane, such as the height, stay unchanged.
    """
    a, b, _, _ = body
    n = q.shape[0] + 1
    heading, rate = y[n + 1], y[2 * n + 3]
    c, s = math.cos(heading), math.sin(heading)
    forward_x, forward_y = c, s
    # As in `pack`: relative to the tail, and their sums over the links.
    px, py, vx, vy = 0.0, 0.0, 0.0, 0.0
    sum_px, sum_py, sum_vx, sum_vy = 0.0, 0.0, 0.0, 0.0
    for j in range(n - 2, -1, -1):
        px += b * c
        py += b * s
        vx -= b * s * rate
        vy += b * c * rate
        q[j] = y[2 + j] - heading
        qd[j] = y[n + 4 + j] - rate
        heading, rate = y[2 + j], y[n + 4 + j]
        c, s = math.cos(heading), math.sin(heading)
        px += a * c
        py += a * s
        vx -= a * s * rate
        vy += a * c * rate
        sum_px += px
        sum_py += py
        sum_vx += vx
        sum_vy += vy
    # The tail, from the mean over the links; its velocity is turned into its own frame.
    vx = y[n + 2] - sum_vx / n
    vy = y[n + 3] - sum_vy / n
    position[0] = y[0] - sum_px / n
    position[1] = y[1] - sum_py / n
    orientation[2] = math.sin(0.5 * y[n + 1])
    orientation[3] = math.cos(0.5 * y[n + 1])
    twist[0] = forward_x * vx + forward_y * vy
    twist[1] = forward_x * vy - forward_y * vx
    twist[5] = y[2 * n + 3]


@kernel
def unpack_rows(body, rows, q, qd, position, orientation, twist):
    """Fill the arguments of `unpack`, which have a row for each of k states, from k rows of y."""
    for i in range(rows.shape[0]):
        unpack(body, rows[i], q[i], qd[i], position[i], orientation[i], twist[i])


class PlanarSnake:
    """Convert between states of the workspace and y, for the snake of given parameters.

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
        """Return y (2N + 4,) of a state; the headings do not jump by 2 pi along the body."""
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
        """Return q, qd, position, orientation and twist of k rows of y, each with k rows."""
        k, n = len(rows), self.parameters.joints
        q, qd = np.empty((2, k, n))
        orientation, twist = np.zeros((k, 4)), np.zeros((k, 6))
        position = np.tile((0.0, 0.0, self._height), (k, 1))
        unpack_rows(self.body, rows, q, qd, position, orientation, twist)
        return q, qd, position, orientation, twist

    def unpack(self, y: Array, time: float, effort: Array) -> RobotState:
        """Return the state of the workspace for y (2N + 4,) at a time [s] with efforts [N m]."""
        n = self.parameters.joints
        q, qd, orientation, twist = np.empty(n), np.empty(n), np.zeros(4), np.zeros(6)
        position = np.array((0.0, 0.0, self._height))
        unpack(self.body, y, q, qd, position, orientation, twist)
        return RobotState(time, q, qd, effort, position, orientation, twist)
