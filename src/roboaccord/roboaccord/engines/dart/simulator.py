"""Simulation with DART, through dartpy: semi-implicit Euler, of first order in the step.

`DartSimulator` makes DART's world and takes the physics steps. Its base class in engines/base.py
contains what all engines share; loading is in skeleton.py, equations in model.py, contact in
contact.py, the user's settings in settings.py. Forces are set again in each step, because DART
clears them.

A change of the integration method must also go into the `scheme` of __init__.py: the twin (our
equations of motion under the same method) relies on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import dartpy
import numpy as np

from roboaccord.contract.contact import ContactPoint
from roboaccord.contract.state import NO_BODIES, Array, RobotState
from roboaccord.description.kinematics import motion_of, with_bodies
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.dart.contact import DartContact, contact_scale
from roboaccord.engines.dart.model import DartMechanism
from roboaccord.engines.dart.settings import DartSettings
from roboaccord.engines.dart.skeleton import choose_solver, free_joints, load_skeleton, make_world
from roboaccord.engines.model import BASE_LINK, EngineModel
from roboaccord.engines.spec import read_settings
from roboaccord.numerics.rotations import turn_between
from roboaccord.simulators.losses import Losses

STOP_CONSTRAINT = dartpy.constraint.JointConstraint
# [rad/s] Speed at which a joint returns from beyond its stop. Stops are inelastic, but DART's
# default of 10 rad/s would throw the joint back. At a hundredth of it, a return by 1 mrad takes
# 10 ms (test_engines of the snake measures the speed).
STOP_RETURN = 0.1
FREE_JOINT, LOCKED_JOINT = dartpy.dynamics.ActuatorType.FORCE, dartpy.dynamics.ActuatorType.LOCKED
UP = (0.0, 0.0, 1.0)


class DartSimulator(EngineSimulator):
    """Simulate any model with DART, under its `DartSettings` (Simulator).

    DART's axes and units may differ from ours: `_turn` (3, 3) turns the world's axes to DART's,
    `_scale` is the factor on lengths and times, and `_lengths` and `_speeds` (m,) are those on the
    m coordinates and rates of the skeleton (model.py). `_dofs` are the indices of the joints among
    them (n,), `_root` is the joint of the base, `_rotors` (m,) are dampers that stand for rotors,
    and `_generalised` (m,) the forces of a step in our units.
    """

    name = "dart"
    version = str(dartpy.__version__)
    order = 1
    mechanism: DartMechanism

    def __init__(self, model: EngineModel) -> None:
        super().__init__(model)
        settings = read_settings(model.options, self.name, DartSettings)
        self._turn = turn_between(np.array(settings.z_axis, dtype=float), np.array(UP))
        self._scale = contact_scale(model.urdf, model.contact)
        self._skeleton = load_skeleton(model, self.tree, self._scale)
        free_joints(self._skeleton)
        if model.contact is None:  # saves DART the detection of collisions
            for body in self._skeleton.getBodyNodes():
                for i in range(body.getNumShapeNodes()):
                    body.getShapeNode(i).removeCollisionAspect()
        # The world, in DART's axes and units.
        gravity = self._turn @ np.array([0.0, 0.0, -model.gravity])
        step = self.physics_step * self._scale
        self._world = make_world(self._skeleton, step, gravity / self._scale)
        choose_solver(self._world, settings)
        self._body = self._skeleton.getBodyNode(BASE_LINK)
        self._turn_joints()
        self.mechanism = mechanism = DartMechanism(
            self._skeleton, self._body, model.base, self.joints, self._turn, self._scale
        )
        self._dofs, self._root = mechanism.dofs, mechanism.root
        self._lengths, self._speeds = mechanism.lengths, mechanism.speeds
        self._is_scaled = self._scale != 1.0
        self._generalised = np.zeros(self._skeleton.getNumDofs())
        # Constant efforts on joints that take no commands, damping, and rotors.
        preloaded_joints = [self._skeleton.getJoint(name) for name in model.preload]
        self._preloaded = [joint.getIndexInSkeleton(0) for joint in preloaded_joints]
        self._preload = np.array([*model.preload.values()])
        if model.damping is not None:
            for name, value in zip(self.joints, model.damping, strict=True):
                mechanism.add_damping(name, value)
        self._rotors, self._has_rotors = mechanism.rotors, bool(self.armature.any())
        if self._has_rotors:
            mechanism.add_rotors(self.armature)
        self._stop_return = STOP_RETURN / model.stop_softness
        rows = np.array(self._root.rows)
        self._prepare_forces(self._dofs, self._dofs, rows, rows)
        self._contact: DartContact | None = None
        self._bodies = list[DartMechanism]()  # of the free bodies
        if model.contact:
            loaded = self._world, self._skeleton
            self._contact = DartContact(*loaded, model.contact, self._turn, self._scale)
            axes = self._turn, self._scale
            for each in self._contact.bodies:
                self._bodies.append(DartMechanism(each, each.getBodyNode(0), "free", (), *axes))

    def _turn_joints(self) -> None:
        """Turn the joints to the world by DART's axes, except one that moves the base freely."""
        for joint in self._skeleton.getJoints():
            moves_base = self.base.tilts and joint.getChildBodyNode() is self._body
            if joint.getParentBodyNode() is None and not moves_base:
                pose, turned = joint.getTransformFromParentBodyNode(), dartpy.math.Isometry3()
                turned.set_rotation(self._turn @ pose.rotation())
                turned.set_translation(self._turn @ pose.translation())
                joint.setTransformFromParentBodyNode(turned)

    def _start(self, state: RobotState) -> None:
        """Begin at a state, without the contacts of the motion before."""
        if self._contact:
            self._contact.forget()
        super()._start(state)

    def lock(self, joint: int, locked: bool) -> None:
        """Lock a joint rigidly, or release it."""
        skeleton = self._skeleton
        actuator = LOCKED_JOINT if locked else FREE_JOINT
        skeleton.getJoint(self.joints[joint]).setActuatorType(actuator)
        for tree in range(skeleton.getNumTrees()):  # DART does not notice the change by itself
            skeleton.dirtyArticulatedInertia(tree)
        if self._contact:
            self._contact.update_locks()

    def drive(self, joint: int, stiffness: float, damping: float, target: float) -> None:
        """Drive a joint by its spring and its damper, which are implicit."""
        self.mechanism.hold(joint, stiffness, damping + self._own_damping[joint], target)

    def limit_servo(self, joint: int, effort: float, rate: float) -> None:
        """Limit the rate of a joint; DART's spring and damper have no limit of effort."""
        number = int(self._dofs[joint])
        fastest = rate * float(self._speeds[number])
        self._skeleton.getDof(number).setVelocityLimits(-fastest, fastest)

    def contacts(self) -> Sequence[ContactPoint]:
        """Return the contacts of the last physics step."""
        return self._contact.points() if self._contact else ()

    def _place(self, state: RobotState) -> None:
        """Set DART's state and time."""
        self.mechanism.place(state)
        for body, placed in zip(self._bodies, self._body_states(state), strict=True):
            body.place(placed)
        self._world.setTime(state.time)

    def _coordinates(self) -> tuple[Array, Array]:
        """Return DART's coordinates and their rates, in our units."""
        q, v = self._skeleton.getPositions(), self._skeleton.getVelocities()
        return (q / self._lengths, v / self._speeds) if self._is_scaled else (q, v)

    def _set_forces(self) -> None:
        """Set DART's generalised forces for one step, in its units."""
        total = self._generalised
        if self._has_rotors:
            total = total + self._rotors * self._skeleton.getVelocities()
        self._skeleton.setForces(total / self._lengths if self._is_scaled else total)

    def _read(self) -> RobotState:
        """Return the present state."""
        q, v = self._coordinates()
        motion = self._root.read(q, v)
        bodies = np.array([body.row() for body in self._bodies]) if self._bodies else NO_BODIES
        joints = q[self._dofs], v[self._dofs], self._effort
        return RobotState(self._time, *joints, *motion, bodies=bodies)

    def _substeps(self, effort: Array, count: int) -> None:
        """Take `count` physics steps under efforts (n,) and `_wrench`."""
        total = self._generalised
        # DART returns a joint from beyond its stop in one step, whatever the error reduction
        # parameter, but at most at this speed, which all its worlds share.
        STOP_CONSTRAINT.setMaxErrorReductionVelocity(self._stop_return / self._scale)
        total[self._root.rows] = 0.0
        total[self._preloaded] = self._preload
        compiled = self._compiled_forces(effort)
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
                q, v = self._coordinates()
                efforts = self._friction.add(total[self._dofs], q[self._dofs], v[self._dofs])
                total[self._dofs] = efforts
            self._set_forces()
            self._world.step()
            if self._contact:
                self._contact.leave_out_borne()

    def _push(self, wrench: Array) -> None:
        """Add a wrench on the base (6,) to the generalised forces."""
        rows = self._root.rows
        forces = self._root.forces(wrench)
        self._generalised[rows] = self._generalised[rows] + forces if self._law else forces

    def _apply_law(self) -> None:
        """Set the generalised forces to those of the force law."""
        q, v = self._coordinates()
        rotation, position, twist = self._root.motion(q, v)
        wrench, efforts = self._law_efforts(q[self._dofs], v[self._dofs], position, rotation, twist)
        self._generalised[self._dofs] = efforts
        self._generalised[self._root.rows] = self._root.forces(wrench)

    def _constraint_losses(self, before: RobotState, after: RobotState) -> Losses:
        """Return the losses in stops, contacts and their friction in the last physics step [J]."""
        impulses = self._skeleton.getJointConstraintImpulses()[self._dofs]
        rates = 0.5 * (before.qd + after.qd) * self._speeds[self._dofs]
        # Stops: an impulse P takes the energy -P . (v0 + v1) / 2.
        stops = -float(impulses @ rates)
        if not (points := self.contacts()):
            return Losses(stops)
        # Contacts: work of their forces at the mean velocity of the point, on each of both bodies.
        qd, twist = 0.5 * (before.qd + after.qd), 0.5 * (before.twist + after.twist)
        motion = motion_of(self.tree, self._kinematics, replace(before, qd=qd, twist=twist))
        motion = with_bodies(motion, before.bodies, before.bodies, after.bodies)
        names = [*self._kinematics.names, *(body.name for body in self._free_bodies)]
        step = self.physics_step
        impacts = friction = 0.0
        for point in points:
            assert point.friction is not None
            for name, sign in zip(point.pair, (-step, step), strict=True):
                if name in names:
                    velocity = motion.velocity_at(names.index(name), point.position)
                    impacts -= sign * point.force * float(point.normal @ velocity)
                    friction -= sign * float(point.friction @ velocity)
        return Losses(stops, impacts, friction)
