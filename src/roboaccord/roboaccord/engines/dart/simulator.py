"""DART through dartpy: semi-implicit Euler, first order in the step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dartpy
import numpy as np

from roboaccord.contract.contact import ContactPoint
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, RobotState
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.dart.base import BASES
from roboaccord.engines.dart.contact import DartContact, contact_scale
from roboaccord.engines.dart.model import (
    let_joints_be,
    load_skeleton,
    make_world,
    remove_shapes,
    turn_joint,
)
from roboaccord.engines.dart.settings import DartSettings
from roboaccord.engines.dart.units import lengths
from roboaccord.engines.meter import Losses, mean_velocities
from roboaccord.engines.model import BASE_LINK, EngineModel
from roboaccord.engines.properties import JointProperties, LinkProperties, Properties, braking
from roboaccord.engines.spec import read_settings
from roboaccord.numerics.rotations import turn_between

STOPS = dartpy.constraint.JointConstraint
STOP_RETURN = 0.1  # rad/s: at which a joint comes back from beyond its stop, in DART 10
FREE, LOCKED = dartpy.dynamics.ActuatorType.FORCE, dartpy.dynamics.ActuatorType.LOCKED
UP = (0.0, 0.0, 1.0)


class DartSimulator(EngineSimulator):
    """Simulate any model with DART, by its `DartSettings` (Simulator)."""

    name = "dart"
    version = str(dartpy.__version__)
    order = 1

    def __init__(self, model: EngineModel) -> None:
        super().__init__(model)
        z_axis = read_settings(model.options, self.name, DartSettings).z_axis
        self._turn = turn_between(np.array(z_axis, dtype=float), np.array(UP))
        self._scale = contact_scale(model.urdf, model.contact)
        self._skeleton = load_skeleton(model, self.tree, self._scale)
        let_joints_be(self._skeleton)
        if model.contact is None:
            remove_shapes(self._skeleton)
        self._braking = braking(model)
        gravity = self._turn @ np.array([0.0, 0.0, -model.gravity])
        step = self.physics_step * self._scale
        self._world = make_world(self._skeleton, step, gravity / self._scale)
        self._body = self._skeleton.getBodyNode(BASE_LINK)
        for joint in self._skeleton.getJoints():
            moves = self.base.tilts and joint.getChildBodyNode() is self._body
            if joint.getParentBodyNode() is None and not moves:
                turn_joint(joint, self._turn)
        self._lengths = lengths(self._skeleton, self._scale)
        self._speeds = self._lengths / self._scale
        self._scaled = self._scale != 1.0
        dofs = [self._skeleton.getJoint(n).getIndexInSkeleton(0) for n in self.joints]
        self._dofs = np.array(dofs, dtype=int)
        self._root = BASES[model.base](self._body, self._turn, self._scale)
        self._total = np.zeros(self._skeleton.getNumDofs())
        held = {
            self._skeleton.getJoint(n).getIndexInSkeleton(0): e for n, e in model.preload.items()
        }
        self._held, self._preload = list(held), np.array(list(held.values()))
        if model.damping is not None:
            self._add_damping(model.damping)
        self._stop_return = STOP_RETURN / model.stop_softness
        rows = np.array(self._root.rows)
        self._place_forces(self._dofs, self._dofs, rows, rows)
        self._contact = (
            DartContact(self._world, self._skeleton, model.contact, self._turn, self._scale)
            if model.contact
            else None
        )

    def _start(self, state: RobotState) -> None:
        if self._contact:
            self._contact.forget()
        super()._start(state)

    def lock(self, joint: int, locked: bool) -> None:
        skeleton = self._skeleton
        skeleton.getJoint(self.joints[joint]).setActuatorType(LOCKED if locked else FREE)
        for tree in range(skeleton.getNumTrees()):  # which DART takes for unchanged
            skeleton.dirtyArticulatedInertia(tree)

    def contacts(self) -> Sequence[ContactPoint]:
        """Return the contacts of the last physics step."""
        return self._contact.points() if self._contact else ()

    def _place(self, state: RobotState) -> None:
        skeleton, root = self._skeleton, self._root
        positions, velocities = np.zeros((2, skeleton.getNumDofs()))
        positions[self._dofs] = state.q
        velocities[self._dofs] = state.qd
        positions[root.rows] = root.positions(state)
        skeleton.setPositions(positions * self._lengths)
        velocities[root.rows] = root.velocities(state)
        skeleton.setVelocities(velocities * self._speeds)
        skeleton.clearInternalForces()
        skeleton.clearExternalForces()
        self._world.setTime(state.time)

    def _coordinates(self) -> tuple[Array, Array]:
        """Return DART's coordinates and their rates, in our units."""
        q, v = self._skeleton.getPositions(), self._skeleton.getVelocities()
        return (q / self._lengths, v / self._speeds) if self._scaled else (q, v)

    def _set_forces(self) -> None:
        """Give DART the generalised forces in its units; they last one step."""
        total = self._total
        self._skeleton.setForces(total / self._lengths if self._scaled else total)

    def _read(self) -> RobotState:
        q, v = self._coordinates()
        motion = self._root.read(q, v)
        return RobotState(self._time, q[self._dofs], v[self._dofs], self._effort, *motion)

    def _substeps(self, effort: Array, count: int) -> None:
        total = self._total
        # DART throws a joint that is beyond its stop back in one step, at up to 10 rad/s, whatever
        # the error reduction parameter: that is a kick, and stops here are inelastic. DART keeps
        # this one figure for all of its worlds.
        STOPS.setMaxErrorReductionVelocity(self._stop_return / self._scale)
        total[self._root.rows] = 0.0
        total[self._held] = self._preload
        compiled = self._forces_at(effort)
        for _ in range(count):
            if compiled:
                compiled.apply(*self._coordinates(), total)
            elif self._law:
                self._apply_law()
                total[self._dofs] += effort
            else:
                total[self._dofs] = effort
            if self._wrench is not None:
                self._push(self._wrench)
            if self._friction and not compiled:
                total[self._dofs] += self._friction.efforts(self._coordinates()[1][self._dofs])
            self._set_forces()
            self._world.step()

    def _push(self, wrench: Array) -> None:
        """Add a wrench on the base (6,) to the generalised forces."""
        rows = self._root.rows
        forces = self._root.forces(wrench)
        self._total[rows] = self._total[rows] + forces if self._law else forces

    def _apply_law(self) -> None:
        """Fill the generalised forces with the force law's."""
        q, v = self._coordinates()
        rotation, position, twist = self._root.motion(q, v)
        wrench, efforts = self._law_efforts(q[self._dofs], v[self._dofs], position, rotation, twist)
        self._total[self._dofs] = efforts
        self._total[self._root.rows] = self._root.forces(wrench)

    def _constraint_losses(self, before: RobotState, after: RobotState) -> Losses:
        """Return the losses in stops, contacts and their friction in the last physics step [J]."""
        impulses = self._skeleton.getJointConstraintImpulses()[self._dofs]
        rates = 0.5 * (before.qd + after.qd) * self._speeds[self._dofs]
        stops = -float(impulses @ rates)
        found = self._contact.pushes() if self._contact else []
        if not found:
            return Losses(stops)
        points = np.array([push.point for push in found])
        velocities = mean_velocities(self.tree, self._kinematics, before, after, points)
        names = self._kinematics.names
        impacts = friction = 0.0
        for i, push in enumerate(found):
            for name, side in zip(push.bodies, (1.0, -1.0), strict=True):
                if name in names:
                    velocity = velocities[names.index(name), i]
                    pressing = float(push.normal @ velocity) * float(push.force @ push.normal)
                    impacts -= side * self.physics_step * pressing
                    friction -= side * self.physics_step * (float(push.force @ velocity) - pressing)
        return Losses(stops, impacts, friction)

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        kept = self.state()
        self._place(state)
        self._total[:] = 0.0
        self._total[self._dofs] = self._geared(effort)
        self._set_forces()
        self._skeleton.computeForwardDynamics()
        found = self._skeleton.getAccelerations() * (self._scale**2 / self._lengths)
        joints = found[self._dofs]
        body, back, scale = self._body, self._turn.T, self._scale
        base = np.concatenate(
            [
                back @ body.getLinearAcceleration() * scale,
                back @ body.getAngularAcceleration() * scale**2,
            ]
        )
        self._place(kept)
        return Acceleration(base, joints)

    def _statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        """Return matrix S, mass matrix and gravity forces, as the base class says."""
        rows = [*self._root.rows, *self._dofs]
        order = np.zeros((len(self._total), len(rows)))
        order[rows, np.arange(len(rows))] = 1.0
        count = len(self._root.rows)
        order[self._root.rows, :count] = self._root.rates()
        mass = self._skeleton.getMassMatrix() * np.outer(self._speeds, self._speeds)
        return order, mass, self._skeleton.getGravityForces() * self._lengths

    def _add_damping(self, damping: Array) -> None:
        for name, value in zip(self.joints, damping, strict=True):
            joint = self._skeleton.getJoint(name)
            joint.setDampingCoefficient(0, value * self._rate_unit(joint))

    def _rate_unit(self, joint: Any) -> float:
        """Return what DART's damping of a joint is over ours."""
        return float(self._scale / self._lengths[joint.getIndexInSkeleton(0)] ** 2)

    def properties(self) -> Properties:
        """Return the properties of links and joints as DART has them."""
        nodes = {link.name: self._skeleton.getBodyNode(link.name) for link in self.tree.links}
        return Properties(
            links={name: self._link(node) for name, node in nodes.items() if node},
            joints={j.name: self._joint(self._skeleton.getJoint(j.name)) for j in self.tree.moving},
            gravity=self._turn.T @ self._world.getGravity() * self._scale,
        )

    def _link(self, node: Any) -> LinkProperties:
        inertia = np.array(node.getInertia().getMoment()) / self._scale**2
        return LinkProperties(node.getMass(), node.getLocalCOM() / self._scale, inertia)

    def _joint(self, joint: Any) -> JointProperties:
        pose, index = joint.getTransformFromParentBodyNode(), joint.getIndexInSkeleton(0)
        back = self._turn.T if joint.getParentBodyNode() is None else np.eye(3)
        viscous, dry = self._braking.get(joint.getName(), (0.0, 0.0))
        bounds = np.array([joint.getPositionLowerLimit(0), joint.getPositionUpperLimit(0)])
        return JointProperties(
            origin=back @ pose.translation() / self._scale,
            axis=back @ pose.rotation() @ joint.getAxis(),
            limits=bounds / self._lengths[index],
            damping=viscous + joint.getDampingCoefficient(0) / self._rate_unit(joint),
            friction=dry + joint.getCoulombFriction(0) * self._lengths[index],
            armature=0.0,
        )
