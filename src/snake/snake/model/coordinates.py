"""Coordinates of the snake: conversion between states of the workspace and the model's state y.

The model's state is y = [p, th, v, w], (2N + 4,), for a chain of N = n + 1 links and n joints:

    y[0:2]             p, the centre of mass in the plane [m]
    y[2:n + 3]         th, the headings of the links from the head to the tail [rad]
    y[n + 3:n + 5]     v, the velocity of the centre of mass [m/s]
    y[n + 5:2n + 6]    w, the rates of the headings [rad/s]

The kernels `headings`, `velocities` and `heading_rates` return views of these parts.

A state of the workspace (`RobotState`) has joint angles and rates instead, and the pose and twist
of `base_link`, the tail. `PlanarSnake` converts one into the other, for simulator and controllers.
Both ways `sums_from_tail` walks along the chain from the tail to the head: from the centre of a
link it goes b forward to the joint, turns by its angle, and goes a forward to the centre of the
next link. On the way it sums up the centres and velocities, for the mean over all links is that of
the centre of mass. The order of y must stay, since every kernel reads it.
"""

import math

import numpy as np
from roboaccord.contract import Array, RobotState, Trajectory
from roboaccord.numerics import kernel

from snake.model.parameters import SnakeParameters


@kernel
def headings(y):
    """Return th, a view of y: the headings of the links (N,) [rad]."""
    return y[2 : y.shape[0] // 2]


@kernel
def velocities(y):
    """Return v and w, a view of y: the second half, derivatives of the first (N + 2,)."""
    return y[y.shape[0] // 2 :]


@kernel
def heading_rates(y):
    """Return w, a view of y: the rates of the headings (N,) [rad/s]."""
    return y[y.shape[0] // 2 + 2 :]


@kernel
def joint_angle(y, j):
    """Return the angle of joint j, between the headings of links j and j + 1 [rad]."""
    return headings(y)[j] - headings(y)[j + 1]


@kernel
def joint_rate(y, j):
    """Return the rate of joint j [rad/s]."""
    return heading_rates(y)[j] - heading_rates(y)[j + 1]


@kernel
def largest_angle(y):
    """Return the largest angle of any joint, in either direction [rad]."""
    largest = 0.0
    for j in range(headings(y).shape[0] - 1):
        largest = max(largest, abs(joint_angle(y, j)))
    return largest


@kernel
def sums_from_tail(body, y):
    """Return sums over the links of their position and velocity relative to the tail's centre.

    Args:
        body: (a, b, m, J) of a link; a and b are where the joints are (`kinematics`) [m].
        y: model's state, of which only headings and rates are read (2N + 4,).

    Returns:
        the sums of x, y [m] and of the velocities along x and y [m/s].
    """
    a, b, _, _ = body
    th, w = headings(y), heading_rates(y)
    heading, rate = th[-1], w[-1]  # of the tail
    c, s = math.cos(heading), math.sin(heading)
    # Position (px, py) and velocity (vx, vy) of a link, from the tail to the head, and their sums.
    px, py, vx, vy = 0.0, 0.0, 0.0, 0.0
    sum_px, sum_py, sum_vx, sum_vy = 0.0, 0.0, 0.0, 0.0
    for j in range(th.shape[0] - 2, -1, -1):
        px += b * c
        py += b * s
        vx -= b * s * rate
        vy += b * c * rate
        heading, rate = th[j], w[j]
        c, s = math.cos(heading), math.sin(heading)
        px += a * c
        py += a * s
        vx -= a * s * rate
        vy += a * c * rate
        sum_px += px
        sum_py += py
        sum_vx += vx
        sum_vy += vy
    return sum_px, sum_py, sum_vx, sum_vy


@kernel
def pack(body, q, qd, position, orientation, twist, y):
    """Fill y (2N + 4,) from joint angles and rates and the pose and twist of `base_link`.

    Args:
        body: as of `sums_from_tail`.
        q, qd: joint angles (N - 1,) [rad] and rates [rad/s].
        position: of `base_link` in the world (3,) [m].
        orientation: of `base_link`, a quaternion x, y, z, w (4,).
        twist: of `base_link` in its own frame, linear and angular (6,) [m/s, rad/s].
        y: filled.
    """
    n = q.shape[0] + 1
    centre, th, v, w = y[:2], headings(y), velocities(y)[:2], heading_rates(y)
    # Heading and rate of the tail, about the vertical, then of the other links.
    qx, qy, qz, qw = orientation
    heading = math.atan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy**2 + qz * qz))
    th[-1] = heading
    w[-1] = twist[5]
    for j in range(n - 2, -1, -1):
        th[j] = th[j + 1] + q[j]
        w[j] = w[j + 1] + qd[j]
    # The centre of mass, which is the mean over the links.
    c, s = math.cos(heading), math.sin(heading)
    sum_px, sum_py, sum_vx, sum_vy = sums_from_tail(body, y)
    centre[0] = position[0] + sum_px / n
    centre[1] = position[1] + sum_py / n
    v[0] = c * twist[0] - s * twist[1] + sum_vx / n
    v[1] = s * twist[0] + c * twist[1] + sum_vy / n


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
    n = q.shape[0] + 1
    centre, v = y[:2], velocities(y)[:2]
    for j in range(n - 1):
        q[j] = joint_angle(y, j)
        qd[j] = joint_rate(y, j)
    # The tail, from the mean over the links; its velocity is turned into its own frame.
    sum_px, sum_py, sum_vx, sum_vy = sums_from_tail(body, y)
    vx = v[0] - sum_vx / n
    vy = v[1] - sum_vy / n
    position[0] = centre[0] - sum_px / n
    position[1] = centre[1] - sum_py / n
    heading = headings(y)[-1]
    c, s = math.cos(heading), math.sin(heading)
    orientation[2] = math.sin(0.5 * heading)
    orientation[3] = math.cos(0.5 * heading)
    twist[0] = c * vx + s * vy
    twist[1] = c * vy - s * vx
    twist[5] = heading_rates(y)[-1]


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
        return float(y[0]), float(y[1]), float(headings(y).mean())

    def pack_motion(self, t: Trajectory) -> Array:
        """Return y of each sample of a motion (k, 2N + 4)."""
        rows = np.empty((len(t), 2 * self.parameters.links + 4))
        pack_rows(self.body, t.q, t.qd, t.position, t.orientation, t.twist, rows)
        return rows

    def link_centres(self, t: Trajectory) -> Array:
        """Return the centres of the links from the tail to the head (k, n + 1, 2) [m]."""
        a, b = self.body[:2]
        # Columns 2 to n + 2 of y, in reverse: the headings from the tail to the head.
        headings = self.pack_motion(t)[:, self.parameters.links + 1 : 1 : -1]
        directions = np.stack([np.cos(headings), np.sin(headings)], axis=-1)
        steps = b * directions[:, :-1] + a * directions[:, 1:]
        centres = np.tile(t.position[:, None, :2], (1, self.parameters.links, 1))
        centres[:, 1:] += np.cumsum(steps, axis=1)
        return centres

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
        q, qd, position, orientation, twist = (rows[0] for rows in self.unpack_motion(y[None]))
        return RobotState(time, q, qd, effort, position, orientation, twist)
