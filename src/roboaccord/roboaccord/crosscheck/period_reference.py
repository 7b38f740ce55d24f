"""Comparison of one control period of a run with the reference's and with the engine's twin's.

Reference and twin start from the recorded state and simulate the period under its command. One run
has one physics step, so no order of convergence shows what time stepping explains. It follows from
the reference instead, in the states of the run. Let a and b be the accelerations before and after a
control period, under the same command. At the physics step h the forward Euler scheme has an error
of -(b - a) h / 2 in the rates, the backward one the opposite, to first order; a scheme that treats
some forces one way and some the other lies between [Hairer, Norsett and Wanner 1993, II.1]. Where
the engine has a twin, the twin makes the error of the scheme itself, and the difference from it is
judged.

FINER and GIVES may be tuned; test_recorded (snake) has verdicts of sound and of wrong runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from roboaccord.contract.fault import Fault
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.crosscheck.twin_ticks import GAZEBO, TwinTicks, contacts_of, twin_engine
from roboaccord.engines import REFERENCE, engine_names
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.gazebo_contacts import by_contacts
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.stop_watch import RELEASE, StopWatch

TOUCHES = "something touches, and only the contact solver knows the forces"
# Accelerations are differences over a physics step that is so many times smaller: the error of a
# difference, of first order, is then an eighth of what it estimates.
FINER = 8
PYRAMID = np.sqrt(2.0) - 1.0
"""Share of the friction force by which a corner of a friction pyramid exceeds its cone."""
GIVES = 0.01
"""Rate at which Gazebo's magnets yield to an effort [rad/s per N m]; 0.4 of it was measured."""
_LEFT, _CHANGE, _RECORDED, _EULER, _FRICTION = range(5)  # rows of PeriodErrors.parts


