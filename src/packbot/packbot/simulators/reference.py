"""The engine `reference` of the arm: rigid bodies with rigid contact, integrated event by event.

An event is a gap that closes: two hulls at their margin, or a joint at its limit. The event is
located in time and its impact is solved (contact/forces.py); after that, the contact presses as
long as its force is positive. On event-driven schemes see Acary and Brogliato, Numerical Methods
for Nonsmooth Dynamical Systems (2008), chapter 8. The equations of motion are in motion.py, the
integrator is in stepping.py. `ArmSimulator` is the common part of this simulator and of the one
with the report's contact (source/variants.py).

The defaults of ReferenceSettings may be tuned, except `near` and `slip_speed`, which are part of
the model. Physics engines are judged by this simulator, so it must not be fitted to any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import roboaccord
from roboaccord import engines
from roboaccord.contract import (
    Acceleration,
    AccordError,
    Array,
    Command,
    ContactPoint,
    DivergedError,
    RobotState,
)
from roboaccord.scenario import Setup
from roboaccord.simulators import LOCK_INERTIA, JointFriction, Reference, frozen, losses

from packbot.contact.clearance import Clearance
from packbot.contact.forces import open_gaps
from packbot.contact.friction import ContactFriction
from packbot.contact.gaps import GapFunctions, Proximity
from packbot.contact.laws import LEAST_MARGIN, ArmContact
from packbot.model.arm import Arm
from packbot.model.bodies import BodyCoordinates
from packbot.simulators.energy import EnergyBook
from packbot.simulators.engines import check_start, joint_friction
from packbot.simulators.motion import ConstrainedDynamics
from packbot.simulators.stepping import PRESSED_TOLERANCES, EventDrivenStepper

# Bound of the number of rounds in which hulls are moved apart; each is a step of Newton's method,
# and takes away most of what is left, also where features change.
MAX_ROUNDS = 50
# Factor on the desired distance, as each round is exact to first order only; without it, rounds
# would end just below the distance. 1 % of it, 1 um, moves nothing that can be seen.
OVERSHOOT = 1.01
# Of forces over the weight: a rounding of 2e-16 enlarged by the mass matrix, whose condition is 2e4
# at most, in accelerations of some g. At most 4e-16 was measured, in all scenarios.
FORCE_ROUND_OFF = 1e-11


class ArmSimulator(Reference):
    """Dynamics, hull distances, joint friction and energy balance of the arm.

    Args:
        setup: robot and scenario.

    Attributes:
        arm: dynamics of the arm, and of the free bodies as further joints of it.
        clearance: distances of its hulls.
        joint_friction: friction of the joints.
        bodies: coordinates of the free bodies, which follow those of the joints.
        energy: energy balance of the run.
    """

    version = f"roboaccord-packbot {roboaccord.__version__}"
    order = 5
    joint_friction: JointFriction

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        p = setup.parameters
        self._base_mass: float = p.base_mass
        self._rotors = p.of_joints("reflected_inertia")
        self.arm = Arm.of(setup)
        self.bodies = BodyCoordinates(self.arm, setup.bodies)
        self.clearance = Clearance.of(setup, self.arm.model)
        self.joint_friction = joint_friction(p)
        self.energy = EnergyBook(self.arm, self._losses)

    @property
    def energy_rise(self) -> float:
        """Sum of all rises of the energy beyond the work of the efforts, since the reset [J]."""
        return self.energy.rise

    def lock(self, joint: int, locked: bool) -> None:
        armature = np.array(self.arm.model.armature)
        armature[joint] = LOCK_INERTIA if locked else self._rotors[joint]
        self.arm.model.armature = armature

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        accelerations = self.arm.acceleration(*map(self._padded, (state.q, state.qd, effort)))
        return Acceleration(np.zeros(6), accelerations[: len(self.joints)])

    def _padded(self, of_joints: Array) -> Array:
        """Return values of the joints (7,), followed by 0 for each coordinate of a body."""
        return np.pad(of_joints, (0, self.bodies.size))

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg], the fixed chassis included."""
        return {"base_link": self._base_mass, **self.arm.masses()}


