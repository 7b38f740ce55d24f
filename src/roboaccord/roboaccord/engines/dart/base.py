"""Base joints in DART: conversion between their coordinates and the base's pose and twist.

The base is the robot's first link, which a joint of DART's connects to the world. Each kind of base
(fixed, planar, free, ball) has a class here, which converts a state to DART's coordinates and rates
and back, and a wrench to generalised forces; `DartMechanism` (model.py) and the simulator use it. A
kind may be added as a class and an entry of BASES, under its name in description/base_kinds.py.

DART's axes may be rotated relative to the world's, by the matrix `turn` (3, 3) from the world's
axes to DART's, because DART replaces the friction cone by a box along its axes. The axes of the
rates of a free joint differ between versions of DART, so they are always derived from its Jacobian.
test_engines and test_ball compare with other engines.
"""

from __future__ import annotations

import dartpy
import numpy as np

from roboaccord.contract.state import Array, RobotState
from roboaccord.description.base_kinds import KINDS, Motion, Placed
from roboaccord.numerics.rotations import matrix_quaternion, quaternion_matrix, yaw_quaternion

PLANAR = KINDS["planar"]


class DartFixedBase:
    """A base that does not move; the other kinds derive from it.

    Args:
        body: DART's `base_link`.
        turn: from the world's axes to DART's (3, 3).
        scale: factor on DART's lengths and times, see model.py.

    Attributes:
        degrees: number of coordinates of the base.
        rows: their indices among the coordinates of the skeleton.
    """

    degrees = 0

    def __init__(self, body: dartpy.dynamics.BodyNode, turn: Array, scale: float) -> None:
        self._body, self._turn, self._scale = body, turn, scale
        joint = body.getParentJoint()
        self.rows = [joint.getIndexInSkeleton(i) for i in range(self.degrees)]

    def positions(self, state: RobotState) -> Array:
        """Return the coordinates of a state."""
        return np.zeros(0)

    def velocities(self, state: RobotState) -> Array:
        """Return the rates of a state; its coordinates must have been set."""
        return np.zeros(0)

    def read(self, q: Array, v: Array) -> Motion:
        """Return position, orientation x y z w and twist in the base's own axes.

        Args:
            q, v: all coordinates and rates of the skeleton, in our units.
        """
        return np.zeros(3), yaw_quaternion(0.0), np.zeros(6)

    def motion(self, q: Array, v: Array) -> Placed:
        """Return rotation, position and twist in the world; arguments as of `read`."""
        return np.eye(3), np.zeros(3), np.zeros(6)

    def forces(self, wrench: Array) -> Array:
        """Return the generalised forces of a wrench at the origin, in the world (6,)."""
        return np.zeros(0)

    def rates(self) -> Array:
        """Return the matrix that converts a twist in the world to DART's rates.

        The twist is linear and angular for a free base, angular for a ball, as in `mass_matrix`.
        """
        return np.eye(len(self.rows))


class DartPlanarBase(DartFixedBase):
    """A base that moves in the plane: x, y and yaw."""

    degrees = 3
    _height = 0.0

    def positions(self, state: RobotState) -> Array:
        """Return x, y and yaw."""
        self._height = float(state.position[2])
        return PLANAR.pose(state)

    def velocities(self, state: RobotState) -> Array:
        """Return their rates."""
        linear = quaternion_matrix(state.orientation) @ state.twist[:3]
        return np.array([linear[0], linear[1], state.twist[5]])

    def read(self, q: Array, v: Array) -> Motion:
        """Return position, orientation and twist in its own axes."""
        return PLANAR.read(q[self.rows], v[self.rows], self._height)

    def motion(self, q: Array, v: Array) -> Placed:
        """Return rotation, position and twist in the world."""
        return PLANAR.placed(q[self.rows], v[self.rows])

    def forces(self, wrench: Array) -> Array:
        """Return the forces along x and y and the moment about z."""
        return np.asarray(wrench[[0, 1, 5]])


