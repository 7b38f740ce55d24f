"""Equations of motion and properties of PhysX's articulation, for questions about single states.

PhysX reports no accelerations of a base, and no mass matrix. `SapienMechanism` takes physics steps
in an articulation without stops: after a step of h, PhysX's rates are v + h a.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from roboaccord.contract import Acceleration, Array, RobotState
from roboaccord.engines import (
    EngineModel,
    EngineSimulator,
    ForcedMechanism,
    JointProperties,
    LinkProperties,
)
from roboaccord.numerics import quaternion_matrix

from roboaccord_sapien.articulation import LEAST, Articulation

# s: PhysX's rates are single numbers, and the difference of two loses the least in a long step.
EVALUATION_STEP = 1.0
# For the accelerations of a free base, whose error is a power series of the step: the largest step
# [s], within which no joint may turn by more than an angle [rad], and how often it is halved.
# Larger ones leave more of the series, smaller ones and more halvings lose more by round-off.
FREE_STEP, FREE_ANGLE, HALVINGS = 0.02, 0.045, 2


def _root_rates(body: Any) -> Array:
    """Return the velocity of the root's centre of mass and its angular velocity (6,)."""
    rates = body.get_root_linear_velocity(), body.get_root_angular_velocity()
    return np.concatenate(rates).astype(float)


class SapienMechanism(ForcedMechanism):
    """Equations and properties of PhysX's articulation, in single precision.

    Args:
        simulator: of the robot.
        model: the same robot.
    """

    def __init__(self, simulator: EngineSimulator, model: EngineModel) -> None:
        self.articulation = Articulation(simulator, model, stops=False)
        self._base, self._gravity = simulator.base, model.gravity
        self._joints = {joint.name: joint for joint in self.articulation.body.joints}
        self._ends = {joint.name: joint.ends for joint in simulator.tree.moving}
        self._state = RobotState(0.0, *np.zeros((3, len(simulator.joints))))

    def place(self, state: RobotState) -> None:
        """Set the state in which accelerations are evaluated."""
        self._state = state
        self.articulation.place(state, free=self._base.tilts)

    def accelerate(
        self, rotation: Array, effort: Array, wrench: Array | None = None
    ) -> Acceleration:
        """Return the accelerations of base and joints under efforts (n,) and a wrench (6,)."""
        joints, base = self._after_step(EVALUATION_STEP, rotation, effort, wrench)
        if self._base.tilts:
            # PhysX corrects the momentum of a free root by an amount of order h after each step.
            largest = self._free_step(joints)
            steps = [largest / 2**i for i in range(HALVINGS + 1)]
            values = [self._after_step(step, rotation, effort, wrench)[1] for step in steps]
            for order in range(1, HALVINGS + 1):  # Richardson: remove one power after the other
                factor = 2.0**order
                pairs = pairwise(values)
                values = [(factor * fine - coarse) / (factor - 1.0) for coarse, fine in pairs]
            (base,) = values
        self.place(self._state)
        return Acceleration(base, joints)

    def _free_step(self, accelerations: Array) -> float:
        """Return the largest step [s] in which all joints turn by FREE_ANGLE at most."""
        rate = float(np.abs(self._state.qd).max(initial=0.0))
        acceleration = float(np.abs(accelerations).max(initial=1e-9))
        root = math.sqrt(rate**2 + 4.0 * acceleration * FREE_ANGLE)
        return min(FREE_STEP, (root - rate) / (2.0 * acceleration))

    def _after_step(
        self, step: float, rotation: Array, effort: Array, wrench: Array | None
    ) -> tuple[Array, Array]:
        """Return the changes of the rates of joints (n,) and base (6,) in a step [s], over it."""
        articulation, body = self.articulation, self.articulation.body
        self.place(self._state)
        rates = body.get_qvel()[articulation.columns].astype(float)
        root = _root_rates(body)
        articulation.push(effort, wrench)
        articulation.step(step)
        joints = (body.get_qvel()[articulation.columns].astype(float) - rates) / step
        if not self._base.tilts:
            return joints, np.zeros(6)
        # Of the root's centre of mass c, from which that of its origin follows.
        base, spin = (_root_rates(body) - root) / step, root[3:]
        centre = rotation @ np.asarray(articulation.root.cmass_local_pose.p, float)
        base[:3] -= np.cross(base[3:], centre) + np.cross(spin, np.cross(spin, centre))
        return joints, base

    def statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        """Return axes, mass matrix and gravity forces, from accelerations under unit forces."""
        # At rest M a = f - g, so the columns of M^-1 are differences of accelerations.
        axes, joints = [*self._base.axes], len(self._state.q)
        units, rows = np.eye(len(axes) + joints), []
        for force in (np.zeros(len(units)), *units):
            wrench = np.zeros(6)
            wrench[axes] = force[: len(axes)]
            accelerations = self.accelerate(rotation, force[len(axes) :], wrench)
            rows.append(np.append(accelerations.base[axes], accelerations.joints))
        mass = np.linalg.inv(np.array(rows[1:]) - rows[0])
        mass = 0.5 * (mass + mass.T)
        return units, mass, -mass @ rows[0]

    def gravity(self) -> Array:
        """Return gravity in the world (3,) [m/s^2]."""
        return np.asarray(self.articulation.system.config.gravity, float)

    def link(self, name: str) -> LinkProperties | None:
        """Return mass, centre of mass and inertia of a link, as PhysX has them."""
        part = self.articulation.links.get(name)
        if part is None:
            return None
        pose = part.cmass_local_pose
        turn = quaternion_matrix(np.roll(np.asarray(pose.q, float), -1))
        mass, moments = float(part.mass), np.asarray(part.inertia, float)
        mass = mass if mass > LEAST else 0.0
        moments = moments if moments.max() > 2.0 * LEAST**2 else np.zeros(3)
        return LinkProperties(mass, np.asarray(pose.p, float), turn @ np.diag(moments) @ turn.T)

    def joint(self, name: str) -> JointProperties:
        """Return origin, axis, limits, damping and armature of a joint, as PhysX has them."""
        joint = self._joints[name]
        pose = joint.pose_in_parent
        turn = quaternion_matrix(np.roll(np.asarray(pose.q, float), -1))
        return JointProperties(
            origin=np.asarray(pose.p, float),
            axis=turn[:, 0],
            limits=np.array(self._ends[name], float),
            damping=float(joint.damping),
            friction=float(joint.friction),
            armature=float(np.ravel(joint.armature)[0]),
        )
