"""Motion of the ball: odometry in a bearing, place between a carrier's rollers, and figures.

Equations (13), (15) and (25) are fixed by the paper, the geometry of slides by touching spheres
(test_roller_driving, test_roller_dribble). STROKE must equal the slides' limits in the URDF. A
figure may be added, as a key in `BallFigures.figures`; the present ones, JSON keys of `accord run`,
stay (scenarios/dribble.yaml compares `largest_offset`).

In the carrier's frame, whose x axis is forward, the ball's place is `ball_ahead` in front of the
carrier's middle. With the ball at an offset d from it, roller i slides out along its slide, the
line of P_i, until it touches: its centre at (R - s_i) p_i, with R the sum of both radii, and

    |(R - s_i) p_i - d| = R     so     R - s_i = p_i d + sqrt((p_i d)^2 - d^2 + R^2).

The ball is lost where there is no such s_i, or none within the slide's stroke of +-2 roller radii.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from roboaccord.contract import Array, Event, RobotState, Tally, Trajectory
from roboaccord.numerics import quaternion_matrix, rotation_vector
from roboaccord.scenario import Setup

from roller_sphere.model.parameters import RollerSphereParameters


class RollingOdometry:
    """Roll the ball of a bearing over the plane by its turning: V = r omega x z (13), (15).

    The path between two states follows from the turn between them, so it is as exact as the
    simulator's own integration.

    Args:
        radius: of the ball [m].
    """

    def __init__(self, radius: float) -> None:
        self._radius = radius

    def reset(self, state: RobotState) -> RobotState:
        """Start at the place of a state; return it with the speed that its turning gives."""
        self._position = np.array(state.position)
        self._rotation = quaternion_matrix(state.orientation)
        return self._complete(state)

    def follow(self, state: RobotState) -> RobotState:
        """Return the next state with the place that the ball has rolled to."""
        rotation = quaternion_matrix(state.orientation)
        turn = rotation_vector(rotation @ self._rotation.T)
        self._position = self._position + self._roll(turn)
        self._rotation = rotation
        return self._complete(state)

    def _complete(self, state: RobotState) -> RobotState:
        velocity = self._roll(self._rotation @ state.twist[3:])
        twist = np.concatenate([velocity @ self._rotation, state.twist[3:]])
        return replace(state, position=self._position, twist=twist)

    def _roll(self, turn: Array) -> Array:
        """Return r turn x z."""
        return self._radius * np.array([turn[1], -turn[0], 0.0])


STROKE = 2.0  # roller radii in either direction, as in the description


def geometry(parameters: RollerSphereParameters) -> tuple[tuple[float, ...], Array]:
    """Return what kernels take of a rig: lengths [m], and directions of slides and rollers' axes.

    That is radius, roller_radius, ball_ahead and stroke, and an array (2, 2, 3).
    """
    p = parameters
    row = (p.radius, p.roller_radius, p.ball_ahead, STROKE * p.roller_radius)
    return row, np.stack([p.rig.normals, -p.rig.axes])


def turned_back(yaw: Array | float, vectors: Array) -> Array:
    """Return vectors (..., 2) of the world in the frame of a carrier turned by yaw (...) [rad]."""
    c, s = np.cos(yaw), np.sin(yaw)
    x, y = vectors[..., 0], vectors[..., 1]
    return np.stack([c * x + s * y, c * y - s * x], axis=-1)


def offsets(parameters: RollerSphereParameters, q: Array, position: Array) -> Array:
    """Return the offset of the ball from its place, in the carrier's frame (..., 3) [m].

    Args:
        parameters: of the robot.
        q: joint positions (..., 5): the rollers', carrier_x, carrier_y and carrier_yaw.
        position: of the ball (..., 3) [m].
    """
    p = parameters
    middle = q[..., 2:4] - np.array([p.ball_ahead, 0.0])
    flat = turned_back(q[..., 4], position[..., :2] - middle) - np.array([p.ball_ahead, 0.0])
    return np.concatenate([flat, position[..., 2:] - p.radius], axis=-1)


def slides(parameters: RollerSphereParameters, offset: Array) -> Array:
    """Return the stroke of each roller towards the ball (..., 2) [m]; NaN where it misses it."""
    p = parameters
    reach = p.radius + p.roller_radius
    along = offset @ p.rig.normals.T
    square = along**2 - (offset**2).sum(axis=-1)[..., None] + reach**2
    with np.errstate(invalid="ignore"):
        return np.asarray(reach - along - np.sqrt(square))


def holds(parameters: RollerSphereParameters, offset: Array) -> Array:
    """Return whether both rollers reach the ball within their strokes (...)."""
    slid = slides(parameters, offset)
    return np.asarray((np.abs(slid) <= STROKE * parameters.roller_radius).all(axis=-1))


def ball_spin(trajectory: Trajectory) -> Array:
    """Return the angular velocity of the ball in the world (k, 3) [rad/s]."""
    rotations = quaternion_matrix(trajectory.orientation)
    return np.asarray(np.einsum("kij,kj->ki", rotations, trajectory.twist[:, 3:]))


def held_time(parameters: RollerSphereParameters, trajectory: Trajectory) -> float:
    """Return the time until which the ball was held [s]."""
    lost = np.logical_not(holds(parameters, offsets(parameters, trajectory.q, trajectory.position)))
    return float(trajectory.time[int(np.argmax(lost))] if lost.any() else trajectory.time[-1])


def hold_of(parameters: RollerSphereParameters, trajectory: Trajectory) -> tuple[float, float]:
    """Return until when the ball was held [s], and how far it came off its place till then [m]."""
    held = held_time(parameters, trajectory)
    part = trajectory.window(0.0, held)
    away = offsets(parameters, part.q, part.position)[:, :2]
    return held, float(np.linalg.norm(away, axis=1).max())


def slips(parameters: RollerSphereParameters, trajectory: Trajectory) -> Array:
    """Return the slips zeta_i = w x P_i - nu_i e_i in a bearing (k, 2, 3) [m/s], (25)."""
    rig = parameters.rig
    nu = parameters.roller_radius * trajectory.qd[:, :2]
    surface = np.cross(ball_spin(trajectory)[:, None], rig.contacts)
    return np.asarray(surface - nu[..., None] * rig.directions)


class BallFigures(Tally):
    """Measure the path length of the ball, its distance from the start [m], and the slip.

    The slip is the largest of either roller [m/s], in a bearing. On the ground: until when the ball
    was held between the rollers [s], and how far it came off its place while it was [m].
    """

    def __init__(self, setup: Setup) -> None:
        self._base, self._parameters = setup.scenario.base, setup.parameters
        self._start: Array | None = None
        self._length = self._slip = self._held = self._offset = 0.0
        self._lost = False

    def add(self, part: Trajectory) -> None:
        """Take a part of the motion."""
        if self._start is None:
            self._start = part.position[0]
        steps = np.diff(part.position[:, :2], axis=0)
        self._length += float(np.linalg.norm(steps, axis=1).sum())
        self._distance = float(np.linalg.norm(part.position[-1] - self._start))
        if self._base == "ball":
            sizes = np.linalg.norm(slips(self._parameters, part), axis=2)
            self._slip = max(self._slip, float(sizes.max()))
        if self._base == "free" and not self._lost:
            self._held, offset = hold_of(self._parameters, part)
            self._lost = self._held < part.time[-1]
            self._offset = max(self._offset, offset)

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return the figures."""
        measured = {"path_length": self._length, "closure": self._distance}
        if self._base == "ball":
            measured["largest_slip"] = self._slip
        if self._base == "free":
            measured |= {"held": self._held, "largest_offset": self._offset}
        return measured
