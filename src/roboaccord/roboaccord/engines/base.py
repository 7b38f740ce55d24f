"""Base class of the engines: commands in, states out, force laws in every physics step.

An engine derives from `EngineSimulator` and writes `_substeps`, `contacts`, `_constraint_losses`
and what `Simulator` asks for; `EngineConformance` of roboaccord.testing tests what all of them must
keep. Do not put calls of one engine here. APART, which decides what counts as one contact event,
may be tuned. The order of the mass matrix, and that a force law acts in every stage of a step, are
fixed: twins (the same schemes on our own equations), levels and the kernels of compiled.py hang on
both. Contact events are of pairs by name, where they begin to touch.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from roboaccord.contract.contact import Contact, ContactPoint, Index
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration, ForceLaw, LinkMotion
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.description.base_kinds import KINDS
from roboaccord.description.checks import check_world, warn_massless
from roboaccord.description.kinematics import TreeKinematics
from roboaccord.description.tree import Tree
from roboaccord.engines.model import (
    BASE_LINK,
    WORLD,
    EngineModel,
    JointProperties,
    Properties,
    braking,
)
from roboaccord.engines.reading import Mechanism
from roboaccord.numerics.jit import COMPILES
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.joints import StopWatch
from roboaccord.simulators.losses import CHANNELS, Losses, StepMeter

if TYPE_CHECKING:
    from roboaccord.engines.compiled import CompiledForces

APART = 0.01  # s: two things that part for less do not begin to touch again


class PushedLaw:
    """Add constant forces on links' centres of mass to a force law (ForceLaw).

    Args:
        law: that goes on to act, or None.
        pushes: by link, in the world (3,) [N].
    """

    def __init__(self, law: ForceLaw | None, pushes: Mapping[str, Array]) -> None:
        own = tuple(law.links) if law else ()
        self.links = (*own, *(link for link in pushes if link not in own))
        self._law, self._count = law, len(own)
        self._pushes = np.array([pushes.get(link, np.zeros(3)) for link in self.links], float)

    def wrenches(self, motion: LinkMotion) -> tuple[Array, Array]:
        """Return forces (k, 3) [N] and torques about the centres of mass (k, 3) [N m]."""
        forces, torques = self._pushes.copy(), np.zeros((len(self.links), 3))
        if self._law:
            first = slice(self._count)
            own, torques[first] = self._law.wrenches(motion.at(first))
            forces[first] += own
        return forces, torques


class ScaledLaw:
    """Let a force law do more or less to some links (ForceLaw).

    Args:
        law: of the forces.
        factors: by link; 1 for the others.
    """

    def __init__(self, law: ForceLaw, factors: Mapping[str, float]) -> None:
        self.links, self._law = tuple(law.links), law
        self._factors = np.array([[factors.get(link, 1.0)] for link in self.links])

    def wrenches(self, motion: LinkMotion) -> tuple[Array, Array]:
        """Return forces (k, 3) [N] and torques about the centres of mass (k, 3) [N m]."""
        forces, torques = self._law.wrenches(motion)
        return self._factors * forces, self._factors * torques


class EngineSimulator(Simulator):
    """Advance a model in an engine; subclasses hold the engine's own calls.

    Args:
        model: what is simulated.
        tree: in place of the description's, of a twin of which a number is otherwise.

    Attributes:
        mechanism: the engine's own model.
    """

    channels = CHANNELS
    mechanism: Mechanism

    def __init__(self, model: EngineModel, tree: Tree | None = None) -> None:
        self.tree = tree or model.tree
        super().__init__(
            model.joints, model.effort_limits, model.physics_step,
            faults=model.faults, hinges=self.tree.hinges,
        )  # fmt: skip
        self.base = KINDS[model.base]
        self.intended = model
        self._gear = model.gear
        self._braking = braking(model)
        self.restitution = model.restitution
        self._own_law = model.force_law
        self._friction = model.friction
        self._watch = TouchWatch(model.physics_step) if model.contact_events else None
        self._meter: StepMeter | None = None
        self.armature = model.rotors
        self.spring = model.friction.spring if model.friction else None
        self._kinematics = TreeKinematics(self.tree, self.joints)
        self._compiled: CompiledForces | None = None
        self._take_law(self._own_law)
        described = {joint.name: joint for joint in self.tree.moving}
        missing = [name for name in self.joints if name not in described]
        if missing:
            raise AccordError(f"joint {missing[0]} is missing in the description")
        if tree is None:
            if model.root == BASE_LINK:
                check_world(model.urdf, model.base)
            warn_massless(model.urdf, self.tree, model.base)
        self._stops = StopWatch.of(self.tree, self.joints)
        self._acting = self._effort
        self._wrench: Array | None = None

    @abstractmethod
    def _substeps(self, effort: Array, count: int) -> None:
        """Take physics steps under held efforts and wrench, with the force law in each."""

    @abstractmethod
    def contacts(self) -> Sequence[ContactPoint]:
        """Return the contacts of the last physics step, none after a reset."""

    def properties(self) -> Properties:
        """Return the properties of links and joints as the engine has them."""
        links = {k.name: self.mechanism.link(k.name) for k in self.tree.links if k.name != WORLD}
        return Properties(
            links={name: link for name, link in links.items() if link},
            joints={joint.name: self._joint(joint.name) for joint in self.tree.moving},
            gravity=self.mechanism.gravity(),
        )

    def _joint(self, name: str) -> JointProperties:
        """Return the properties of a joint, the friction of the model's own law among them."""
        found, (viscous, dry) = self.mechanism.joint(name), self._braking.get(name, (0.0, 0.0))
        return replace(found, damping=viscous + found.damping, friction=dry + found.friction)

    def parts(self) -> Sequence[EngineSimulator]:
        """Return the simulators of its models: itself alone."""
        return (self,)

    @abstractmethod
    def _constraint_losses(self, before: RobotState, after: RobotState) -> Losses:
        """Return the losses in stops, contacts and their friction in the last physics step [J].

        An impulse P takes -P . (v0 + v1) / 2: that is the change of kinetic energy which is its
        own, where it has changed the velocities from v0 to v1 among others.
        """

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link as the engine has it [kg]."""
        return {name: link.mass for name, link in self.properties().links.items()}

    def _start(self, state: RobotState) -> None:
        self._wrench = None
        if self._watch:
            self._watch.reset()
        self._stops.reset(state.q)
        if self._meter:
            self._meter.reset()
        self._place(state)

    def _advance(self, command: Command, duration: float) -> None:
        self._acting = self._geared(self._effort)
        self._wrench = self._checked(command)
        if self._watch or self._meter:
            self._single_substeps()
        else:
            self._substeps(self._acting, self._steps)

    def _note(self, before: RobotState, after: RobotState) -> None:
        for joint in self._stops.see(after.q):
            self._events.append(self._stops.event(joint, self._time))

    def _single_substeps(self) -> None:
        """Take physics steps one by one; record contacts and losses after each."""
        watch, meter, start = self._watch, self._meter, self.state().time
        for i in range(self._steps):
            before = self._read() if meter else None
            self._substeps(self._acting, 1)
            if watch:
                watch.see(start + i * self.physics_step, self.contacts())
            if meter and before:
                after = self._read()
                meter.see(before, after, self._constraint_losses(before, after))
        if watch:
            self._events += watch.take()

    def meter(self) -> None:
        super().meter()
        self._meter = StepMeter(
            self.tree, self.joints, self.physics_step, self._law, self._friction, self._losses
        )

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
        kept = self.state()
        found = self.mechanism.statics_at(state)
        self._place(kept)
        return found

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        kept = self.state()
        found = self.mechanism.acceleration_at(state, self._geared(effort))
        self._place(kept)
        return found

    def push(self, link: str, force: Array) -> None:
        """Hold a force (3,) [N], in the world, on a link's centre of mass; zeros end it."""
        own = self._own_law
        self._take_law(PushedLaw(own, {link: force}) if np.any(force) else own)
        self._compile()

    def _place_forces(self, *indices: Array | Index) -> None:
        """Take where joints and base are in the engine's arrays, and compile what acts there.

        Args:
            indices: as `CompiledForces` has them: at_q, at_v, rows_q, rows_v; none for an engine
                whose forces Python computes.
        """
        self._indices = indices
        self._compile()
        if self._law and not self._compiled:  # compiles its kernels before the first tick
            rest = np.zeros(len(self.joints))
            self._law_efforts(rest, rest, np.zeros(3), np.eye(3), np.zeros(6))

    def _compile(self) -> None:
        self._compiled = None
        if COMPILES and self._indices and (self._law or self._friction):
            from roboaccord.engines.compiled import compile_forces

            self._compiled = compile_forces(
                self._kinematics, self._law, self._friction, self.base, *self._indices
            )

    def _forces_at(self, effort: Array) -> CompiledForces | None:
        """Return the kernel of the forces with these efforts held; None where Python adds to it."""
        compiled = self._compiled
        if compiled is None or self._wrench is not None:
            return None
        compiled.held[:] = effort
        return compiled

    def _take_law(self, law: ForceLaw | None) -> None:
        names = self._kinematics.names
        self._law = law
        self._links = np.array([names.index(n) for n in law.links] if law else [], int)
        self._forces, self._torques = np.zeros((2, len(names), 3))

    def _geared(self, effort: Array) -> Array:
        return effort if self._gear is None else effort * self._gear

    def _law_efforts(
        self, q: Array, qd: Array, position: Array, rotation: Array, twist: Array
    ) -> tuple[Array, Array]:
        """Return what the force law does: a wrench on the base and efforts on the joints.

        Takes the base's pose and its twist in the world; the wrench (6,), force first, is about
        the base's origin and in the world too.
        """
        assert self._law is not None
        motion, at = self._kinematics.move(q, qd, position, rotation, twist), self._links
        self._forces[at], self._torques[at] = self._law.wrenches(motion.at(at))
        return self._kinematics.efforts(self._forces, self._torques)

    def _checked(self, command: Command) -> Array | None:
        """Return the wrench of a command; refuse what an engine cannot do.

        Raises:
            AccordError: for a twist, or a wrench on a base that does not move by itself.
        """
        if command.twist is not None:
            raise AccordError(
                f"{self.name} takes forces: a commanded twist is for kinematic robots"
            )
        if command.wrench is not None and not self.base.moves:
            raise AccordError(f"{self.name}: a wrench moves nothing where the base is fixed")
        return command.wrench


