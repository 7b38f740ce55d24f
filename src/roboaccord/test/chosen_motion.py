"""A chosen motion of a model, the forces that it needs, and an engine that follows it.

It is smooth, within the limits of its joints, and without a turn. Every coordinate goes in one
direction, at a rate that swings about its mean: so dry friction, of joints and of the ground, keeps
its direction. By inverse dynamics of the model as it is meant to be, it needs

    f = M(q) (a - a_0(q, v)) - what joint friction and force law do,

where a_0 are the accelerations under no force but gravity, and M the mass matrix: both by the
description alone. An engine follows it under such forces at mid-step, and a feedback. With the
errors e of the motion so far, taken to the middle of a step by a line through the last two, the
forces are those of inverse dynamics for

    q = q* + e,    v = v* + e',    a = a* - 2 w e' - w^2 e

So the feedback is zero on the exact motion, it is of order 2 like the held forces where an error
stays, and all errors fall alike, at w, whatever the robot: a gain alone would leave a long chain
to errors that grow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from roboaccord.contract.interfaces import LinkMotion
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.crosscheck.round_off import ROUND_OFF
from roboaccord.description.base_kinds import KINDS
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.kinematics import TreeKinematics
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
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

RATE = 0.5  # mean rate of a joint [rad/s or m/s]
BASE_RATES = np.array([1.0, 0.7, 0.5, 0.3, 0.3, 0.3])  # m/s, and rad/s of roll, pitch and yaw
SWING = 0.5  # of a mean rate
SLOWEST, FASTEST = 1.0, 2.0  # Hz
GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)  # by which phases and frequencies are spread
USED = 0.8  # of a joint's range, at most
Z = np.array([0.0, 0.0, 1.0])
LEVEL, STILL = np.eye(3), np.zeros(3)
BANDWIDTH = 10.0  # rad/s, w of the feedback
SAMPLES = 8  # moments at which the round-off of the forces is looked at
CLEAR = 10.0  # times that


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
    """Move every coordinate in one direction, within the limits of its joint.

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
        path = time + SWING * (np.sin(turn) - np.sin(self._phase)) / omega
        x, v = self._begin + rate * path, rate * (1.0 + SWING * np.cos(turn))
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
        offset, rate, more = np.zeros((3, 6))
        for all_six, own in zip((offset, rate, more), (away, faster, change)):
            all_six[self.axes] = own[:count]
        rotation = quaternion_matrix(turn_quaternion(offset[3:])) @ m.rotation
        return Moment(
            m.q + away[count:], m.qd + faster[count:], m.qdd + change[count:],
            m.position + offset[:3], rotation, m.twist + rate, m.change + more,
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


class InverseDynamics:
    """Compute forces on the coordinates of a model (c,): those of its base first, then joints.

    Args:
        model: as it is meant to be.
        tree: of its description.
    """

    def __init__(self, model: EngineModel, tree: Tree) -> None:
        self._dynamics = TreeDynamics(tree, model.joints, model.base, model.gravity)
        if model.armature is not None:
            for joint, inertia in enumerate(model.armature.tolist()):
                self._dynamics.lock(joint, inertia)
        self._kinematics = TreeKinematics(tree, model.joints)
        self._law, self._friction = model.force_law, model.friction
        self._axes = list(KINDS[model.base].axes)

    def inertial(self, m: Moment) -> Array:
        """Return the forces on base and joints (c,) without friction and force law."""
        mass = self._dynamics.mass_matrix(m.q, m.rotation)
        return np.asarray(mass @ self.missing(m, np.zeros(len(mass))))

    def missing(self, m: Moment, forces: Array) -> Array:
        """Return by how much accelerations under these forces alone fall short (c,)."""
        wrench, effort = self.split(forces)
        found = self._dynamics.acceleration(
            m.q, m.qd, effort, m.position, m.rotation, m.twist, wrench
        )
        return np.concatenate([(m.change - found.base)[self._axes], m.qdd - found.joints])

    def split(self, forces: Array) -> tuple[Array | None, Array]:
        """Return a wrench on the base (6,), None where it stands still, and efforts (n,)."""
        count = len(self._axes)
        if not count:
            return None, forces
        wrench = np.zeros(6)
        wrench[self._axes] = forces[:count]
        return wrench, forces[count:]

    def braking(self, m: Moment) -> Array:
        """Return the forces of joint friction (c,)."""
        efforts = np.zeros(len(m.q)) if self._friction is None else self._friction.efforts(m.qd)
        return np.concatenate([np.zeros(len(self._axes)), efforts])

    def pushing(self, m: Moment) -> Array:
        """Return the forces of the force law (c,)."""
        if self._law is None:
            return np.zeros(len(self._axes) + len(m.q))
        names = self._kinematics.names
        at = [names.index(name) for name in self._law.links]
        moved = self._kinematics.move(m.q, m.qd, m.position, m.rotation, m.twist)
        force, torque = np.zeros((2, len(names), 3))
        force[at], torque[at] = self._law.wrenches(
            LinkMotion(moved.rotation[at], moved.position[at], moved.linear[at], moved.angular[at])
        )
        wrench, efforts = self._kinematics.efforts(force, torque)
        return np.concatenate([wrench[self._axes], efforts])


class Follower:
    """Let a model in an engine follow its manufactured motion.

    Args:
        setup: robot and scenario.
        model: as it is meant to be.
        length: of the motion [s].
    """

    def __init__(self, setup: Setup, model: EngineModel, length: float) -> None:
        tree = Tree.parse(model.urdf, root=model.root)
        self._length = length
        self._inverse = InverseDynamics(model, tree)
        self._motion = ChosenMotion(model, tree, setup.initial, setup.joints, length)
        self._count = len(KINDS[model.base].axes) + len(model.joints)

    def follow(self, simulator: Simulator) -> Array:
        """Return the errors of the coordinates after each step (k, c)."""
        step = simulator.physics_step
        motion, inverse = self._motion, self._inverse
        count = round(self._length / step)
        errors = np.zeros((count, self._count))
        state = simulator.reset(motion.at(0.0).state(0.0))
        error = np.zeros((2, self._count))
        before = error
        for k in range(count):
            middle = motion.at((k + 0.5) * step)
            away, faster = 1.5 * error - 0.5 * before
            change = -BANDWIDTH * (BANDWIDTH * away + 2.0 * faster)
            there = motion.displaced(middle, away, faster, change)
            forces = inverse.inertial(there) - inverse.pushing(there) - inverse.braking(middle)
            wrench, effort = inverse.split(forces)
            state = simulator.step(Command(effort, wrench=wrench), step)
            error, before = motion.apart(state, motion.at((k + 1) * step)), error
            errors[k] = error[0]
        return errors

    def floor(self) -> Array:
        """Return what round-off makes of the coordinates (c,): of forces, behind the feedback."""
        off = np.zeros(self._count)
        for time in np.linspace(0.0, self._length, SAMPLES):
            moment = self._motion.at(float(time))
            forces = self._inverse.inertial(moment)
            off = np.maximum(off, np.abs(self._inverse.missing(moment, forces)))
        return CLEAR * off / BANDWIDTH**2 + ROUND_OFF
