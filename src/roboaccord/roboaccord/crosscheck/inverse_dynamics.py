"""Inverse dynamics of an engine's model as it is meant to be: the forces that a motion needs.

    f = M(q) (a - a_0(q, v)) - what joint friction and force law do,

where a_0 are the accelerations under no force but gravity, and M the mass matrix: both by the
description alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import LinkMotion
from roboaccord.contract.state import Array
from roboaccord.crosscheck.chosen_motion import Moment
from roboaccord.description.base_kinds import KINDS
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.kinematics import TreeKinematics
from roboaccord.description.tree import Tree
from roboaccord.engines.model import EngineModel


class InverseDynamics:
    """Compute forces on the coordinates of a model (c,): those of its base first, then joints.

    Args:
        model: as it is meant to be.
        tree: of its description.

    Raises:
        AccordError: for what this does not take.
    """

    def __init__(self, model: EngineModel, tree: Tree) -> None:
        left = [joint.name for joint in tree.moving if joint.name not in model.joints]
        if tree.frame or model.base == "ball":
            raise AccordError("base_link is a ball in a bearing, and no part of one tree of joints")
        if not (model.joints or KINDS[model.base].moves):
            raise AccordError("nothing of it moves")
        if left:
            raise AccordError(f"no effort can be commanded of {left[0]}, which moves")
        self._dynamics = TreeDynamics(tree, model.joints, model.base, model.gravity)
        if model.armature is not None:
            for joint, inertia in enumerate(model.armature.tolist()):
                self._dynamics.lock(joint, inertia)
        self._kinematics = TreeKinematics(tree, model.joints)
        self._law, self._friction = model.force_law, model.friction
        self._axes = list(KINDS[model.base].axes)

    def inertial(self, m: Moment) -> Array:
        """Return the forces on base and joints (c,) without friction and force law."""
        mass = self._dynamics.mass_matrix(m.q, m.position, m.rotation)
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

    def behind(self, m: Moment, rate: Array, acceleration: Array) -> tuple[Array, Array]:
        """Return the forces (c,) behind differences of rates and accelerations that end at `m`.

        The sizes of what each is a sum of come second.
        """
        mass = self._dynamics.mass_matrix(m.q, m.position, m.rotation)
        before = replace(m, qd=m.qd - rate[len(self._axes) :])
        braked = self.braking(before) - self.braking(m)
        return mass @ acceleration + braked, np.abs(mass) @ np.abs(acceleration) + np.abs(braked)

    def stiffness(self, m: Moment) -> float:
        """Return the largest rate at which joint friction alone slows anything down [1/s]."""
        mass = self._dynamics.mass_matrix(m.q, m.position, m.rotation)
        damping = np.zeros(len(mass))
        if self._friction is not None:
            damping[len(self._axes) :] = self._friction.damping(m.qd)
        rates = np.linalg.eigvals(np.linalg.solve(mass, np.diag(damping)))
        return float(np.abs(rates).max(initial=0.0))

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
