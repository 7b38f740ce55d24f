"""Twin of an engine: our own equations of motion, stepped by the engine's integration method.

A twin takes the same physics steps as the engine, with the same integration method (`Scheme` in
spec.py), but computes the accelerations with `TreeDynamics`. As long as no contact and no stop
acts, engine and twin therefore agree to round-off after every control tick (a call of `step`), and
an error of the engine shows even if it is far smaller than the error of time stepping. The level
`scheme` of the cross-check compares the two. A twin is itself an `EngineSimulator`, so that robots
make it like any other engine; `twin_of` returns its specification.

`Twin` takes its steps in Python, or in the compiled kernel of twin_steps.py where that knows the
model (`_compiles`). Conversion of coordinates is in twin_coordinates.py, friction that sticks in
grip.py, and changed numbers in deviations.py. A scheme may be added as a field of `Scheme` and a
branch here or in twin_coordinates.py; it must be exact to round-off (test_scheme).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from roboaccord.contract.contact import FreeBody, Index, Mask
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration, Engine
from roboaccord.contract.sliding_friction import EllipseFriction
from roboaccord.contract.state import Array, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.engines import spec
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.deviations import ModelChange, deviate
from roboaccord.engines.grip import Grip
from roboaccord.engines.model import EngineModel
from roboaccord.engines.spec import EngineSpec, Scheme
from roboaccord.engines.twin_coordinates import Coordinates, SteppedAxes, implicit_slope
from roboaccord.engines.twin_rounding import ROUNDING, Roundings
from roboaccord.numerics import COMPILES, quaternion_matrix, quaternion_yaw
from roboaccord.simulators import LOCK_INERTIA, Ends, Losses

# [physics steps] A joint that would reach its stop within this time counts as stopped, because an
# engine may act on a stop before the joint has reached it.
LOOK_AHEAD = 2.0
PLANAR_ROWS = [0, 1, 5]  # x, y and yaw among the components of a twist or wrench (6,)


class Twin(EngineSimulator):
    """Advance a model without contact and stops by a scheme (Simulator).

    From `EngineSimulator` it has what acts on the robot: `_acting`, the efforts held in this
    control tick (n,), already multiplied by gears (`_geared`); `_wrench`, that on the base (6,) or
    None; the force law `_law` and the joints' friction `_friction`, or None; and `_compiled`, the
    kernel of both, where there is one.

    Args:
        model: the model with n joints that is simulated.
        scheme: integration method of the engine.
        seed: seed of random roundings of all numbers of the bodies and of the mass matrix, by
            which the effect of round-off is measured; 0 for none.
        changes: numbers of the model that differ in this twin.
        rounding: of the engine's arithmetic (`EngineSpec.rounding`).

    Attributes:
        stopped: whether a joint has reached its stop, or was about to, since the last reset.
        order: order of the integration method, 1 or 4.

    Raises:
        AccordError: for joints without commands, or a ball in a second tree.
    """

    name = "twin"
    version = ""

    def __init__(
        self,
        model: EngineModel,
        scheme: Scheme,
        seed: int = 0,
        changes: Sequence[ModelChange] = (),
        rounding: float = ROUNDING,
    ) -> None:
        self._unchanged_model = model
        changed = deviate(model, changes, sticks=scheme.footing is not None)
        super().__init__(changed.model, changed.tree)
        # A twin moves one tree, all joints of which take commands.
        idle = [joint.name for joint in self.tree.moving if joint.name not in self.joints]
        if idle or self.tree.frame:
            raise AccordError(f"{idle[0]} moves freely" if idle else "a ball stands in a frame")
        self.scheme = scheme
        self.order = 1 if scheme.kind == "semi-implicit Euler" else 4
        self._axes = SteppedAxes(scheme, self.base)
        # Equations of motion, with the inertia of rotors that `lock` adds to joints. Inertias of
        # a changed model are not checked again: its original has passed the check.
        gravity = changed.model.gravity
        self._bodies = TreeDynamics(self.tree, self.joints, model.base, gravity, sure=bool(changes))
        self._roundings = Roundings(seed, rounding)
        self._roundings.round_bodies(self._bodies)
        for joint in range(len(self.joints)):
            self.lock(joint, False)
        # Positions, velocities and forces for the compiled forces: 3 coordinates of a planar base,
        # or none of another, then n of the joints.
        base_size = 0 if self.base.tilts else len(self.base.axes)
        self._force_arrays = np.zeros((3, base_size + len(self.joints)))
        base_rows, joint_rows = np.split(np.arange(self._force_arrays.shape[1]), [base_size])
        self._prepare_forces(joint_rows, joint_rows, base_rows, base_rows)
        self._grip: Grip | None = None
        footing, law = scheme.footing, changed.sticking_law
        if footing and isinstance(law, EllipseFriction):
            self._grip = Grip(footing, law, self._kinematics, self._bodies, self._roundings.draw)
            self._grip.factors = np.array([changed.factors.get(link, 1.0) for link in law.links])
        # Coordinates and rates, in the axes that the scheme steps.
        self._place(RobotState(0.0, *np.zeros((3, len(self.joints)))))

    def otherwise(self, changes: Sequence[ModelChange]) -> Twin:
        """Return a twin of the same model and scheme in which other numbers are changed."""
        return Twin(self._unchanged_model, self.scheme, changes=changes)

    @property
    def links(self) -> list[str]:
        """Names of the links that have mass and move."""
        return self._bodies.links

    @property
    def feet(self) -> Sequence[str]:
        """Names of the links on which friction acts."""
        law = self._grip.law if self._grip else self._law
        return law.links if law else ()

    def lock(self, joint: int, locked: bool) -> None:
        """Lock a joint by a large inertia on its axis, or release it."""
        armature = self.intended.armature  # in addition to the rotors that the tree describes
        inertia = 0.0 if armature is None else armature[joint]
        if self.scheme.damping and self._friction:  # (M + h D) a = f
            inertia = inertia + self.physics_step * self._friction.viscous[joint]
        self._bodies.lock(joint, LOCK_INERTIA if locked else inertia)

    def _start(self, state: RobotState) -> None:
        """Start a run in a state."""
        self.stopped = False
        super()._start(state)

    def _place(self, state: RobotState) -> None:
        """Take over the motion of a state."""
        self._x, self._v = self._axes.coordinates_of(state)

    def _read(self) -> RobotState:
        """Return the present state."""
        q, qd, position, orientation, twist = self._axes.motion_of(self._x, self._v)
        return RobotState(self._time, q, qd, self._effort, position, orientation, twist)

    def _slope(self, x: Coordinates, v: Array, *, loaded: bool = True) -> Array:
        """Return the derivative of the rates (6 + n,) at coordinates and rates.

        Args:
            x: coordinates.
            v: rates, in the axes that the scheme steps.
            loaded: whether efforts, wrench and force laws act.
        """
        rotation, qd = x.rotation, v[6:]
        twist = np.concatenate(self._axes.in_world(rotation, v))
        wrench, effort = self._loads(x, rotation, twist, qd) if loaded else (np.zeros(6), 0.0 * qd)
        bodies = self._bodies
        acceleration = bodies.acceleration(x.q, qd, effort, x.position, rotation, twist, wrench)
        if self._roundings:
            mass = bodies.mass_matrix(x.q, rotation)
            acceleration = self._roundings.perturbed(acceleration, mass, self.base.axes)
        base = self._axes.base_slope(rotation, twist, acceleration.base)
        return np.concatenate([*base, acceleration.joints])

    def _loads(
        self, x: Coordinates, rotation: Array, twist: Array, qd: Array
    ) -> tuple[Array, Array]:
        """Return the wrench on the base (6,) and the efforts (n,), with those of the force laws.

        Args:
            x: coordinates.
            rotation: that of `x` as a matrix (3, 3), which the caller has computed already.
            twist: twist of the base in the world (6,).
            qd: rates of the joints (n,).
        """
        wrench = np.zeros(6) if self._wrench is None else np.array(self._wrench)
        if compiled := self._compiled_forces(self._acting):
            positions, velocities, forces = self._force_arrays
            base_size = len(forces) - len(qd)
            if base_size:
                positions[:3] = *x.position[:2], quaternion_yaw(x.orientation)
                velocities[:3] = twist[PLANAR_ROWS]
            positions[base_size:], velocities[base_size:] = x.q, qd
            compiled.apply(positions, velocities, forces)
            wrench[PLANAR_ROWS[:base_size]] = forces[:base_size]
            return wrench, forces[base_size:]
        effort = self._acting
        if self._law:
            on_base, on_joints = self._law_efforts(x.q, qd, x.position, rotation, twist)
            wrench, effort = wrench + on_base, effort + on_joints
        if self._friction:
            effort = self._friction.add(effort, x.q, qd)
        return wrench, effort

    @property
    def _compiles(self) -> bool:
        """Whether the kernel can take the steps, which knows no tilted base and not all forces."""
        is_known = not (self.base.tilts or self._roundings or self._grip or self.scheme.implicit)
        forces_compile = self._compiled is not None or not (self._law or self._friction)
        return COMPILES and is_known and forces_compile and self._wrench is None

    def _advance_states(
        self, x: Coordinates, v: Array, effort: Array, counts: Index, stopped: Mask
    ) -> tuple[Coordinates, Array]:
        """Return the coordinates and rates of k states (k, ...) after steps in the kernel.

        Args:
            x, v: coordinates and rates at the start (k, ...).
            effort: held efforts (k, n).
            counts: numbers of physics steps (k,).
            stopped: set where a joint reaches its stop or is about to (k,).
        """
        from roboaccord.engines.twin_steps import advance_twins

        table, held = np.zeros(0, np.int64), np.zeros(len(self.joints))  # if only efforts act
        if self._compiled is not None:
            table, held = self._compiled.table, self._compiled.held
        states = np.concatenate([x.position, x.orientation, x.q, v], axis=1)
        # A copy: for a read-only array the kernel would be compiled once more.
        efforts, forces = effort.copy(), (table, *self._force_arrays, held)
        bodies, limits, h = self._bodies.arrays, self._stops.limits, self.physics_step
        advance_twins(bodies, forces, states, efforts, h, counts, self.order, limits, stopped)
        position, orientation, q, v = np.split(states, [3, 7, 7 + len(held)], axis=1)
        return Coordinates(q, position, orientation), v

    def _ends(self, starts: Trajectory, efforts: list[Array], counts: list[Index]) -> Ends | None:
        """Return the ends of many motions, all in one call of the kernel; None without a kernel.

        Args:
            starts: states at the start (k samples).
            efforts: held efforts of each motion in one tick (k, n), tick by tick.
            counts: physics steps of each motion in the same ticks (k,).
        """
        self._wrench = None
        if not self._compiles:
            return None
        x, v = self._axes.coordinates_of(starts)
        stopped = np.zeros(len(starts), bool)
        for effort, count in zip(efforts, counts, strict=True):
            x, v = self._advance_states(x, v, self._geared(effort), count, stopped)
        return Ends(*self._axes.motion_of(x, v), stopped)

    def _substeps(self, effort: Array, count: int) -> None:
        """Take `count` physics steps under held efforts (n,)."""
        if self._compiles:
            stopped = np.array([self.stopped])
            # The kernel takes arrays of states: here of one.
            x = Coordinates(*(array[None] for array in self._x))
            x, v = self._advance_states(x, self._v[None], effort[None], np.array([count]), stopped)
            self._x, self._v = Coordinates(*(array[0] for array in x)), v[0]
            self.stopped = bool(stopped[0])
            return
        h = self.physics_step
        for _ in range(count):
            self._check_stops()
            if self.order == 1:
                self._euler(h)
            else:
                self._x, self._v = self._axes.runge_kutta(self._slope, self._x, self._v, h)
        self._check_stops()

    def _euler(self, h: float) -> None:
        """Take a step of semi-implicit Euler of h [s]: v' = v + h a(x, v), then x' = x + h v'."""
        slope = self._slope(self._x, self._v)
        if self.scheme.implicit:
            # Coriolis and gyroscopic forces act as they are at the end of the step.
            moving = [*self.base.axes, *range(6, len(self._v))]
            unloaded_slope = partial(self._slope, self._x, loaded=False)
            slope = implicit_slope(unloaded_slope, slope, self._v, moving, h)
        if self._grip:
            # Friction that sticks is solved for together with the step of the rates.
            drag = self._friction.viscous if self.scheme.damping and self._friction else None
            self._v = self._grip.step(self._x, self._v, slope, h, drag)
        else:
            self._v = self._v + h * slope
        derivative = self._axes.derivative(self._x, self._v, np.zeros(3))
        self._x = self._axes.advance(self._x, derivative, h)

    def _check_stops(self) -> None:
        """Set `stopped` where a joint is beyond its stop, or would be after LOOK_AHEAD steps."""
        later_q = self._x.q + LOOK_AHEAD * self.physics_step * self._v[6:]
        if self._stops.beyond(self._x.q) or self._stops.beyond(later_q):
            self.stopped = True

    def _statics_at(self, state: RobotState) -> tuple[Array, Array]:
        """Return mass matrix and gravity forces in a state."""
        return self._bodies.statics(state.q, quaternion_matrix(state.orientation))

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations in a state under efforts (n,) alone."""
        return self._bodies.acceleration_at(state, self._geared(effort))

    def _constraint_losses(self, before: RobotState, after: RobotState) -> Losses:
        """Return no losses, because a twin has no contacts and no stops."""
        return Losses()


@dataclass(frozen=True, kw_only=True)
class TwinSpec(EngineSpec):
    """Specify the twin of an engine, with which robots simulate as with the engine itself.

    `twin_of` makes it from the engine's own specification.

    Args:
        seed: seed of random roundings, 0 for none; see `Twin`.
        model_changes: numbers of the model that differ.
    """

    seed: int = 0
    model_changes: tuple[ModelChange, ...] = ()

    def check_bodies(self, bodies: Sequence[FreeBody]) -> None:
        """Refuse free bodies, whose contact no twin has."""
        if bodies:
            raise AccordError("free bodies move beside the robot")

    def simulate(self, model: EngineModel) -> EngineSimulator:
        """Make the twin of one model.

        Raises:
            AccordError: with the reason why there is no twin of this engine or model.
        """
        self.check(model)
        if self.scheme is None:
            raise AccordError(f"the integration scheme of {self.name} is not specified")
        scheme = self.scheme(self.configured(model))
        return Twin(model, scheme, self.seed, self.model_changes, self.rounding)


def twin_of(engine: Engine, seed: int = 0, changes: Sequence[ModelChange] = ()) -> TwinSpec:
    """Return the specification of an engine's twin.

    Args:
        engine: name or specification.
        seed: seed of random roundings, 0 for none; see `Twin`.
        changes: numbers of the model that differ.
    """
    return TwinSpec.of(spec(engine), seed=seed, model_changes=tuple(changes))
