"""A chosen motion of a model: smooth, within the limits of its joints, and without a turn.

Every coordinate goes one way, at a rate that swings about its mean: so dry friction, of joints and
of the ground, keeps its direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from roboaccord.contract.state import Array, RobotState
from roboaccord.description.base_kinds import KINDS
from roboaccord.description.tree import Tree
from roboaccord.engines.model import EngineModel
from roboaccord.numerics.rotations import (
    matrix_quaternion,
    quaternion_matrix,
    rotation_vector,
    rpy_quaternion,
    turn_quaternion,
    turn_twist,
)

RATE = 0.5  # mean rate of a joint [rad/s or m/s]
BASE_RATES = np.array([1.0, 0.7, 0.5, 0.3, 0.3, 0.3])  # m/s, and rad/s of roll, pitch and yaw
SWING = 0.5  # of a mean rate
SLOWEST, FASTEST = 1.0, 2.0  # Hz
GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)  # by which phases and frequencies are spread
USED = 0.8  # of a joint's range, at most
Z = np.array([0.0, 0.0, 1.0])
LEVEL, STILL = np.eye(3), np.zeros(3)


@dataclass(frozen=True)
class Moment:
    """Hold a motion at one time, all in the world.

    Args:
        q, qd, qdd: of the joints (n,).
        position, rotation: of the base (3,) [m], (3, 3).
        twist, change: linear and angular velocity of the base, and acceleration (6,).
    """

    q: Array
    qd: Array
    qdd: Array
    position: Array
    rotation: Array
    twist: Array
    change: Array

    def state(self, time: float) -> RobotState:
        """Return it as a simulator takes it."""
        own = turn_twist(self.rotation.T, self.twist)
        orientation = matrix_quaternion(self.rotation)
        return RobotState(
            time, self.q, self.qd, np.zeros(len(self.q)), self.position, orientation, own
        )


class ChosenMotion:
    """Move every coordinate one way, within the limits of its joint.

    Args:
        model: whose joints and base move.
        tree: of its description.
        start: where the base starts, and joints whose range allows it.
        joints: names of the start's joints.
        duration: [s].
    """

    def __init__(
        self,
        model: EngineModel,
        tree: Tree,
        start: RobotState,
        joints: tuple[str, ...],
        duration: float,
    ) -> None:
        self.axes = list(KINDS[model.base].axes)
        self._position = np.array(start.position) if self.axes else np.zeros(3)
        self._rotation = quaternion_matrix(start.orientation) if self.axes else np.eye(3)
        limits = {joint.name: (joint.lower, joint.upper) for joint in tree.moving}
        low, high = np.array([limits[name] for name in model.joints]).reshape(-1, 2).T
        given = dict(zip(joints, start.q.tolist(), strict=True))
        count = len(low)
        longest = duration + SWING / (np.pi * SLOWEST)  # of a mean rate
        rate = np.minimum(RATE, USED * (high - low) / longest) * (-1.0) ** np.arange(count)
        spare = np.where(np.isfinite(high - low), 0.5 * (1.0 - USED) * (high - low), 0.0)
        least = low + spare - np.minimum(rate * longest, 0.0)
        most = high - spare - np.maximum(rate * longest, 0.0)
        begin = np.clip([given.get(name, 0.0) for name in model.joints], least, most)
        moved = np.zeros(6)
        moved[self.axes] = BASE_RATES[self.axes]
        self._begin = np.concatenate([np.zeros(6), begin])
        self._rate = np.concatenate([moved, rate])
        index = np.arange(6 + count)
        self._omega = 2.0 * np.pi * (SLOWEST + (FASTEST - SLOWEST) * (index * GOLDEN % 1.0))
        self._phase = 2.0 * np.pi * GOLDEN * index

    def at(self, time: float) -> Moment:
        """Return the motion at a time [s]."""
        rate, omega = self._rate, self._omega
        turn = omega * time + self._phase
        way = time + SWING * (np.sin(turn) - np.sin(self._phase)) / omega
        x, v = self._begin + rate * way, rate * (1.0 + SWING * np.cos(turn))
        a = -rate * SWING * omega * np.sin(turn)
        rotation, spin, change = _turning(x[3:6], v[3:6], a[3:6])
        return Moment(
            x[6:], v[6:], a[6:], self._position + x[:3], rotation @ self._rotation,
            np.concatenate([v[:3], spin]), np.concatenate([a[:3], change]),
        )  # fmt: skip

    def apart(self, state: RobotState, moment: Moment) -> Array:
        """Return by how much a state differs from the motion, and its rates (2, c).

        Of the coordinates of the base first: position, and rotation vector in the world.
        """
        rotation = quaternion_matrix(state.orientation)
        turn = rotation_vector(rotation @ moment.rotation.T)
        base = np.concatenate([state.position - moment.position, turn])[self.axes]
        rates = (turn_twist(rotation, state.twist) - moment.twist)[self.axes]
        return np.array(
            [[*base, *(state.q - moment.q)], [*rates, *(state.qd - moment.qd)]], dtype=float
        )

    def displaced(self, m: Moment, away: Array, faster: Array, change: Array) -> Moment:
        """Return a moment away from the motion, by differences as `apart` has them (c,)."""
        count = len(self.axes)
        place, rate, more = np.zeros((3, 6))
        for all_six, own in zip((place, rate, more), (away, faster, change)):
            all_six[self.axes] = own[:count]
        rotation = quaternion_matrix(turn_quaternion(place[3:])) @ m.rotation
        return Moment(
            m.q + away[count:], m.qd + faster[count:], m.qdd + change[count:],
            m.position + place[:3], rotation, m.twist + rate, m.change + more,
        )  # fmt: skip


def _turning(angle: Array, rate: Array, change: Array) -> tuple[Array, Array, Array]:
    """Return rotation, angular velocity and acceleration in the world of roll, pitch and yaw.

    Roll turns about the x axis of the base, pitch about the y axis that yaw has left.
    """
    if not rate.any():
        return LEVEL, STILL, STILL
    (roll, pitch, yaw), (p, q, r) = angle.tolist(), rate.tolist()
    rotation = quaternion_matrix(rpy_quaternion(roll, pitch, yaw))
    c, s = math.cos(yaw), math.sin(yaw)
    along, across = rotation[:, 0], np.array([-s, c, 0.0])
    turning = np.array([-q * s, q * c, r])
    growing = change[2] * Z + change[1] * across + change[0] * along
    growing += np.array([-c * q * r, -s * q * r, 0.0]) + p * np.cross(turning, along)
    return rotation, turning + p * along, growing
