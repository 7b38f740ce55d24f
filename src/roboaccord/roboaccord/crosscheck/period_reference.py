"""Comparison of one control period of a run with the reference's and with the engine's twin's.

The reference is the analytical model, and the twin simulates its equations under the engine's
integration scheme. Both start from the recorded state and simulate the period under its command;
step_check.py sums up the errors.

One run has one physics step, so no order of convergence shows what time stepping explains. It
follows from the reference instead, in the states of the run. Let a and b be the accelerations
before and after a control period, under the same command. At the physics step h the forward Euler
scheme has an error of -(b - a) h / 2 in the rates, the backward one the opposite, to first order; a
scheme that treats some forces one way and some the other lies between [Hairer, Norsett and Wanner
1993, II.1]. Where the engine has a twin, the twin makes the error of the scheme itself, and the
difference from it is judged.

STEP_RATIO and MAGNET_YIELD may be tuned; test_recorded (snake) has verdicts of sound and of wrong
runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from roboaccord.contract import Array, Command, Event, Fault, RobotState
from roboaccord.crosscheck.period_errors import PeriodErrors, RateErrors
from roboaccord.crosscheck.twin_ticks import GAZEBO, TwinTicks, contacts_of, twin_engine
from roboaccord.engines import REFERENCE, engine_names
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.gazebo_contacts import by_contacts
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.stop_watch import RELEASE, StopWatch

# Why the twin stops comparing once there is a contact.
SOMETHING_TOUCHES = "something touches, and only the contact solver knows the forces"
# Ratio of the physics step to that over which accelerations are differences: the error of such a
# difference, of first order, is then an eighth of what it estimates.
STEP_RATIO = 8
# Share of the friction force by which a corner of a friction pyramid exceeds its cone.
PYRAMID = np.sqrt(2.0) - 1.0
# Rate at which Gazebo's magnets yield to an effort [rad/s per N m]; 0.4 of it was measured.
MAGNET_YIELD = 0.01


class PeriodReference:
    """The reference and the engine's twin, which are put in the recorded states of a run.

    Args:
        setup: robot and scenario.
        engine, version, transport: of the run.

    Attributes:
        setup: as the reference has it, with the joints that have failed.
        twin: of the engine; None for an unknown engine.
        has_contacts: whether the reference has the law and the steps of Gazebo's contacts.
        pyramid: share of the friction force that the engine's friction pyramid explains.
    """

    def __init__(self, setup: Setup, engine: str, version: str, transport: str) -> None:
        self._setup_without_contacts, self._engine, self._transport = setup, engine, transport
        self.has_contacts = False
        if engine == GAZEBO:
            setup, self.has_contacts = by_contacts(setup, contacts_of(setup, transport))
        self.setup = setup
        self._period = setup.scenario.control_period
        # The reference, and the same at a small step, which shows accelerations; not needed for an
        # engine without an error of Euler's step, nor for a robot that moves without forces, which
        # has no acceleration at the start.
        self._reference = make_simulator(setup)
        initial = self._reference.acceleration(setup.initial, np.zeros(len(setup.joints)))
        has_no_euler_error = engine == REFERENCE or "(rk4)" in version or self.has_contacts
        self._small_step = setup.scenario.physics_step / STEP_RATIO
        self._fine = None if has_no_euler_error or initial is None else self._make_fine()
        self.twin = self._make_twin()
        has_friction = setup.force_law is not None or setup.contact is not None
        slides = engine == GAZEBO and has_friction and not self.has_contacts and initial is not None
        self.pyramid = PYRAMID if slides else 0.0

    def _make_fine(self) -> Simulator:
        """Return the reference at the small physics step."""
        return make_simulator(self.setup, physics_step=self._small_step)

    def _make_twin(self) -> TwinTicks | None:
        """Return the twin of the engine with all faults so far; None for an unknown engine."""
        if self._engine not in engine_names():
            return None
        faults, setup = self.setup.faults, self._setup_without_contacts
        setup = setup if faults == setup.faults else setup.failing(faults)
        return TwinTicks(setup, twin_engine(setup, self._engine, self._transport))

    def add_faults(self, faults: Iterable[Fault]) -> None:
        """Add faults that the scenario does not have, to the reference and to the twin."""
        self.setup = self.setup.failing([*self.setup.faults, *faults])
        self._reference = make_simulator(self.setup)
        self._fine = None if self._fine is None else self._make_fine()
        self.twin = self._make_twin()

    def compare(
        self, before: RobotState, after: RobotState, command: Command, *, with_twin: bool
    ) -> tuple[PeriodErrors, Sequence[Event]]:
        """Compare a control period.

        Args:
            before, after, command: recorded.
            with_twin: whether the twin is compared, too.

        Returns:
            the errors, and the events of the reference in the period.
        """
        # The reference from the recorded state.
        start = self._reference.reset(before)
        predicted = self._reference.step(command, self._period)
        events = [*self._reference.take_events()]
        change, recorded_change = rates(predicted) - rates(before), rates(after) - rates(before)
        error = beyond_twin = rates(predicted) - rates(after)
        euler = friction = np.zeros_like(error)
        # The error that remains is the difference from the twin. Without one it is that from the
        # reference, of which the error of Euler's step, (b - a) h / 2, may explain some.
        from_twin = None
        if self.twin and with_twin and self._compares(self.twin):
            from_twin = self.twin.difference(before, after, command)
        if from_twin is not None and not self.has_contacts:
            n = len(self.setup.joints)
            # Columns of columns.py: joint rates after n joint positions, base's rates at the end.
            beyond_twin = np.concatenate([from_twin[n : 2 * n], from_twin[-3:]])
        elif self._fine is not None:
            ends = (start, predicted)
            a, b = (self._acceleration(self._fine, state, command, events) for state in ends)
            euler = 0.5 * self.setup.scenario.physics_step * (b - a)
        # Effect of friction: change of the rates, less that without contact and friction.
        if from_twin is None and self.pyramid and self._touches():
            friction = change - self._period * self._free_acceleration(before, command.effort)
        errors = RateErrors(error, beyond_twin, change, recorded_change, euler, friction)
        position = predicted.q - after.q
        return PeriodErrors(before, after, command, errors, position, from_twin), events

    def yields_at_rest(self, errors: PeriodErrors) -> bool:
        """Return whether magnets hold the reference at rest where Gazebo's yield a little."""
        if self._engine != GAZEBO or not errors.after.switches:
            return False
        effort = np.abs(errors.command.effort).max(initial=0.0)
        is_at_rest = not (rates(errors.before) + errors.rates.change).any()
        return is_at_rest and bool(np.abs(rates(errors.after)).max() <= MAGNET_YIELD * effort)

    def at_stop(self, *states: RobotState) -> bool:
        """Return whether a joint is at its stop in one of some states."""
        lower, upper = StopWatch.of(self.setup.tree, self.setup.joints).limits
        q = np.array([state.q for state in states])
        return bool(((q < lower + RELEASE) | (q > upper - RELEASE)).any())

    def _compares(self, twin: TwinTicks) -> bool:
        """Return whether the twin compares; it stops for good once the reference has a contact."""
        if self.setup.contact is not None and twin.compares:
            contacts = self._reference.contacts()
            if contacts is None:
                twin.stop(f"{self._engine} does not report its contacts")
            elif contacts:
                twin.stop(SOMETHING_TOUCHES)
        return twin.compares

    def _touches(self) -> bool:
        """Return whether anything touches in the reference, True where it does not report it."""
        contacts = self._reference.contacts()
        return self.setup.contact is None or contacts is None or bool(contacts)

    def _acceleration(
        self, fine: Simulator, state: RobotState, command: Command, events: list[Event]
    ) -> Array:
        """Return the acceleration (m,) [rad/s^2] with which the reference leaves a state.

        Args:
            fine: reference at the small step.
            state, command: at the start of that step.
            events: to which those of the step are added.
        """
        start = fine.reset(state)
        after = fine.step(command, self._small_step)
        events += fine.take_events()
        return (rates(after) - rates(start)) / self._small_step

    def _free_acceleration(self, state: RobotState, effort: Array) -> Array:
        """Return the acceleration without contact and friction (m,) [rad/s^2]."""
        acceleration = self._reference.acceleration(state, effort)
        assert acceleration is not None
        turn = quaternion_matrix(state.orientation).T
        return np.concatenate([acceleration.joints, turn @ acceleration.base[3:]])


def rates(state: RobotState) -> Array:
    """Return the rates of the joints and of the base's turning (n + 3,) [rad/s]."""
    return np.concatenate([state.qd, state.twist[3:]])
