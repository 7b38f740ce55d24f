"""Moves of the world under which physics stays the same: turned, mirrored, shifted, reordered.

A move may be added to MOVES, by the fields of `Move`; names stay, for results contain them. The
shift may be any numbers that are not round in binary, so that rounding differs.

A mirror reflects y. There a link's frame is the mirror image of what it was, so that all its
vectors have another sign of y, and those of rotations (angular velocity, torque) another sign of x
and z. The axis of a hinge gets both signs, so that angles and efforts of joints keep theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from roboaccord.contract.contact import Index
from roboaccord.contract.state import Array, RobotState
from roboaccord.numerics.rotations import quaternion_product, yaw_matrix, yaw_quaternion

MIRROR = np.array([1.0, -1.0, 1.0])
TURNING = -MIRROR  # signs of vectors of rotations, in a mirror


@dataclass(frozen=True)
class Move:
    """A move of the world: it is mirrored, then turned, then shifted.

    Args:
        name: in results.
        yaw: angle about the vertical [rad].
        mirrored: whether y has the other sign.
        shift: (3,) [m].
        reordered: whether links and joints come in the opposite order.
    """

    name: str
    yaw: float = 0.0
    mirrored: bool = False
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    reordered: bool = False

    @property
    def matrix(self) -> Array:
        """Matrix that vectors of the world are multiplied by (3, 3)."""
        turn = yaw_matrix(self.yaw)
        return turn * MIRROR if self.mirrored else turn

    @property
    def turning(self) -> Array:
        """Matrix that vectors of rotations, in the world, are multiplied by (3, 3)."""
        return -self.matrix if self.mirrored else self.matrix

    def order(self, count: int) -> Index:
        """Return the order of joints in this world, as indices of the given joints (n,)."""
        order = np.arange(count)
        return order[::-1] if self.reordered else order

    def place(self, point: Array) -> Array:
        """Return where a point goes (3,)."""
        return np.asarray(self.matrix @ point + np.array(self.shift))

    def wrench(self, wrench: Array) -> Array:
        """Return a wrench in this world, or a twist (6,)."""
        return np.concatenate([self.matrix @ wrench[:3], self.turning @ wrench[3:]])

    def state(self, state: RobotState) -> RobotState:
        """Return a state as it is in this world, with its joints in the old order."""
        orientation, twist = self._mirror(state.orientation, state.twist)
        if self.yaw:
            orientation = quaternion_product(yaw_quaternion(self.yaw), orientation)
        position = self.place(state.position)
        return replace(state, position=position, orientation=orientation, twist=twist)

    def _mirror(self, orientation: Array, twist: Array) -> tuple[Array, Array]:
        if not self.mirrored:
            return orientation, twist
        return orientation * np.append(TURNING, 1.0), twist * np.append(MIRROR, TURNING)

    def back(self, state: RobotState) -> RobotState:
        """Return a state of this world as it is without the move."""
        orientation = state.orientation
        if self.yaw:
            orientation = quaternion_product(yaw_quaternion(-self.yaw), orientation)
        orientation, twist = self._mirror(orientation, state.twist)
        position = np.asarray((state.position - np.array(self.shift)) @ self.matrix)
        return replace(state, position=position, orientation=orientation, twist=twist)


HALF_RIGHT = Move("turned by 45 degrees", yaw=0.25 * np.pi)
RIGHT = Move("turned by 90 degrees", yaw=0.5 * np.pi)
MOVES = (
    HALF_RIGHT,
    Move("mirrored", mirrored=True),
    Move("shifted", shift=(0.7310585786, -0.4142135624, 0.3141592654)),
    Move("reordered", reordered=True),
)
