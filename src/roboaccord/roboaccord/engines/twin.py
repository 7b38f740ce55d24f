"""Twin of an engine: our equations of motion under the engine's own scheme and physics step.

A scheme may be added: a field of `Scheme` in spec.py and a branch here, exact to round-off
(test_scheme runs each engine beside its twin). A parameter that a cause may be sought in is a name
in GROUND, OF_JOINTS or OF_LINKS, a branch of `varied` that undoes it in `finally` (test_restored),
and a hypothesis in crosscheck/hypotheses.py. Those names stay, for reports have them; CUT_OFF is
fixed by DART, SMALL and ROUNDING by round-off; CREEP may be tuned.

Where no contact and no stop acts, an engine and its twin agree to round-off, tick by tick, so that
an error shows whatever its size is beside what time stepping explains. A twin is an engine itself,
so that a robot makes it as it makes any.

On rotations the Runge-Kutta method is that of Munthe-Kaas [1999], or it steps the numbers of the
quaternion.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.contact import ContactPoint, EllipseFriction, Index
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration, Engine
from roboaccord.contract.state import Array, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.engines import spec
from roboaccord.engines.base import EngineSimulator, PushedLaw, ScaledLaw
from roboaccord.engines.grip import Grip
from roboaccord.engines.model import EngineModel
from roboaccord.engines.spec import EngineSpec, Footing, Scheme
from roboaccord.numerics.jit import COMPILES
from roboaccord.numerics.rotations import (
    matrix_quaternion,
    quaternion_matrix,
    quaternion_product,
    quaternion_yaw,
    turn_quaternion,
    turn_twist,
)
from roboaccord.simulators.base import Ends
from roboaccord.simulators.joints import LOCK_INERTIA, JointFriction
from roboaccord.simulators.losses import Losses

WEIGHTS = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0
STAGES = (0.5, 0.5, 1.0)  # parts of the step at which stages after the first stand
SMALL = 1e-4  # rad: below it a series stands for the differential of a turn
CREEP = 1e-3  # rad/s: below it dry friction falls to 0 where the model has none
CUT_OFF = 1e-3  # rad: below it DART takes two orders of the exponential (dart/math/Geometry.cpp)
EVERY = "*"  # joint or link
GROUND = ("friction along", "friction across", "slip speed")
OF_JOINTS = ("gear", "damping", "dry friction", "armature", "origin")
OF_LINKS = ("mass", "centre", "inertia")
OF_FEET = ("friction",)  # of links on which a force law acts
UPWARDS = 2  # axis
ROUNDING = 2.0**-52
NO_TABLE = np.zeros(0, np.int64)


class Place(NamedTuple):
    """Hold the coordinates of a tree, or of many, or their changes by time."""

    q: Array
    position: Array
    orientation: Array

    @property
    def turn(self) -> Array:
        """Rotation of the base, whatever the length of its quaternion (..., 3, 3)."""
        return quaternion_matrix(unit(self.orientation))


def unit(vectors: Array) -> Array:
    """Return vectors (..., m) of length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def turned(turn: Array, vector: Array) -> Array:
    """Return vectors (..., 3) turned by matrices (..., 3, 3)."""
    return np.asarray((turn @ vector[..., None])[..., 0])


def turned_back(turn: Array, vector: Array) -> Array:
    """Return vectors (..., 3) turned by the inverses of matrices (..., 3, 3)."""
    return np.asarray((vector[..., None, :] @ turn)[..., 0, :])


