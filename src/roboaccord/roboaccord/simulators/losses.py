"""Energy losses of a motion: an account by channel, and the power of friction laws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from roboaccord.contract.interfaces import ForceLaw, LinkMotion
from roboaccord.contract.state import RobotState
from roboaccord.description.kinematics import TreeKinematics
from roboaccord.numerics.rotations import quaternion_matrix, turn_twist

if TYPE_CHECKING:
    from roboaccord.description.tree import Tree

FRICTION, DAMPING, STOPS, IMPACTS = CHANNELS = ("friction", "damping", "stops", "impacts")


class LossAccount:
    """Accumulate energy losses by channel [J].

    Args:
        channels: that are measured.
    """

    def __init__(self, *channels: str) -> None:
        self._taken = dict.fromkeys(channels, 0.0)

    def add(self, channel: str, energy: float) -> None:
        """Note that a channel took `energy` [J]."""
        self._taken[channel] += energy

    def clear(self) -> None:
        """Begin anew."""
        self._taken = dict.fromkeys(self._taken, 0.0)

    def take(self) -> Mapping[str, float]:
        """Return the losses by channel since the last call [J]."""
        taken = self._taken
        self.clear()
        return taken


def motion_of(tree: Tree, kinematics: TreeKinematics, state: RobotState) -> LinkMotion:
    """Return the motion of all links in a state; its arrays are used again by the next call.

    The ball of a bearing turns where the bearing stands, wherever its odometry says it would be.
    """
    rotation = quaternion_matrix(state.orientation)
    twist = turn_twist(rotation, state.twist)
    position = state.position
    if tree.bearing:
        position, twist[:3] = np.zeros(3), 0.0
    return kinematics.move(state.q, state.qd, position, rotation, twist)


class LawPower:
    """Compute the power dissipated by a force law.

    Args:
        tree: links and joints.
        joints: names of the columns of q.
        law: the force law.
    """

    def __init__(self, tree: Tree, joints: tuple[str, ...], law: ForceLaw) -> None:
        self._tree, self._law = tree, law
        self._kinematics = TreeKinematics(tree, joints)
        names = self._kinematics.names
        self._links = np.array([names.index(name) for name in law.links], dtype=int)

    def of(self, state: RobotState) -> float:
        """Return the power taken in a state [W]."""
        m, at = motion_of(self._tree, self._kinematics, state), self._links
        motion = LinkMotion(m.rotation[at], m.position[at], m.linear[at], m.angular[at])
        forces, torques = self._law.wrenches(motion)
        return -float((forces * motion.linear).sum() + (torques * motion.angular).sum())
