"""Odometry of a ball in a bearing: the path that it would roll, and the slips of its rollers.

A ball in a bearing turns on the spot. Its odometry is the path that it would cover on the ground
with the same rotation, without slip. Equations (13), (15) and (25) are those of Kimura, Ogata and
Ishii (2019); test_roller_driving tests them.
"""

from dataclasses import replace

import numpy as np
from roboaccord.contract import Array, RobotState, Trajectory
from roboaccord.numerics import quaternion_matrix, rotation_vector

from roller_sphere.model.parameters import RollerSphereParameters


class RollingOdometry:
    """Path of a ball in a bearing, as if it rolled over the plane: V = r omega x z, (13), (15).

    The path between two states follows from the turn between them, so it is as exact as the
    simulator's own integration.

    Args:
        radius: of the ball [m].
    """

    def __init__(self, radius: float) -> None:
        self._radius = radius
        self._position, self._rotation = np.zeros(3), np.eye(3)  # of the last state

    def reset(self, state: RobotState) -> RobotState:
        """Start at the position of a state, and return the state with the velocity of rolling."""
        self._position = np.array(state.position)
        self._rotation = quaternion_matrix(state.orientation)
        return self._complete(state)

    def follow(self, state: RobotState) -> RobotState:
        """Return the next state with the position to which the ball has rolled since the last."""
        rotation = quaternion_matrix(state.orientation)
        turn = rotation_vector(rotation @ self._rotation.T)
        self._position = self._position + self._roll(turn)
        self._rotation = rotation
        return self._complete(state)

    def _complete(self, state: RobotState) -> RobotState:
        """Return a state with the position and velocity of rolling (twist in the ball's axes)."""
        velocity = self._roll(self._rotation @ state.twist[3:])
        twist = np.concatenate([velocity @ self._rotation, state.twist[3:]])
        return replace(state, position=self._position, twist=twist)

    def _roll(self, turn: Array) -> Array:
        """Return r turn x z (3,): the way [m] of a turn [rad], or the velocity [m/s] of a rate."""
        return self._radius * np.array([turn[1], -turn[0], 0.0])


def ball_spin(trajectory: Trajectory) -> Array:
    """Return the angular velocity of the ball in the world (k, 3) [rad/s]."""
    rotations = quaternion_matrix(trajectory.orientation)
    return np.asarray(np.einsum("kij,kj->ki", rotations, trajectory.twist[:, 3:]))


def slips(parameters: RollerSphereParameters, trajectory: Trajectory) -> Array:
    """Return the slip velocities of both rollers in a bearing (k, 2, 3) [m/s].

    Equation (25): zeta_i = w x P_i - nu_i e_i, the velocity of the ball's surface at contact P_i
    less that of the roller's surface, which moves with nu_i along e_i.
    """
    rig = parameters.rig
    nu = parameters.roller_radius * trajectory.qd[:, :2]
    surface = np.cross(ball_spin(trajectory)[:, None], rig.contacts)
    return np.asarray(surface - nu[..., None] * rig.directions)