def inverse_differential(since: Array, rate: Array) -> Array:
    """Return how a rotation vector (3,) changes at an angular velocity in its own axes (3,)."""
    angle = float(np.linalg.norm(since))
    once = np.cross(since, rate)
    share = (1.0 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2 if angle > SMALL else 1.0 / 12.0
    return np.asarray(rate + 0.5 * once + share * np.cross(since, once))


def scaled_ground(law: EllipseFriction, quantity: str, factor: float) -> EllipseFriction:
    """Return a friction law of which one quantity of GROUND is larger by a factor."""
    found = copy.deepcopy(law)
    if quantity == "slip speed":
        found.slip_speed *= factor
    else:
        found.mu[GROUND.index(quantity)] *= factor
    return found


class Twin(EngineSimulator):
    """Advance a model without contact and stops by a scheme (Simulator).

    Args:
        model: what is simulated.
        scheme: of the engine.
        shaken: seed by which all numbers of the bodies, and the mass matrix, are changed by a
            rounding; 0 for none.
        footing: where friction sticks.

    Attributes:
        stopped: whether a joint has been about to be at its stop since the last reset.

    Raises:
        AccordError: for uncommanded joints, or a ball in a second tree.
    """

    name = "twin"
    version = ""

    def __init__(
        self,
        model: EngineModel,
        scheme: Scheme,
        shaken: int = 0,
        footing: Footing | None = None,
    ) -> None:
        law = model.force_law if footing else None
        super().__init__(replace(model, force_law=None) if law else model)
        idle = [joint.name for joint in self.tree.moving if joint.name not in self.joints]
        if idle or self.tree.frame:
            raise AccordError(f"{idle[0]} moves freely" if idle else "a ball stands in a frame")
        self.scheme, self.stopped = scheme, False
        self.order = 1 if scheme.kind == "semi-implicit Euler" else 4
        self._own = scheme.linear == "own" and self.base.tilts, scheme.angular == "own"
        self._turning = scheme.turning if self.base.tilts else "rotation vector"
        self._bodies = TreeDynamics(self.tree, self.joints, model.base, model.gravity)
        self._rng = np.random.default_rng(shaken) if shaken else None
        if self._rng:
            self._bodies.shake(self._rng, ROUNDING)
        for joint in range(len(self.joints)):
            self.lock(joint, False)
        size, n = len(self.base.axes) if not self.base.tilts else 0, len(self.joints)
        self._all = np.zeros((3, size + n))
        at, rows = np.arange(size + n)[size:], np.arange(size)
        self._place_forces(at, at, rows, rows)
        self._grip: Grip | None = None
        if footing and isinstance(law, EllipseFriction):
            self._grip = Grip(footing, law, self._kinematics, self._rounding)
        self._place(RobotState(0.0, *np.zeros((3, n))))

    @property
    def links(self) -> list[str]:
        """Names of the links that weigh anything and move."""
        return self._bodies.links

    @property
    def feet(self) -> Sequence[str]:
        """Names of the links on which friction acts."""
        law = self._grip.law if self._grip else self._law
        return law.links if law else ()

    @contextmanager
    def varied(self, quantity: str, where: str, axis: int, size: float) -> Iterator[None]:
        """Change a parameter by a size for a while, where this model has it.

        Args:
            quantity: `gravity`, or one of OF_LINKS, OF_FEET, OF_JOINTS or GROUND.
            where: joint or link, EVERY; "" for what there is one of.
            axis: of a link's centre, a joint's origin or gravity, component of an inertia.
            size: part of the parameter, or an addend in its unit.

        Raises:
            AccordError: for a model that cannot be; the twin is as it was.
            RuntimeError: if it cannot be made that again.
        """
        gear, friction, law, rotors = self._gear, self._friction, self._law, self.armature
        grip = self._grip
        sliding, shares = (grip.law, grip.shares) if grip else (law, np.ones(0))

        def restore() -> None:  # after the bodies are as they were
            if grip and isinstance(sliding, EllipseFriction):
                grip.law, grip.shares = sliding, shares
            self._gear, self._friction = gear, friction
            try:
                self._arm(rotors)
                self._take_law(law)
                self._compile()
            except AccordError as error:  # which would count as that of a model that cannot be
                raise RuntimeError(f"the twin is not as it was: {error}") from error

        joint = np.array([where in (name, EVERY) for name in self.joints], float)
        with ExitStack() as stack:
            stack.callback(restore)
            if quantity in OF_LINKS:
                for name in self.links:
                    if where in (name, EVERY):
                        stack.enter_context(self._bodies.changed(name, quantity, axis, size))
                        if quantity == "centre":
                            stack.enter_context(self._kinematics.shifted(name, axis, size))
            elif quantity in OF_FEET and sliding and where in sliding.links:
                if grip:
                    on = np.array(sliding.links) == where
                    grip.shares = grip.shares * (1.0 + size * on)
                else:
                    self._take_law(ScaledLaw(sliding, {where: 1.0 + size}))
            elif quantity == "origin":
                for column in np.flatnonzero(joint).tolist():
                    stack.enter_context(self._bodies.moved(column, axis, size))
                    stack.enter_context(self._kinematics.moved(column, axis, size))
            elif quantity == "gear":
                self._gear = (1.0 if self._gear is None else self._gear) * (1.0 + size * joint)
            elif quantity in ("damping", "dry friction"):
                brake = self._friction or JointFriction(0.0 * joint, 0.0 * joint, CREEP)
                dry = size * joint if quantity == "dry friction" else 0.0 * joint
                viscous, sticking = brake.viscous + size * joint - dry, brake.stiction
                if sticking is not None:
                    sticking = sticking + dry
                self._friction = replace(
                    brake, viscous=viscous, constant=brake.constant + dry, stiction=sticking
                )
                self._arm(rotors)
            elif quantity == "armature":
                self._arm(self.armature + size * joint)
            elif quantity == "gravity" and axis == UPWARDS:
                stack.enter_context(self._bodies.falling(size))
            elif quantity == "gravity":
                pull = size * self.intended.gravity * np.eye(3)[axis]
                self._take_law(
                    PushedLaw(self._law, {k.name: k.mass * pull for k in self.tree.links if k.mass})
                )
            elif isinstance(sliding, EllipseFriction) and quantity in GROUND:
                ground = scaled_ground(sliding, quantity, 1.0 + size)
                if grip:
                    grip.law = ground
                else:
                    self._take_law(ground)
            self._compile()
            yield

    def _arm(self, armature: Array) -> None:
        """Take other inertias of the rotors; joints are free until the next reset."""
        if armature is not self.armature or self.scheme.damping:
            self.armature = armature
            for joint in range(len(self.joints)):
                self.lock(joint, False)

    def lock(self, joint: int, locked: bool) -> None:
        inertia = self.armature[joint]
        if self.scheme.damping and self._friction:  # (M + h D) a = f
            inertia = inertia + self.physics_step * self._friction.viscous[joint]
        self._bodies.lock(joint, LOCK_INERTIA if locked else inertia)

    def contacts(self) -> Sequence[ContactPoint]:
        """Return nothing: there is no contact."""
        return ()

    def _start(self, state: RobotState) -> None:
        self.stopped = False
        super()._start(state)

    def _place(self, state: RobotState) -> None:
        self._x, self._v = self._of(state)

    def _of(self, motion: RobotState | Trajectory) -> tuple[Place, Array]:
        """Return coordinates and rates (..., 6 + n) of a state, or of samples."""
        turn, twist = quaternion_matrix(motion.orientation), motion.twist
        both = (turned(turn, twist[..., part]) for part in (slice(3), slice(3, 6)))
        rates = np.concatenate([*self._stepped(turn, *both), motion.qd], axis=-1)
        return Place(*map(np.array, (motion.q, motion.position, motion.orientation))), rates

    def _motion(self, x: Place, v: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Return q, qd, position, orientation and twist of coordinates and rates (..., 6 + n)."""
        turn = x.turn
        both = (turned_back(turn, each) for each in self._in_world(turn, v))
        twist = np.concatenate([*both], axis=-1)
        return x.q, v[..., 6:].copy(), x.position, unit(x.orientation), twist

    def _read(self) -> RobotState:
        q, qd, *base = self._motion(self._x, self._v)
        position, orientation, twist = base
        return RobotState(self._time, q, qd, self._effort, position, orientation, twist)

    def _stepped(self, turn: Array, linear: Array, angular: Array) -> tuple[Array, Array]:
        """Return vectors in the world in the axes in which they are stepped."""
        both = zip((linear, angular), self._own, strict=True)
        linear, angular = (turned_back(turn, each) if own else each for each, own in both)
        return linear, angular

    def _in_world(self, turn: Array, v: Array) -> tuple[Array, Array]:
        """Return linear and angular velocity in the world of rates (..., 6 + n)."""
        both = zip((v[..., :3], v[..., 3:6]), self._own, strict=True)
        linear, angular = (turned(turn, each) if own else each for each, own in both)
        return linear, angular

    def _slope(self, x: Place, v: Array, *, loaded: bool = True) -> Array:
        """Return how the rates change (6 + n,), with the force laws at these coordinates."""
        turn, qd = x.turn, v[6:]
        linear, angular = self._in_world(turn, v)
        twist = np.concatenate([linear, angular])
        wrench, effort = np.zeros(6), np.zeros(len(qd))
        if loaded:
            wrench, effort = self._loads(x, turn, twist, qd)
        found = self._bodies.acceleration(x.q, qd, effort, x.position, turn, twist, wrench)
        if self._rng:
            found = self._solved_again(x, turn, found)
        straight, bent = found.base[:3], found.base[3:]
        if self._own[0]:
            straight = straight - np.cross(angular, linear)
        return np.concatenate([*self._stepped(turn, straight, bent), found.joints])

    def _at_the_end(self, slope: Array, h: float) -> Array:
        """Return a slope (6 + n,) with Coriolis forces at the end of the step.

        They are quadratic in the rates, so that central differences of any length are exact.
        """
        x, v = self._x, self._v
        derivative = np.zeros((len(v), len(v)))
        for i in [*self.base.axes, *range(6, len(v))]:
            unit = np.zeros(len(v))
            unit[i] = 1.0
            ends = (self._slope(x, v + side * unit, loaded=False) for side in (0.5, -0.5))
            derivative[:, i] = np.subtract(*ends)
        return np.asarray(np.linalg.solve(np.eye(len(v)) - h * derivative, slope))

    def _rounding(self, matrix: Array) -> Array:
        """Return random roundings of a positive definite matrix; zeros where nothing is shaken."""
        if not self._rng:
            return np.zeros_like(matrix)
        size = np.sqrt(np.diag(matrix))
        error = ROUNDING * self._rng.uniform(-1.0, 1.0, matrix.shape)
        return np.asarray(error * np.outer(size, size))

    def _solved_again(self, x: Place, turn: Array, found: Acceleration) -> Acceleration:
        """Return what a mass matrix with other roundings makes of the same forces."""
        mass, axes = self._bodies.mass_matrix(x.q, x.position, turn), list(self.base.axes)
        error = self._rounding(mass)
        whole = np.concatenate([found.base[axes], found.joints])
        whole = whole - np.linalg.solve(mass, error @ whole)
        base = np.zeros(6)
        base[axes], joints = whole[: len(axes)], whole[len(axes) :]
        return Acceleration(base, joints)

    def _loads(self, x: Place, turn: Array, twist: Array, qd: Array) -> tuple[Array, Array]:
        """Return the wrench on the base (6,) and the efforts (n,), the force laws' among them."""
        wrench = np.zeros(6) if self._wrench is None else np.array(self._wrench)
        if compiled := self._forces_at(self._acting):
            positions, velocities, forces = self._all
            size = len(forces) - len(qd)
            if size:
                positions[:3] = *x.position[:2], quaternion_yaw(x.orientation)
                velocities[:3] = twist[[0, 1, 5]]
            positions[size:], velocities[size:] = x.q, qd
            compiled.apply(positions, velocities, forces)
            wrench[[0, 1, 5][:size]] = forces[:size]
            return wrench, forces[size:]
        effort = self._acting
        if self._law:
            pushed, own = self._law_efforts(x.q, qd, x.position, turn, twist)
            wrench, effort = wrench + pushed, effort + own
        if self._friction:
            effort = effort + self._friction.efforts(qd)
        return wrench, effort

    def _change(self, x: Place, v: Array, since: Array) -> Place:
        """Return how coordinates change at rates v (6 + n,).

        Args:
            x: coordinates.
            v: rates.
            since: rotation vector since the start of the step, in the base's own axes (3,).
        """
        turn = x.turn
        linear, angular = self._in_world(turn, v)
        if self._turning == "quaternion":
            turning = 0.5 * quaternion_product(np.array([*angular, 0.0]), x.orientation)
        else:
            own = angular @ turn
            turning = inverse_differential(since, own) if self.base.tilts else own
        return Place(v[6:], linear, turning)

    def _moved(self, x: Place, change: Place, h: float) -> Place:
        """Return coordinates after h [s] of a change."""
        q, position = x.q + h * change.q, x.position + h * change.position
        if self._turning == "quaternion":
            return Place(q, position, x.orientation + h * change.orientation)
        turn = h * change.orientation
        if self._turning == "cut off" and np.linalg.norm(turn) < CUT_OFF:
            cross = np.cross(np.eye(3), turn)
            turned = matrix_quaternion(x.turn @ (np.eye(3) + cross + 0.5 * cross @ cross))
        else:
            turned = quaternion_product(x.orientation, turn_quaternion(turn))
        return Place(q, position, turned)

    @property
    def _compiles(self) -> bool:
        """Whether a kernel takes the steps: it knows level bases, and some forces."""
        plain = not (self.base.tilts or self._rng or self._grip or self.scheme.implicit)
        known = self._compiled is not None or not (self._law or self._friction)
        return COMPILES and plain and known and self._wrench is None

    def _advance_rows(
        self, x: Place, v: Array, effort: Array, counts: Index, stopped: NDArray[np.bool_]
    ) -> tuple[Place, Array]:
        """Return coordinates and rates (k, ...) that some steps make of others; see the kernel."""
        from roboaccord.engines.twin_steps import advance_twins

        table, held = NO_TABLE, np.zeros(len(self.joints))
        if self._compiled is not None:
            table, held = self._compiled.table, self._compiled.held
        rows = np.concatenate([x.position, x.orientation, x.q, v], axis=1)
        advance_twins(
            *self._bodies.arrays, table, (*self._all, held), rows, effort, self.physics_step,
            counts, self.order, *self._stops.limits, stopped,
        )  # fmt: skip
        position, orientation, q, v = np.split(rows, [3, 7, 7 + len(held)], axis=1)
        return Place(q, position, orientation), v

    def _ends(
        self, starts: Trajectory, efforts: Sequence[Array], counts: Sequence[Index]
    ) -> Ends | None:
        self._wrench = None
        if not self._compiles:
            return None
        (x, v), stopped = self._of(starts), np.zeros(len(starts), bool)
        for effort, count in zip(efforts, counts, strict=True):
            x, v = self._advance_rows(x, v, self._geared(effort), count, stopped)
        return Ends(*self._motion(x, v), stopped)

    def _substeps(self, effort: Array, count: int) -> None:
        if self._compiles:
            stopped = np.array([self.stopped])
            rows = Place(*(each[None] for each in self._x)), self._v[None], effort[None]
            x, v = self._advance_rows(*rows, np.array([count]), stopped)
            self._x, self._v, self.stopped = Place(*(each[0] for each in x)), v[0], bool(stopped[0])
            return
        h = self.physics_step
        for _ in range(count):
            self._look_at_stops()
            if self.order == 1:
                slope = self._slope(self._x, self._v)
                if self.scheme.implicit:
                    slope = self._at_the_end(slope, h)
                if self._grip:
                    self._v = self._held(self._grip, slope, h)
                else:
                    self._v = self._v + h * slope
                self._x = self._moved(self._x, self._change(self._x, self._v, np.zeros(3)), h)
            else:
                self._runge_kutta(h)
        self._look_at_stops()

    def _held(self, grip: Grip, slope: Array, h: float) -> Array:
        """Return the rates (6 + n,) after a step in which friction sticks."""
        x, v = self._x, self._v.copy()
        turn, moving = x.turn, [*self.base.axes, *range(6, len(v))]
        mass = self._bodies.mass_matrix(x.q, x.position, turn)
        v[2], impulses = grip.rise(x.position[2], v[2], mass[0, 0], self._bodies.gravity, h)
        added = self._rounding(mass)
        added[[0, 1], [0, 1]] += grip.carried
        mass = mass + added
        free = slope[moving] - np.linalg.solve(mass, added @ slope[moving])
        motion = self._kinematics.move(x.q, v[6:], x.position, turn, v[:6])
        v[moving] += h * free
        if self.scheme.damping and self._friction:  # impulses meet the bodies without it
            joints = np.arange(len(self.base.axes), len(moving))
            mass[joints, joints] -= h * self._friction.viscous
        v[moving] += grip.hold(motion, mass, v[moving], impulses)
        return v

    def _look_at_stops(self) -> None:
        """Note a joint that is beyond its stop, or would be two steps on: engines look ahead."""
        q, qd = self._x.q, self._v[6:]
        for ahead in (0.0, 2.0 * self.physics_step):
            self.stopped = self.stopped or bool(self._stops.beyond(q + ahead * qd))

    def _runge_kutta(self, h: float) -> None:
        x, v = self._x, self._v
        changes, slopes = [self._change(x, v, np.zeros(3))], [self._slope(x, v)]
        for part in STAGES:
            stage, rates = self._moved(x, changes[-1], part * h), v + part * h * slopes[-1]
            since = part * h * changes[-1].orientation[:3]
            changes.append(self._change(stage, rates, since))
            slopes.append(self._slope(stage, rates))
        mean = Place(*(WEIGHTS @ np.array(parts) for parts in zip(*changes, strict=True)))
        self._x, self._v = self._moved(x, mean, h), v + h * (WEIGHTS @ np.array(slopes))

    def _statics_at(self, state: RobotState) -> tuple[Array, Array]:
        at = state.q, state.position, quaternion_matrix(state.orientation)
        return self._bodies.mass_matrix(*at), self._bodies.gravity_forces(*at)

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        turn = quaternion_matrix(state.orientation)
        motion = state.position, turn, turn_twist(turn, state.twist)
        return self._bodies.acceleration(state.q, state.qd, self._geared(effort), *motion)

    def _constraint_losses(self, before: RobotState, after: RobotState) -> Losses:
        return Losses()


@dataclass(frozen=True, kw_only=True)
class TwinSpec(EngineSpec):
    """Specify the twin of an engine, in whose place it stands; `twin_of` makes it."""

    shaken: int = 0

    def simulate(self, model: EngineModel) -> EngineSimulator:
        """Make the twin of one model.

        Raises:
            AccordError: with the reason why there is none.
        """
        self.check(model)
        if self.scheme is None:
            raise AccordError(f"the integration scheme of {self.name} is not specified")
        return Twin(model, self.scheme(self.configured(model)), self.shaken, self.footing)


def twin_of(engine: Engine, shaken: int = 0) -> TwinSpec:
    """Return the twin of an engine, as it is without deliberate errors.

    Args:
        engine: by name or specification.
        shaken: seed by which the bodies' numbers are changed by a rounding; 0 for none.
    """
    return TwinSpec.of(spec(engine), shaken=shaken)