def engine_parts(simulator: Simulator) -> Sequence[EngineSimulator]:
    """Return the simulators of a simulator's models in an engine; none of other equations."""
    return [part for part in simulator.parts() if isinstance(part, EngineSimulator)]


class Pairs:
    """Know the pairs of a contact in either order.

    Args:
        contact: whose pairs they are.
    """

    def __init__(self, contact: Contact) -> None:
        self._pairs = {frozenset(pair): pair for pair in contact.pairs}

    def has(self, one: str, other: str) -> bool:
        """Return whether two bodies can touch."""
        return frozenset((one, other)) in self._pairs

    def check(self, shaped: Sequence[str]) -> None:
        """Refuse pairs of what has no shape.

        Args:
            shaped: names of all links and fixtures that have one.

        Raises:
            AccordError: naming the first.
        """
        for pair in self._pairs.values():
            for name in pair:
                if name not in shaped:
                    raise AccordError(f"contact of {pair[0]} and {pair[1]}: {name} has no shape")

    def point(
        self, names: tuple[str, str], position: Array, normal: Array, force: float, depth: float
    ) -> ContactPoint:
        """Return a contact point, turned round where the contact names its pair so.

        Takes names and normal in the engine's order; the normal is from its first into its second.
        """
        pair = self._pairs[frozenset(names)]
        return ContactPoint(pair, position, normal if pair == names else -normal, force, depth)


