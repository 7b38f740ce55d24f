"""Odometry of a ball in a bearing: where it would have rolled to on the ground."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from roboaccord.contract import Array, RobotState
from roboaccord.numerics import quaternion_matrix, rotation_vector


class RollingOdometry:
    """Roll the ball of a bearing over the plane by its turning: V = r omega x z (13), (15).

    The way between two states follows from the turn between them, so it is as exact as the
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
