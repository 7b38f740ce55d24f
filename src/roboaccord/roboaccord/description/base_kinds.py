"""Kinds of base: how `base_link` moves, and the coordinates in which it does.

A base is fixed, moves in the plane, moves freely, or turns about its centre as a ball. A class for
each states which components of a twist can change (`axes`). It converts a state to the coordinates
of the base, its pose, by `pose`, and back by `read` (to a state) and `placed` (to the world); and
it draws random motions for tests of accelerations (`draw`). Simulators and engines use the objects
in KINDS, by the name of the kind.

A kind may be added: a name in `Base`, a class derived from `FixedBase` and an entry of KINDS; each
engine then needs a joint for it (engines/dart/base.py, engines/mujoco/model.py). The names are
values of the key `base` in scenarios and stay, as do `axes`, the order of a pose, and the order of
the draws: mass matrices and published figures depend on them.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from roboaccord.contract.state import Array, RobotState
from roboaccord.numerics import rotations

Base = Literal["fixed", "planar", "free", "ball"]
# rad: largest roll, pitch and yaw of a drawn base, 86 degrees, for roll and yaw are singular at 90.
MAX_TILT = 1.5

# Both are plain tuples because they are made at every tick (control period).
# Position (3,) [m], orientation x y z w (4,), and twist in the base's own axes (6,).
Motion = tuple[Array, Array, Array]
# Rotation to the world (3, 3), position (3,) [m], and twist in the world (6,).
Placed = tuple[Array, Array, Array]


class FixedBase:
    """A base that does not move; the other kinds derive from it.

    The pose of a base is the array of its coordinates. Its rates are those components that it has
    of the linear velocity in the world and the angular velocity in its own axes.

    Attributes:
        axes: indices of its rates among the components of a twist, linear first.
        size: number of coordinates of its pose.
        tied: whether a joint of the description ties it to the link `world`.
        in_gazebo: kind of base in Gazebo, where the ground carries planar bases.
    """

    axes: tuple[int, ...] = ()
    size = 0
    tied = True
    in_gazebo: Base = "fixed"

    @property
    def moves(self) -> bool:
        """Whether it moves at all."""
        return bool(self.axes)

    @property
    def travels(self) -> bool:
        """Whether its position changes; that of a ball in a bearing is odometry alone."""
        return 0 in self.axes

    @property
    def tilts(self) -> bool:
        """Whether it turns about every axis."""
        return 3 in self.axes

    def pose(self, state: RobotState) -> Array:
        """Return the coordinates of the base in a state (size,)."""
        return np.zeros(0)

    def read(self, pose: Array, rates: Array, height: float) -> Motion:
        """Return the motion of the base from its coordinates.

        Args:
            pose: coordinates (size,).
            rates: components of the velocity that can change, in the order of `axes`.
            height: of a base that moves in the plane [m].
        """
        return np.zeros(3), rotations.yaw_quaternion(0.0), np.zeros(6)

    def placed(self, pose: Array, rates: Array) -> Placed:
        """Return where a base is in the world, and its twist there; arguments as of `read`."""
        return np.eye(3), np.zeros(3), np.zeros(6)

    def draw(self, start: RobotState, rng: np.random.Generator) -> Motion:
        """Draw a motion near the origin; components that cannot move stay as at the start."""
        return np.array(start.position), start.orientation, np.zeros(6)


class PlanarBase(FixedBase):
    """A base that moves in the plane; its pose is x, y and yaw."""

    axes = (0, 1, 5)
    size = 3
    in_gazebo: Base = "free"

    def pose(self, state: RobotState) -> Array:
        """Return x, y [m] and yaw [rad] of a state (3,)."""
        return np.array([*state.position[:2], rotations.quaternion_yaw(state.orientation)])

    def read(self, pose: Array, rates: Array, height: float) -> Motion:
        """Return the motion of the base; `rates` are those of x, y and yaw in the world."""
        x, y, yaw = pose.tolist()
        vx, vy, rate = rates.tolist()
        c, s = math.cos(yaw), math.sin(yaw)
        twist = np.array([c * vx + s * vy, c * vy - s * vx, 0.0, 0.0, 0.0, rate])
        return np.array([x, y, height]), rotations.yaw_quaternion(yaw), twist

    def placed(self, pose: Array, rates: Array) -> Placed:
        """Return rotation, position and twist in the world, at a height of 0."""
        x, y, yaw = pose
        twist = np.zeros(6)
        twist[list(self.axes)] = rates
        return rotations.yaw_matrix(yaw), np.array([x, y, 0.0]), twist

    def draw(self, start: RobotState, rng: np.random.Generator) -> Motion:
        """Draw x, y, yaw and their rates; the height stays."""
        position, twist = np.array(start.position), np.zeros(6)
        position[:2] = rng.normal(size=2)
        orientation = rotations.yaw_quaternion(rng.uniform(-np.pi, np.pi))
        twist[list(self.axes)] = rng.normal(size=3)
        return position, orientation, twist


class FreeBase(FixedBase):
    """A base that moves freely; its pose is the position and the quaternion w x y z."""

    axes = (0, 1, 2, 3, 4, 5)
    size = 7
    tied = False
    in_gazebo: Base = "free"

    def pose(self, state: RobotState) -> Array:
        """Return position and quaternion w x y z of a state (7,)."""
        return np.concatenate([state.position, np.roll(state.orientation, 1)])

    def read(self, pose: Array, rates: Array, height: float) -> Motion:
        """Return the motion of the base; the rates are linear in the world, angular in its axes."""
        orientation = np.roll(pose[3:], -1)
        linear = rotations.quaternion_matrix(orientation).T @ rates[:3]
        return np.array(pose[:3]), orientation, np.concatenate([linear, rates[3:]])

    def placed(self, pose: Array, rates: Array) -> Placed:
        """Return rotation, position and twist in the world."""
        rotation = rotations.quaternion_matrix(np.roll(pose[3:], -1))
        return rotation, pose[:3], np.concatenate([rates[:3], rotation @ rates[3:]])

    def draw(self, start: RobotState, rng: np.random.Generator) -> Motion:
        """Draw position, orientation and twist."""
        position = rng.normal(size=3)
        return position, _draw_orientation(rng), rng.normal(size=6)


class BallBase(FixedBase):
    """A base that turns about its fixed centre; its pose is the quaternion w x y z."""

    axes = (3, 4, 5)
    size = 4
    tied = False
    in_gazebo: Base = "ball"

    def pose(self, state: RobotState) -> Array:
        """Return the quaternion w x y z of a state (4,)."""
        return np.roll(state.orientation, 1)

    def read(self, pose: Array, rates: Array, height: float) -> Motion:
        """Return the motion of the base; the rates are angular, in its own axes."""
        return np.zeros(3), np.roll(pose, -1), np.concatenate([np.zeros(3), rates])

    def placed(self, pose: Array, rates: Array) -> Placed:
        """Return rotation and twist in the world; the centre is at the origin."""
        rotation = rotations.quaternion_matrix(np.roll(pose, -1))
        return rotation, np.zeros(3), np.concatenate([np.zeros(3), rotation @ rates])

    def draw(self, start: RobotState, rng: np.random.Generator) -> Motion:
        """Draw orientation and angular velocity; the position stays."""
        orientation = _draw_orientation(rng)
        twist = np.concatenate([np.zeros(3), rng.normal(size=3)])
        return np.array(start.position), orientation, twist


def _draw_orientation(rng: np.random.Generator) -> Array:
    """Draw an orientation x y z w (4,), with roll, pitch and yaw of at most MAX_TILT."""
    return rotations.matrix_quaternion(rotations.rpy_matrix(*rng.uniform(-MAX_TILT, MAX_TILT, 3)))


KINDS: dict[str, FixedBase] = {
    "fixed": FixedBase(),
    "planar": PlanarBase(),
    "free": FreeBase(),
    "ball": BallBase(),
}