class DartFreeBase(DartFixedBase):
    """A base that moves freely; the axes of its rates differ between versions of DART."""

    degrees = 6

    def _jacobian(self) -> Array:
        """Return the matrix from rates to angular and linear velocity in DART's axes (6, 6)."""
        return np.asarray(self._body.getWorldJacobian(np.zeros(3)))

    def positions(self, state: RobotState) -> Array:
        """Return the joint's coordinates."""
        pose = dartpy.math.Isometry3()
        pose.set_rotation(self._turn @ quaternion_matrix(state.orientation))
        pose.set_translation(self._turn @ state.position)
        return np.asarray(dartpy.dynamics.FreeJoint.convertToPositions(pose))

    def velocities(self, state: RobotState) -> Array:
        """Return the joint's rates."""
        rotation = self._turn @ quaternion_matrix(state.orientation)
        angular_first = np.concatenate([rotation @ state.twist[3:], rotation @ state.twist[:3]])
        return np.linalg.solve(self._jacobian(), angular_first)

    def read(self, q: Array, v: Array) -> Motion:
        """Return position, orientation and twist in its own axes."""
        pose, body = self._body.getTransform(), self._body
        linear = body.getLinearVelocity() @ pose.rotation()
        angular = body.getAngularVelocity() @ pose.rotation() * self._scale
        twist = np.concatenate([linear, angular])
        orientation = matrix_quaternion(self._turn.T @ pose.rotation())
        return self._turn.T @ pose.translation() / self._scale, orientation, twist

    def motion(self, q: Array, v: Array) -> Placed:
        """Return rotation, position and twist in the world."""
        pose, body = self._body.getTransform(), self._body
        back = self._turn.T
        angular = back @ body.getAngularVelocity() * self._scale
        twist = np.concatenate([back @ body.getLinearVelocity(), angular])
        return back @ pose.rotation(), back @ pose.translation() / self._scale, twist

    def forces(self, wrench: Array) -> Array:
        """Return the forces on the rates."""
        turned = np.concatenate([self._turn @ wrench[3:], self._turn @ wrench[:3]])
        return np.asarray(turned @ self._jacobian())

    def rates(self) -> Array:
        """Return the matrix from linear and angular velocity in the world to the rates (6, 6)."""
        turned = np.kron(np.eye(2), self._turn)
        return np.asarray(np.roll(np.linalg.inv(self._jacobian()) @ turned, 3, axis=1), dtype=float)


class DartBallBase(DartFreeBase):
    """A ball that turns about its fixed centre."""

    degrees = 3

    def _jacobian(self) -> Array:
        """Return the matrix from rates to the angular velocity in DART's axes (3, 3)."""
        return np.asarray(self._body.getWorldJacobian(np.zeros(3)))[:3]

    def positions(self, state: RobotState) -> Array:
        """Return the joint's coordinates."""
        turned = self._turn @ quaternion_matrix(state.orientation)
        return np.asarray(dartpy.dynamics.BallJoint.convertToPositions(turned))

    def velocities(self, state: RobotState) -> Array:
        """Return the joint's rates."""
        rotation = self._turn @ quaternion_matrix(state.orientation)
        return np.asarray(np.linalg.solve(self._jacobian(), rotation @ state.twist[3:]), float)

    def forces(self, wrench: Array) -> Array:
        """Return the moments on the rates."""
        return np.asarray((self._turn @ wrench[3:]) @ self._jacobian())

    def rates(self) -> Array:
        """Return the matrix from the angular velocity in the world to the rates (3, 3)."""
        return np.asarray(np.linalg.inv(self._jacobian()) @ self._turn, dtype=float)


# Classes by the kind of base, as description/base_kinds.py names it.
BASES = {
    "fixed": DartFixedBase,
    "planar": DartPlanarBase,
    "free": DartFreeBase,
    "ball": DartBallBase,
}
