"""The arm's analytical simulator: rigid bodies with rigid contact, integrated from event to event.

An event is a gap that closes: a pair of hulls at its margin, a joint at its limit. It is located in
time, its impact is solved (contact/forces.py), and from then on the gap presses as long as it must.
On event-driven schemes see Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems
(2008), 8. The equations of motion are in motion.py, the integrator in stepping.py. `ArmSimulator`
has what this simulator and the report's variant share.

Defaults of ReferenceSettings, keys of `engine_options.reference`, may be tuned: tighter ones
converge (test_packbot_reference), and figures of the pages are of these. But `near` and
`slip_speed` are part of the model and stay. Engines are judged by this simulator, so it must not be
fitted to one.
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
from roboaccord.simulators import LOCK_INERTIA, Reference, frozen, losses

from packbot.contact.clearance import Clearance
from packbot.contact.forces import Sliding, open_gaps
from packbot.contact.gaps import GapFunctions, Proximity
from packbot.contact.laws import LEAST_MARGIN, ArmContact
from packbot.model.arm import Arm
from packbot.simulators.energy import EnergyBook
from packbot.simulators.engines import check_start, joint_friction
from packbot.simulators.motion import ConstrainedDynamics
from packbot.simulators.stepping import EventDrivenStepper

ROUNDS = 50  # in which hulls are moved apart, at most
ROOM = 1.01  # factor on the distance: each round is right to first order only


class ArmSimulator(Reference):
    """Dynamics, hull distances, joint friction and energy balance of the arm.

    Args:
        setup: robot and scenario.

    Attributes:
        arm: dynamics.
        clearance: measures distances.
        joint_friction: of the joints.
        energy: book of the energy.
    """

    version = f"roboaccord-packbot {roboaccord.__version__}"
    order = 5

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        p = setup.parameters
        self._base_mass: float = p.base_mass
        self._rotors = p.of_joints("reflected_inertia")
        self.arm, self.clearance = Arm.of(setup), Clearance.of(setup)
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
        return Acceleration(np.zeros(6), self.arm.acceleration(state.q, state.qd, effort))

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg], the fixed chassis included."""
        return {"base_link": self._base_mass, **self.arm.masses()}


@dataclass(frozen=True)
class ReferenceSettings:
    """Settings of the reference, all of them above 0.

    Raises:
        AccordError: for one that is not a positive number.
    """

    tolerance: float = 1e-8  # rad, rad/s: error of a step
    max_step: float = 4e-3  # s: longer explicit steps are unstable by the light wrist's friction
    gap_tolerance: float = 1e-9  # m, rad: to which gaps are closed; lower hops do not open them
    near: float = 5e-3  # m: closer hulls are looked at feature by feature
    rest_speed: float = 5e-3  # m/s, rad/s: at slower approach nothing bounces
    slip_speed: float = 5e-3  # m/s: at slower slip dry friction of contacts creeps

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise AccordError(
                    f"engine_options.reference.{name}: {value!r} is not a positive number"
                )


def read_reference_options(setup: Setup) -> dict[str, float]:
    """Return the options of the reference, checked.

    Raises:
        AccordError: for one that is unknown, or no positive number.
    """
    return asdict(
        engines.read_settings(setup.scenario.engine_options, "reference", ReferenceSettings)
    )