@dataclass(frozen=True)
class ReferenceSettings:
    """Settings of the reference, all of them above 0.

    Raises:
        AccordError: for one that is not a positive number.
    """

    tolerance: float = 1e-8  # rad, rad/s; error of a step
    max_step: float = 4e-3  # s; longer explicit steps are unstable by the light wrist's friction
    gap_tolerance: float = 1e-9  # m, rad; accuracy of closed gaps; lower hops do not open them
    near: float = 5e-3  # m; hulls closer than that are measured feature by feature
    rest_speed: float = 5e-3  # m/s, rad/s; slower impacts have no restitution
    slip_speed: float = 5e-3  # m/s; Coulomb friction is regularised below this slip speed

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                option = f"engine_options.reference.{name}"
                raise AccordError(f"{option}: {value!r} is not a positive number")


def read_reference_options(setup: Setup) -> dict[str, float]:
    """Return the options of the reference, checked.

    Raises:
        AccordError: for one that is unknown, or no positive number.
    """
    options = setup.scenario.engine_options
    return asdict(engines.read_settings(options, "reference", ReferenceSettings))


class PackbotReference(ArmSimulator):
    """Simulate the Packbot's arm.

    Without a contact law there are neither contacts nor limits of joints.

    Attributes:
        energy: energy balance of the run.
        contact_bounds: gaps to their tolerance, and forces to round-off; with friction, which acts
            at two points a margin apart, momentum is balanced at their middle, so not to round-off.
        tighter: options of a second run that measures the error of the first: a tenth of the
            tolerance, which determines the steps, and a quarter of the longest step.
    """

    channels = losses.CHANNELS

    def __init__(self, setup: Setup) -> None:
        options = read_reference_options(setup)
        longest = min(options["max_step"], setup.scenario.control_period)
        self.tighter = {"tolerance": 0.1 * options["tolerance"], "max_step": 0.25 * longest}
        super().__init__(setup)
        self.armature = self._rotors
        self._contact = setup.contact if isinstance(setup.contact, ArmContact) else None
        self._limits, self._start_rows = setup.parameters.limits, setup.initial.bodies
        proximity = Proximity(self.clearance, options["near"])
        unlimited = np.outer([-np.inf, np.inf], np.ones(self.arm.model.nv))
        gap_functions = GapFunctions(proximity, np.zeros(len(self.clearance.pairs)), unlimited)
        contact = self._contact
        links = map(self.clearance.pair_links, range(len(gap_functions.margins)))
        mu = np.array([contact.mu(pair) if contact else 0.0 for pair in links])
        friction = ContactFriction(proximity.model, mu, options["slip_speed"])
        forces = ("cone",) if friction.is_present else ("cone", "momentum")
        pressed = PRESSED_TOLERANCES * options["gap_tolerance"]
        self.contact_bounds = {"signorini": pressed, **dict.fromkeys(forces, FORCE_ROUND_OFF)}
        # The bodies have no friction of joints.
        padded = self.joint_friction.with_joints(self._padded)
        motion = ConstrainedDynamics(self.arm, padded, gap_functions, friction)
        restitution = contact.restitution if contact else 0.0
        self._stepper = EventDrivenStepper(motion, self.energy, options, restitution, self._events)
        if contact:
            check_start(setup, self.clearance, self._coordinates(setup.initial)[0])
        self.reset(setup.initial)

    def _coordinates(self, state: RobotState) -> tuple[Array, Array]:
        """Return angles and coordinates of bodies in a state, and their rates (n,).

        A state without bodies has them where they start.
        """
        rows = state.bodies if len(state.bodies) else self._start_rows
        q, v = self.bodies.rebase(rows, self._stepper.motion.gap_functions.proximity.model.chain)
        return np.concatenate([state.q, q]), np.concatenate([state.qd, v])

    def _start(self, state: RobotState) -> None:
        """Start at a state.

        States of other simulators can have hulls closer than the margin, or joints outside their
        limits. The distance of such a pair becomes its margin, and the angle of such a joint its
        limit. Hulls closer than `LEAST_MARGIN` are first moved that far apart, by the joints that
        are not frozen and the bodies, or by all joints if that is not enough.
        """
        gap_functions, n = self._stepper.motion.gap_functions, len(self.joints)
        q, v = self._coordinates(state)
        if self._contact:
            try:
                with self._locking(frozen(self._faults.acting_at(state.time))):
                    q = self._apart(q)
            except DivergedError:
                with self._locking(()):
                    q = self._apart(q)
            distances = self.clearance.distances(q)
            gap_functions.margins = np.minimum(self._contact.margin, distances)
            lower, upper = self._limits
            gap_functions.limits[:, :n] = np.minimum(lower, q[:n]), np.maximum(upper, q[:n])
        else:
            distances = np.full(len(gap_functions.margins), np.inf)
        gap_functions.proximity.restart(distances)
        self._stepper.start(q, v, state.time)
        self._now = replace(state, q=q[:n].copy(), bodies=self.bodies.rows(q[n:], v[n:]))

    def _apart(self, q: Array) -> Array:
        """Return angles and coordinates (n,) near q at which no hulls are too close."""
        if self.bodies.size:
            return move_features_apart(self.arm, self._stepper.motion.gap_functions, q)
        return move_apart(self.arm, self.clearance, q, LEAST_MARGIN)

    def _place(self, state: RobotState) -> None:
        self._now = state
        self._stepper.jump(*self._coordinates(state), state.time)

    def _advance(self, command: Command, duration: float) -> None:
        stepper = self._stepper
        stepper.time = self._now.time
        stepper.motion.efforts = self._padded(self._effort)
        stepper.run(self._time)
        n = len(self.joints)
        q, v = stepper.x.reshape(2, -1)
        rows = self.bodies.rows(q[n:], v[n:])
        self._now = RobotState(self._time, q[:n].copy(), v[:n].copy(), self._effort, bodies=rows)
        if len(rows):
            stepper.x = np.concatenate(self._coordinates(self._now))
            stepper.motion.gap_functions.forget_search()

    def lock(self, joint: int, locked: bool) -> None:
        super().lock(joint, locked)
        self._stepper.lock(joint, locked)

    def meter(self) -> None:
        super().meter()
        self.energy.metered = True

    def contacts(self) -> Sequence[ContactPoint]:
        """Return the contacts in force at the present state."""
        motion, x = self._stepper.motion, self._stepper.x
        motion.slope(x)
        friction = motion.sliding_forces(x)
        q = x[: self._stepper.n]
        return motion.gap_functions.points(motion.closed, q, motion.forces, friction)

    def contact_acceleration(self) -> Acceleration:
        """Return the accelerations under the forces of the contacts."""
        slope = self._stepper.motion.slope(self._stepper.x)
        return Acceleration(np.zeros(6), slope[self._stepper.n :][: len(self.joints)])


