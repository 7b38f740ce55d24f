"""Twin of an engine: our equations of motion under the engine's own scheme and physics step.

A scheme may be added: a field of `Scheme` in spec.py and a branch here, exact to round-off
(test_scheme runs each engine beside its twin). CUT_OFF is fixed by DART, SMALL and ROUNDING by
round-off. A twin of which a number is otherwise is another twin: deviations.py.

Where no contact and no stop acts, an engine and its twin agree to round-off, tick by tick, so that
an error shows whatever its size is beside what time stepping explains. A twin is an engine itself,
so that a robot makes it as it makes any.

On rotations the Runge-Kutta method is that of Munthe-Kaas [1999], or it steps the numbers of the
quaternion.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.deviations import (
    GROUND,
    OF_FEET,
    ModelChange,
    deviating,
    deviating_tree,
    scaled_ground,
)
from roboaccord.engines.grip import Grip
from roboaccord.engines.model import EngineModel
from roboaccord.engines.spec import EngineSpec, Scheme
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
from roboaccord.simulators.joints import LOCK_INERTIA
from roboaccord.simulators.losses import Losses

WEIGHTS = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0
STAGES = (0.5, 0.5, 1.0)  # parts of the step at which stages after the first stand
SMALL = 1e-4  # rad: below it a series stands for the differential of a turn
CUT_OFF = 1e-3  # rad: below it DART takes two orders of the exponential (dart/math/Geometry.cpp)
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


class Twin(EngineSimulator):
    """Advance a model without contact and stops by a scheme (Simulator).

    Args:
        model: what is simulated.
        scheme: of the engine.
        shaken: seed by which all numbers of the bodies, and the mass matrix, are changed by a
            rounding; 0 for none.
        off: numbers that are otherwise.

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
        off: Sequence[ModelChange] = (),
    ) -> None:
        self._described, footing = model, scheme.footing
        law, tree, shares = model.force_law if footing else None, None, dict[str, float]()
        model = replace(model, force_law=None) if law else model
        for one in off:
            tree = deviating_tree(tree or model.tree, one)
            if law and one.quantity in OF_FEET:
                shares[one.where] = shares.get(one.where, 1.0) * (1.0 + one.size)
            elif isinstance(law, EllipseFriction) and one.quantity in GROUND:
                law = scaled_ground(law, one.quantity, 1.0 + one.size)
            else:
                model = deviating(model, tree, one)
        super().__init__(model, tree)
        idle = [joint.name for joint in self.tree.moving if joint.name not in self.joints]
        if idle or self.tree.frame:
            raise AccordError(f"{idle[0]} moves freely" if idle else "a ball stands in a frame")
        self.scheme, self.stopped = scheme, False
        self.order = 1 if scheme.kind == "semi-implicit Euler" else 4
        self._own = scheme.linear == "own" and self.base.tilts, scheme.angular == "own"
        self._turning = scheme.turning if self.base.tilts else "rotation vector"
        self._bodies = TreeDynamics(
            self.tree, self.joints, model.base, model.gravity, sure=bool(off)
        )
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
            self._grip.shares = np.array([shares.get(link, 1.0) for link in law.links])
        self._place(RobotState(0.0, *np.zeros((3, n))))

    def otherwise(self, off: Sequence[ModelChange]) -> Twin:
        """Return another twin of the model, with numbers that are otherwise."""
        return Twin(self._described, self.scheme, off=off)

    @property
    def links(self) -> list[str]:
        """Names of the links that weigh anything and move."""
        return self._bodies.links

    @property
    def feet(self) -> Sequence[str]:
        """Names of the links on which friction acts."""
        law = self._grip.law if self._grip else self._law
        return law.links if law else ()

    def lock(self, joint: int, locked: bool) -> None:
        more = self.intended.armature  # beside that of the tree
        inertia = 0.0 if more is None else more[joint]
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
        q, qd, position, orientation, twist = self._motion(self._x, self._v)
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
            effort = self._friction.add(effort, x.q, qd)
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
        # A copy, for a kernel would be compiled once more for what is read-only.
        advance_twins(
            *self._bodies.arrays, table, (*self._all, held), rows, effort.copy(), self.physics_step,
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
    off: tuple[ModelChange, ...] = ()

    def simulate(self, model: EngineModel) -> EngineSimulator:
        """Make the twin of one model.

        Raises:
            AccordError: with the reason why there is none.
        """
        self.check(model)
        if self.scheme is None:
            raise AccordError(f"the integration scheme of {self.name} is not specified")
        scheme = self.scheme(self.configured(model))
        return Twin(model, scheme, self.shaken, self.off)


def twin_of(engine: Engine, shaken: int = 0, off: Sequence[ModelChange] = ()) -> TwinSpec:
    """Return the twin of an engine, as it is without deliberate errors.

    Args:
        engine: by name or specification.
        shaken: seed by which the bodies' numbers are changed by a rounding; 0 for none.
        off: numbers that are otherwise.
    """
    return TwinSpec.of(spec(engine), shaken=shaken, off=tuple(off))
