"""The pose and twist of a level base in Gazebo, from the coordinates of four joints, and back.

A base that stays level, such as that of a wheeled robot, hangs on the world by the joints LEVEL of
the core: three slides x, y and z, and a hinge yaw, which are 0 at the start. Their coordinates and
rates are exact, whereas Gazebo updates a pose only when it has changed by 1e-6 m or 2e-6 rad, which
is some steps late in slow motion. simulator.py converts states by `LevelBase`. test_gazebo_setups
guards where the joints put the base.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract import Array, RobotState
from roboaccord.numerics import quaternion_matrix, quaternion_product, quaternion_yaw


class LevelBase:
    """Pose and twist of a level base, from and to its joints.

    Args:
        initial: state at which the joints are 0.
    """

    def __init__(self, initial: RobotState) -> None:
        self._start, self._orientation = initial.position, initial.orientation
        self._rotation = quaternion_matrix(initial.orientation)
        # The same as lists: with arrays this small, plain floats take a third of the time.
        self._start_list = initial.position.tolist()
        self._orientation_list = initial.orientation.tolist()
        self._rotation_list = self._rotation.tolist()

    def pose_and_twist(self, q: list[float], rates: list[float]) -> tuple[Array, Array, Array]:
        """Return position (3,), orientation (4,) and twist (6,) of the base.

        Args:
            q: coordinates of the joints: x, y, z [m] and yaw [rad].
            rates: their rates [m/s, rad/s].
        """
        x, y, z, yaw = q
        vx, vy, vz, yaw_rate = rates
        cos, sin = math.cos(yaw), math.sin(yaw)
        yawed = (0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw))
        # The joints' axes are the base's at the start; the twist is in its present axes.
        rows = zip(self._start_list, self._rotation_list)
        position = [p + (ax * x + ay * y + az * z) for p, (ax, ay, az) in rows]
        twist = np.array([cos * vx + sin * vy, cos * vy - sin * vx, vz, 0.0, 0.0, yaw_rate])
        return np.array(position), quaternion_product(self._orientation_list, yawed), twist

    def coordinates(self, state: RobotState) -> tuple[Array, Array]:
        """Return the joints' coordinates x, y, z [m] and yaw [rad] in a state, and their rates."""
        forward, left, up = state.twist[:3].tolist()
        yaw = quaternion_yaw(state.orientation) - quaternion_yaw(self._orientation)
        yaw = math.remainder(yaw, 2.0 * math.pi)
        cos, sin = math.cos(yaw), math.sin(yaw)
        offset = self._rotation.T @ (state.position - self._start)
        rates = cos * forward - sin * left, sin * forward + cos * left, up, state.twist[5]
        return np.array([*offset, yaw]), np.array(rates)