def move_features_apart(arm: Arm, gap_functions: GapFunctions, q: Array) -> Array:
    """Return coordinates (n,) near q at which all features are `LEAST_MARGIN` apart.

    As `move_apart`, but by all features of pairs that are near: a box that lies flat is lifted, and
    not tilted by one of its corners.

    Raises:
        DivergedError: if they cannot be parted.
    """
    proximity = gap_functions.proximity
    gap_functions.margins = np.zeros(len(gap_functions.margins))
    for _ in range(MAX_ROUNDS):
        proximity.restart(proximity.clearance.distances(q))
        gaps, jacobian, _ = gap_functions.measure(proximity.features(q), q)
        if gaps.min(initial=np.inf) >= LEAST_MARGIN:
            return q
        is_close = gaps < 10.0 * LEAST_MARGIN
        lacking = OVERSHOOT * LEAST_MARGIN - gaps[is_close]
        q = q + open_gaps(arm.mass_matrix(q), jacobian[is_close], lacking)
    raise DivergedError(f"hulls cannot be parted: {-1e3 * gaps.min():.3g} mm of overlap are left")


def move_apart(arm: Arm, clearance: Clearance, q: Array, least: float) -> Array:
    """Return angles (n,) [rad] near q at which all pairs are at least `least` [m] apart.

    Each round moves the joints by the smallest displacement in the metric of the mass matrix that
    opens the gaps to first order.

    Raises:
        DivergedError: if they cannot be parted.
    """
    for _ in range(MAX_ROUNDS):
        distances = clearance.distances(q)
        if distances.min(initial=np.inf) >= least:
            return q
        witness = clearance.witness(q, np.flatnonzero(distances < 10.0 * least))
        lacking = OVERSHOOT * least - witness.distances
        q = q + open_gaps(arm.mass_matrix(q), witness.jacobian, lacking)
    pair, distance = clearance.closest(q)
    names = " and ".join(clearance.pair_names(pair))
    raise DivergedError(f"{names} cannot be parted: {-1e3 * distance:.3g} mm of overlap are left")
