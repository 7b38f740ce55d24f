"""Base class of the simulators of physics engines, such as DART and MuJoCo.

An engine simulates an `EngineModel` (model.py): a description with forces on it. One call of `step`
is a control tick; it consists of several physics steps, during which the commanded efforts and the
commanded wrench on the base are constant. `EngineSimulator` contains what all engines share:

- efforts: limits, gears, and faults of joints;
- forces that depend on the motion: the force law of links, such as sliding friction, and the
  friction of joints. They act in every stage of the engine's integration method, and are computed
  in Python or by the kernel of compiled.py;
- events of contacts (touch_events.py) and of joint stops, and losses of energy.

An engine derives from it and implements `_substeps`, `_constraint_losses`, the abstract methods of
`Simulator`, and `contacts` if it has any. `EngineConformance` of roboaccord.testing tests what all
engines must do. The order of the mass matrix, and that a force law acts in every stage, must stay:
twins (our equations under an engine's integration method), levels of the cross-check and kernels
depend on them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from roboaccord.contract import AccordError, ContactPoint, Index
from roboaccord.contract.interfaces import Acceleration, ForceLaw
from roboaccord.contract.state import Array, Command, RobotState, body_state
from roboaccord.description import KINDS, Tree
from roboaccord.description.checks import check_world, warn_massless
from roboaccord.description.kinematics import TreeKinematics
from roboaccord.engines.force_laws import PushedLaw
from roboaccord.engines.mechanism import Mechanism
from roboaccord.engines.model import BASE_LINK, WORLD, EngineModel, Properties, friction_by_joint
from roboaccord.engines.touch_events import TouchWatch
from roboaccord.numerics.jit import COMPILES
from roboaccord.simulators import Simulator, StopWatch
from roboaccord.simulators.losses import CHANNELS, Losses, StepMeter

if TYPE_CHECKING:
    from roboaccord.engines.compiled import CompiledForces


class EngineSimulator(Simulator):
    """Simulate a model in an engine; subclasses call the engine itself.

    Args:
        model: the model with n joints that is simulated.
        tree: links and joints that replace those of the description; for a twin with changed
            numbers.

    Attributes:
        mechanism: the engine's own model of the robot.
        tree: links and joints.
        base: how the base moves.
        intended: the model with which properties are compared; as passed to the constructor, unless
            a wrapper replaces it.
        restitution: coefficient of impacts that the robot computes itself, or None.
        armature: reflected inertia of the rotors (n,) [kg m^2].
        spring: stiffness and slack positions of the joints' springs (n,), or None.
    """

    channels = CHANNELS
    mechanism: Mechanism

    def __init__(self, model: EngineModel, tree: Tree | None = None) -> None:
        self.tree = tree or model.tree
        step, faults, hinges = model.physics_step, model.faults, self.tree.hinges
        super().__init__(model.joints, model.effort_limits, step, faults=faults, hinges=hinges)
        self._check_description(model, tree)
        self.base = KINDS[model.base]
        self.intended = model
        self.restitution = model.restitution
        self.armature = model.rotors
        self.spring = model.friction.spring if model.friction else None
        self._gear = model.gear
        # Viscous damping that the engine itself adds (n,), beside that of its servos.
        self._own_damping = np.zeros(len(self.joints)) if model.damping is None else model.damping
        # Forces that depend on the motion, and their kernel.
        self._kinematics = TreeKinematics(self.tree, self.joints)
        self._friction, self._model_friction = model.friction, friction_by_joint(model)
        self._compiled: CompiledForces | None = None
        self._model_law = model.force_law
        self._set_law(self._model_law)
        # Events and losses.
        self._stops = StopWatch.of(self.tree, self.joints)
        self._touches = TouchWatch(model.physics_step) if model.contact_events else None
        self._free_bodies = model.contact.bodies if model.contact else ()
        self._meter: StepMeter | None = None
        # Efforts and wrench of the control tick in progress.
        self._acting = self._effort
        self._wrench: Array | None = None

    def _check_description(self, model: EngineModel, changed_tree: Tree | None) -> None:
        """Refuse a model with a joint that its description lacks; warn of links without mass.

        The description itself has been checked already where a changed tree replaces it.

        Raises:
            AccordError: for such a joint, or a base that the description does not allow.
        """
        described = {joint.name for joint in self.tree.moving}
        missing = [name for name in self.joints if name not in described]
        if missing:
            raise AccordError(f"joint {missing[0]} is missing in the description")
        if changed_tree is None:
            if model.root == BASE_LINK:
                check_world(model.urdf, model.base)
            warn_massless(model.urdf, self.tree, model.base)

    @abstractmethod
    def _substeps(self, effort: Array, count: int) -> None:
        """Take physics steps under efforts (n,) and `_wrench`, with the force law in each."""

    def contacts(self) -> Sequence[ContactPoint]:
        """Return the contacts of the last physics step; none after a reset, or without contact."""
        return ()

    def properties(self) -> Properties:
        """Return the properties of links and joints in the engine."""
        names = [link.name for link in self.tree.links if link.name != WORLD]
        links = {name: self.mechanism.link(name) for name in names}
        joints = {joint.name: self.mechanism.joint(joint.name) for joint in self.tree.moving}
        # The friction of a joint is that of the engine and of the model's own law together.
        for name, (viscous, dry) in self._model_friction.items():
            joint = joints[name]
            damping, friction = viscous + joint.damping, dry + joint.friction
            joints[name] = replace(joint, damping=damping, friction=friction)
        links_in_engine = {name: link for name, link in links.items() if link}
        return Properties(links_in_engine, joints, self.mechanism.gravity())

    def parts(self) -> Sequence[EngineSimulator]:
        """Return the simulators of which it consists: only itself."""
        return (self,)

    @abstractmethod
    def _constraint_losses(self, before: RobotState, after: RobotState) -> Losses:
        """Return the losses in stops, contacts and their friction in the last physics step [J].

        An impulse P takes the energy -P . (v0 + v1) / 2, with the velocities v0 and v1 before and
        after the step. If several impulses act, these energies add up to the change of kinetic
        energy.
        """

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link in the engine [kg]."""
        return {name: link.mass for name, link in self.properties().links.items()}

    def _start(self, state: RobotState) -> None:
        """Begin at a state, without contacts, wrench and losses of the motion before."""
        self._wrench = None
        if self._touches:
            self._touches.reset()
        self._stops.reset(state.q)
        if self._meter:
            self._meter.reset()
        self._place(state)

    def _body_states(self, state: RobotState) -> list[RobotState]:
        """Return the motion of each free body in a state, or at its start if the state has none."""
        rows = state.bodies if len(state.bodies) else [body.start for body in self._free_bodies]
        return [body_state(row) for row in rows]

    def _advance(self, command: Command, duration: float) -> None:
        """Advance by a control tick under `_effort` and the wrench of the command."""
        self._acting = self._geared(self._effort)
        self._wrench = self._checked_wrench(command)
        if self._touches or self._meter:
            self._substeps_one_by_one()
        else:
            self._substeps(self._acting, self._steps)

    def _note(self, before: RobotState, after: RobotState) -> None:
        """Record an event for each joint that has reached its stop."""
        for joint in self._stops.new_stops(after.q):
            self._events.append(self._stops.event(joint, self._time))

    def _substeps_one_by_one(self) -> None:
        """Take physics steps one by one; record contacts and losses after each."""
        touches, meter, start_time = self._touches, self._meter, self.state().time
        for i in range(self._steps):
            before = self._read() if meter else None
            self._substeps(self._acting, 1)
            if touches:
                touches.add_step(start_time + i * self.physics_step, self.contacts())
            if meter and before:
                after = self._read()
                meter.add_step(before, after, self._constraint_losses(before, after))
        if touches:
            self._events += touches.take_events()

    def meter(self) -> None:
        """Start to measure losses, in each physics step."""
        super().meter()
        law, friction, losses = self._law, self._friction, self._losses
        self._meter = StepMeter(self.tree, self.joints, self.physics_step, law, friction, losses)

    def mass_matrix(self, state: RobotState) -> Array:
        """Return the mass matrix (m, m) in a state.

        Its order is linear and angular in the world for a free base, x, y and yaw for a planar
        one, nothing for a fixed one; then the joints.
        """
        return self._statics_at(state)[0]

    def gravity_forces(self, state: RobotState) -> Array:
        """Return gravity forces (m,) [N, N m] in the coordinates of `mass_matrix`."""
        return self._statics_at(state)[1]

    def _statics_at(self, state: RobotState) -> tuple[Array, Array]:
        """Return mass matrix and gravity forces in a state; the present state is restored."""
        present = self.state()
        statics = self.mechanism.statics_at(state)
        self._place(present)
        return statics

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations in the engine; the present state is restored."""
        present = self.state()
        acceleration = self.mechanism.acceleration_at(state, self._geared(effort))
        self._place(present)
        return acceleration

    def push(self, link: str, force: Array) -> None:
        """Apply a force (3,) [N], in the world, at a link's centre of mass until the next call."""
        law = self._model_law
        self._set_law(PushedLaw(law, {link: force}) if np.any(force) else law)
        self._compile()

    def drive(self, joint: int, stiffness: float, damping: float, target: float) -> None:
        """Drive a joint of a model with `servos` by the engine's own servo.

        It acts until it is set again or the state is reset.

        Args:
            joint: its number.
            stiffness, damping: [N m/rad, N m s/rad] or [N/m, N s/m].
            target: position at which the servo holds the joint still [rad or m].

        Raises:
            AccordError: for an engine that has none.
        """
        raise AccordError(f"{self.name}: it has no servo of its own here")

    def limit_servo(self, joint: int, effort: float, rate: float) -> None:
        """Limit effort and rate of a joint's own servo; an engine without such limits has none.

        Args:
            joint: its number.
            effort, rate: largest ones; inf for no limit.
        """

    def _prepare_forces(self, *indices: Array | Index) -> None:
        """Record the indices of joints and base in the engine's arrays, and compile the forces.

        Args:
            indices: the arguments from `joint_q_rows` to `base_v_rows` of `CompiledForces`; none
                for an engine whose forces Python computes.
        """
        self._indices = indices
        self._compile()
        if self._law and not self._compiled:  # compiles kernels of the law before the first tick
            zeros = np.zeros(len(self.joints))
            self._law_efforts(zeros, zeros, np.zeros(3), np.eye(3), np.zeros(6))

    def _compile(self) -> None:
        """Make the compiled form of the forces; None if there is none for all of them."""
        self._compiled = None
        if COMPILES and self._indices and (self._law or self._friction):
            from roboaccord.engines.compiled import compile_forces

            self._compiled = compile_forces(
                self._kinematics, self._law, self._friction, self.base, *self._indices
            )

    def _compiled_forces(self, effort: Array) -> CompiledForces | None:
        """Return the compiled forces under efforts (n,); None if Python must compute some."""
        compiled = self._compiled
        if compiled is None or self._wrench is not None:
            return None
        compiled.held[:] = effort
        return compiled

    def _set_law(self, law: ForceLaw | None) -> None:
        """Set the force law, with arrays for the forces and torques on all links (k, 3)."""
        names = self._kinematics.names
        self._law = law
        self._law_links = np.array([names.index(name) for name in law.links] if law else [], int)
        self._forces, self._torques = np.zeros((2, len(names), 3))

    def _geared(self, effort: Array) -> Array:
        """Return efforts (n,) multiplied by the gear factors."""
        return effort if self._gear is None else effort * self._gear

    def _law_efforts(
        self, q: Array, qd: Array, position: Array, rotation: Array, twist: Array
    ) -> tuple[Array, Array]:
        """Return the force law's wrench on the base and its efforts on the joints (n,).

        Pose and twist of the base are in the world; so is the wrench (6,), force first, about the
        base's origin.
        """
        assert self._law is not None
        motion, links = self._kinematics.move(q, qd, position, rotation, twist), self._law_links
        self._forces[links], self._torques[links] = self._law.wrenches(motion.at(links))
        return self._kinematics.efforts(self._forces, self._torques)

    def _checked_wrench(self, command: Command) -> Array | None:
        """Return the wrench (6,) of a command, or None; refuse commands that no engine can follow.

        Raises:
            AccordError: for a twist, or a wrench on a base that does not move by itself.
        """
        if command.twist is not None:
            reason = "a commanded twist is for kinematic robots"
            raise AccordError(f"{self.name} takes forces: {reason}")
        if command.wrench is not None and not self.base.moves:
            raise AccordError(f"{self.name}: a wrench moves nothing where the base is fixed")
        return command.wrench


def engine_parts(simulator: Simulator) -> Sequence[EngineSimulator]:
    """Return the parts of a simulator that engines simulate; none for our own equations."""
    return [part for part in simulator.parts() if isinstance(part, EngineSimulator)]