class PackbotReference(ArmSimulator):
    """Simulate the Packbot's arm.

    Without a contact law there is neither contact nor limits of joints.

    Attributes:
        energy: book of the energy.
        tighter: options by which its own error is measured: a tenth of the tolerance, from which
            its steps follow, and a quarter of the longest step.
    """

    channels = losses.CHANNELS

    def __init__(self, setup: Setup) -> None:
        options = read_reference_options(setup)
        longest = min(options["max_step"], setup.scenario.control_period)
        self.tighter = {"tolerance": 0.1 * options["tolerance"], "max_step": 0.25 * longest}
        super().__init__(setup)
        self.armature = self._rotors
        self._contact = setup.contact if isinstance(setup.contact, ArmContact) else None
        self._limits = setup.parameters.limits
        proximity = Proximity(self.clearance, options["near"])
        gap_functions = GapFunctions(proximity, np.zeros(len(self.clearance.pairs)), self._limits)
        contact = self._contact
        links = map(self.clearance.pair_links, range(len(gap_functions.margins)))
        mu = np.array([contact.mu(pair) if contact else 0.0 for pair in links])
        sliding = Sliding(proximity.chain, proximity.owner, mu, options["slip_speed"])
        restitution = self._contact.restitution if self._contact else 0.0
        self._stepper = EventDrivenStepper(
            ConstrainedDynamics(self.arm, self.joint_friction, gap_functions, sliding), self.energy,
            options, restitution, self._events,
        )  # fmt: skip
        if self._contact:
            check_start(setup, self.clearance)
        self.reset(setup.initial)

    def _start(self, state: RobotState) -> None:
        """Begin at a state.

        States of other simulators can have hulls closer than the margin, or joints outside their
        limits. From then on the distance of such a pair is its margin, and the angle of such a
        joint its limit. Hulls closer than `LEAST_MARGIN` are moved that far apart first: by joints
        that are not frozen, or by all if these cannot.
        """
        gap_functions = self._stepper.motion.gap_functions
        if self._contact:
            try:
                with self._holding(frozen(self._faults.at(state.time))):
                    q = part(self.arm, self.clearance, state.q, LEAST_MARGIN)
            except DivergedError:
                with self._holding(()):
                    q = part(self.arm, self.clearance, state.q, LEAST_MARGIN)
            state = replace(state, q=q)
            distances = self.clearance.distances(state.q)
            gap_functions.margins = np.minimum(self._contact.margin, distances)
            lower, upper = self._limits
            gap_functions.limits = np.array(
                [np.minimum(lower, state.q), np.maximum(upper, state.q)]
            )
        else:
            distances = np.full(len(gap_functions.margins), np.inf)
            gap_functions.limits = np.outer([-1.0, 1.0], np.full(len(self.joints), np.inf))
        gap_functions.proximity.restart(distances)
        self._now = state
        self._stepper.start(state.q, state.qd, state.time)

    def _place(self, state: RobotState) -> None:
        self._now = state
        self._stepper.jump(state.q, state.qd, state.time)

    def _advance(self, command: Command, duration: float) -> None:
        stepper = self._stepper
        stepper.time = self._now.time
        stepper.motion.efforts = self._effort
        stepper.run(self._time)
        q, v = stepper.x[: stepper.n], stepper.x[stepper.n :]
        self._now = RobotState(self._time, q.copy(), v.copy(), self._effort)

    def lock(self, joint: int, locked: bool) -> None:
        super().lock(joint, locked)
        self._stepper.hold(joint, locked)

    def meter(self) -> None:
        super().meter()
        self.energy.metered = True

    def contacts(self) -> Sequence[ContactPoint]:
        """Return the contacts in force at the present state."""
        motion, x = self._stepper.motion, self._stepper.x
        motion.slope(x)
        return motion.gap_functions.points(motion.closed, x[: len(self.joints)], motion.forces)


def part(arm: Arm, clearance: Clearance, q: Array, least: float) -> Array:
    """Return angles (n,) [rad] near q, at which all pairs are `least` [m] apart.

    Each round takes the displacement that is least in the metric of the mass matrix.

    Raises:
        DivergedError: if they cannot be parted.
    """
    for _ in range(ROUNDS):
        distances = clearance.distances(q)
        if distances.min(initial=np.inf) >= least:
            return q
        near = np.flatnonzero(distances < 10.0 * least)
        witness = clearance.witness(q, near)
        wanted = ROOM * least - witness.distances
        q = q + open_gaps(arm.mass_matrix(q), witness.jacobian, wanted)
    pair, distance = clearance.closest(q)
    names = " and ".join(clearance.pair_names(pair))
    raise DivergedError(f"{names} cannot be parted: {-1e3 * distance:.3g} mm of overlap are left")