class PeriodErrors(NamedTuple):
    """Comparison of one control period; rates are those of joints and of the base's turning (m,).

    Args:
        before, after, command: recorded states, and the command between them.
        error: of the reference's rates (m,) [rad/s].
        parts: rows of rates (5, m): error less the twin's, where that is known; change in the
            reference; change in the run; error of Euler's step; effect of friction.
        position: error of the joints (n,).
        from_twin: difference from the twin (2 n + 12,); None where that is unknown.
    """

    before: RobotState
    after: RobotState
    command: Command
    error: Array
    parts: Array
    position: Array
    from_twin: Array | None

    @property
    def unexplained(self) -> Array:
        """Error less what the twin and Euler's step explain (m,)."""
        return np.asarray(self.parts[_LEFT] - self.parts[_EULER])

    @property
    def squares(self) -> Array:
        """Squares of the error less the twin's, of Euler's step and of friction (3, m)."""
        return np.asarray(np.square(self.parts[[_LEFT, _EULER, _FRICTION]]))


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
        self._plain, self._engine, self._transport = setup, engine, transport
        self.has_contacts = False
        if engine == GAZEBO:
            setup, self.has_contacts = by_contacts(setup, contacts_of(setup, transport))
        self._period = setup.scenario.control_period
        self._small = setup.scenario.physics_step / FINER
        self._exact = engine == REFERENCE or "(rk4)" in version or self.has_contacts
        dynamic = self._follow(setup)
        self.twin = self._find_twin()
        laws = setup.force_law is not None or setup.contact is not None
        rubs = engine == GAZEBO and laws and not self.has_contacts and dynamic is not None
        self.pyramid = PYRAMID if rubs else 0.0

    def _follow(self, setup: Setup) -> Acceleration | None:
        """Make the references of a setup; return their acceleration, None if kinematic."""
        self.setup, self._reference = setup, make_simulator(setup)
        dynamic = self._reference.acceleration(setup.initial, np.zeros(len(setup.joints)))
        exact = self._exact or dynamic is None
        self._fine = None if exact else make_simulator(setup, physics_step=self._small)
        return dynamic

    def _find_twin(self) -> TwinTicks | None:
        """Return the twin of the engine with all faults so far; None for an unknown engine."""
        if self._engine not in engine_names():
            return None
        faults = self.setup.faults
        setup = self._plain if faults == self._plain.faults else self._plain.failing(faults)
        return TwinTicks(setup, twin_engine(setup, self._engine, self._transport))

    def failing(self, faults: Iterable[Fault]) -> None:
        """Add faults that the scenario does not have, to the reference and to the twin."""
        self._follow(self.setup.failing([*self.setup.faults, *faults]))
        self.twin = self._find_twin()

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
        old, new, recorded = rates(before), rates(predicted), rates(after)
        unexplained, euler, friction = new - recorded, np.zeros_like(new), np.zeros_like(new)
        # The error that remains is the difference from the twin. Without one it is that from the
        # reference, of which the error of Euler's step, (b - a) h / 2, may explain some.
        from_twin = None
        if self.twin and with_twin and not self._meets():
            from_twin = self.twin.differ(before, after, command)
        if from_twin is not None and not self.has_contacts:
            n = len(self.setup.joints)
            unexplained = np.concatenate([from_twin[n : 2 * n], from_twin[-3:]])
        elif self._fine is not None:
            a, b = (self._acceleration(state, command, events) for state in (start, predicted))
            euler = 0.5 * self.setup.scenario.physics_step * (b - a)
        # Effect of friction: change of the rates, less that without contact and friction.
        if from_twin is None and self.pyramid and self._touches():
            friction = new - old - self._period * self._free(before, command.effort)
        parts = np.array([unexplained, new - old, recorded - old, euler, friction])
        position = predicted.q - after.q
        errors = PeriodErrors(before, after, command, new - recorded, parts, position, from_twin)
        return errors, events

    def holds(self, errors: PeriodErrors) -> bool:
        """Return whether magnets hold the reference at rest where Gazebo's yield a little."""
        if self._engine != GAZEBO or not errors.after.switches:
            return False
        effort = np.abs(errors.command.effort).max(initial=0.0)
        rest = not (rates(errors.before) + errors.parts[_CHANGE]).any()
        return rest and bool(np.abs(rates(errors.after)).max() <= GIVES * effort)

    def at_stop(self, *states: RobotState) -> bool:
        """Return whether a joint is at its stop in one of some states."""
        lower, upper = StopWatch.of(self.setup.tree, self.setup.joints).limits
        q = np.array([state.q for state in states])
        return bool(((q < lower + RELEASE) | (q > upper - RELEASE)).any())

    def _meets(self) -> bool:
        """Return whether something touches in the reference; the twin then stops for good."""
        if self.setup.contact is None:
            return False
        contacts = self._reference.contacts()
        if self.twin and (contacts is None or contacts):
            self.twin.stop(
                f"{self._engine} does not report its contacts" if contacts is None else TOUCHES
            )
        return not self.twin

    def _touches(self) -> bool:
        """Return whether anything touches in the reference, True where it does not report it."""
        contacts = self._reference.contacts()
        return self.setup.contact is None or contacts is None or bool(contacts)

    def _acceleration(self, state: RobotState, command: Command, events: list[Event]) -> Array:
        """Return the acceleration with which the reference leaves a state; add its events."""
        assert self._fine is not None
        start = self._fine.reset(state)
        after = self._fine.step(command, self._small)
        events += self._fine.take_events()
        return (rates(after) - rates(start)) / self._small

    def _free(self, state: RobotState, effort: Array) -> Array:
        """Return the acceleration without contact and friction (m,) [rad/s^2]."""
        acceleration = self._reference.acceleration(state, effort)
        assert acceleration is not None
        turn = quaternion_matrix(state.orientation).T
        return np.concatenate([acceleration.joints, turn @ acceleration.base[3:]])


def rates(state: RobotState) -> Array:
    """Return the rates of the joints and of the base's turning (n + 3,) [rad/s]."""
    return np.concatenate([state.qd, state.twist[3:]])