class TouchWatch:
    """Make an event of each pair that begins to touch.

    Args:
        physics_step: [s].
    """

    def __init__(self, physics_step: float) -> None:
        self._step = physics_step
        self._last: dict[tuple[str, str], float] = {}
        self._begun: dict[tuple[str, str], tuple[float, float]] = {}

    def reset(self) -> None:
        """Forget what touched."""
        self._last.clear()
        self._begun.clear()

    def see(self, time: float, points: Sequence[ContactPoint]) -> None:
        """Take the contacts of the physics step that began at `time` [s]."""
        impulses = dict[tuple[str, str], float]()
        for point in points:
            impulses[point.pair] = impulses.get(point.pair, 0.0) + self._step * point.force
        for pair, impulse in impulses.items():
            if time - self._last.get(pair, -1.0) > APART:
                self._begun.setdefault(pair, (time, 0.0))
            self._last[pair] = time
            if pair in self._begun:
                start, so_far = self._begun[pair]
                self._begun[pair] = start, so_far + impulse

    def take(self) -> list[Event]:
        """Return the pairs that began to touch, with their normal impulses since [N s]."""
        events = [
            Event(round(time, 9), "contact", " ".join(pair), impulse)
            for pair, (time, impulse) in self._begun.items()
        ]
        self._begun.clear()
        return events
