"""One run, as its control periods come: each against the reference's.

SAFETY, FINER, GIVES and SAMPLED may be tuned; test_recorded (snake) holds verdicts of sound
and of wrong runs. The estimate itself is fixed by theory (below), PYRAMID by geometry, MOST_LATE by
what gaits bear. A bag and the live node judge by `StepCheck`: a change is one of both.

One run has one physics step, so no order of convergence shows what time stepping explains. Instead
it follows from the reference, in the very states of the run. With accelerations a before and b
after a control period, under the same command, the forward Euler step at the physics step h misses
the rates by -(b - a) h / 2, the backward one by as much in the opposite direction, to first order,
and whatever treats some forces so and others so lies between [Hairer, Norsett and Wanner 1993,
II.1]. All else is judged as in a fresh run, by `judge_rates`. Where the engine has a twin, that
has made the error of the scheme itself, and what is left beside it is judged.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from roboaccord.bag.topics import FREE
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault, fault_of
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.outcome import Code, Reason, because
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.crosscheck.levels.drive import DriveTicks
from roboaccord.crosscheck.levels.one_step import Rates
from roboaccord.crosscheck.levels.recorded_step import RecordedStep
from roboaccord.crosscheck.report import Report, report_of_run
from roboaccord.crosscheck.twin_ticks import (
    GAZEBO,
    HELD,
    HELD_BY,
    TwinTicks,
    contacts_of,
    twin_engine,
)
from roboaccord.engines import engine_names
from roboaccord.numerics.ranking import first_largest
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup, by_contacts
from roboaccord.simulators.stop_watch import RELEASE, StopWatch

TOUCHES = "something touches, of which only the contact solver knows the loads"
SAMPLED = 20  # control periods for one that a twin with friction that sticks steps: it takes long
MOST_LATE = 200  # control periods by which a command may act late where nothing waits
MOST_DELAY = 3  # control periods by which commands may act late in Gazebo, beside its servers
ESTIMATE = 200  # steps by which the delay is estimated
FINER = 8  # times the physics step is finer by which accelerations are measured
SAFETY = 2.0  # on the leading term of the error of a step, as at the other levels
PYRAMID = np.sqrt(2.0) - 1.0
"""Of the friction force: the corner of a pyramid of friction lies that far outside its cone."""
GIVES = 0.01
"""Rates at which Gazebo's magnets give under a motor's effort [rad/s per N m]: .004 measured."""
_ROUND_OFF = 1e-9  # s


class _Step(NamedTuple):
    """Hold one comparison, the rates of joints and of the base's turning (m,) each.

    Args:
        before, after, command: what is compared.
        error: of the reference.
        parts: that error, beside the twin's where that is known; the change of the rates in the
            reference, and in the run; and what makes of the rest what time stepping explains, by
            Euler's step and by friction (5, m).
        position: error (n,).
        apart: difference from the twin (2 n + 12,), None where that is unknown.
    """

    before: RobotState
    after: RobotState
    command: Command
    error: Array
    parts: Array
    position: Array
    apart: Array | None


class StepCheck:
    """Compare control periods with the reference, one by one as they come.

    Args:
        setup: robot and scenario.
        engine, version: of the run, as a bag or `/R/scenario` states.
        tolerance: relative error allowed beside what time stepping explains; the scenario's
            number or allowance where 0.
        transport: of the run; in Gazebo it states with what the robot touches the ground.
    """

    def __init__(
        self, setup: Setup, engine: str, version: str, tolerance: float = 0.0, transport: str = ""
    ) -> None:
        self._plain, self._transport, known = setup, transport, False
        if engine == GAZEBO:
            setup, known = by_contacts(setup, contacts_of(setup, transport))
        self._engine, self._known = engine, known
        scenario = setup.scenario
        self._period, self._tolerance = scenario.control_period, tolerance
        self._small = scenario.physics_step / FINER
        self._exact = engine == "reference" or "(rk4)" in version or known
        dynamic = self._follow(setup)
        self._twin, self._rough = self._find_twin(), 0
        touches = not known and (setup.force_law is not None or setup.contact is not None)
        self._pyramid = PYRAMID if engine == GAZEBO and touches and dynamic is not None else 0.0
        self._drive = DriveTicks(setup, MOST_LATE if FREE in transport else 0)
        self._events: list[tuple[float, str]] = []
        self._efforts: deque[Array] = deque(maxlen=1 + (MOST_DELAY if engine == GAZEBO else 0))
        self._trials: list[list[_Step]] = []
        self._delay = None if engine == GAZEBO else 0
        self._sums, self._by_rate = np.zeros((5, 2)), np.zeros((3, len(setup.joints) + 3))
        self.compared = self.left_out = self.skipped = 0
        self._refused: Reason | None = None
        self._sizes = np.ones(2)
        self._max = self._rms = 0.0

    def _follow(self, setup: Setup) -> Acceleration | None:
        """Make the references of a setup; return their acceleration, None if kinematic."""
        self._setup, self._reference = setup, make_simulator(setup)
        dynamic = self._reference.acceleration(setup.initial, np.zeros(len(setup.joints)))
        exact = self._exact or dynamic is None
        self._fine = None if exact else make_simulator(setup, physics_step=self._small)
        return dynamic

    def _find_twin(self) -> TwinTicks | None:
        if self._engine not in engine_names():
            return None
        faults = self._setup.faults
        setup = self._plain if faults == self._plain.faults else self._plain.failing(faults)
        return TwinTicks(setup, twin_engine(setup, self._engine, self._transport))

    @property
    def setup(self) -> Setup:
        """Robot and scenario as the reference has them, with the joints that have failed."""
        return self._setup

    def note(self, events: Iterable[Event]) -> None:
        """Take events of the run, before the period in which they happened."""
        events = list(events)
        for event in events:
            heapq.heappush(self._events, (event.time, event.kind))
        faults = [fault for fault in map(fault_of, events) if fault]
        if came := [fault for fault in faults if not self._foreseen(fault)]:
            self._follow(self._setup.failing([*self._setup.faults, *came]))
            self._drive.failing(came)
            self._twin = self._find_twin()
        if self._engine == GAZEBO and self._twin and any(e.kind in HELD_BY for e in events):
            self._twin.stop(HELD)

    def _foreseen(self, fault: Fault) -> bool:
        """Return whether a fault that happened is the scenario's."""
        return any(
            (own.joint, own.kind, own.size) == (fault.joint, fault.kind, fault.size)
            and 0.0 <= fault.time - own.time + _ROUND_OFF < self._period + 2.0 * _ROUND_OFF
            for own in self._setup.faults
        )

    def take(
        self,
        before: RobotState,
        after: RobotState,
        wrench: Array | None = None,
        twist: Array | None = None,
        command: Command | None = None,
    ) -> list[RobotState]:
        """Compare one control period; return the errors of the states that are compared by now.

        Args:
            before, after: samples; the efforts of `after` were in force, its switches are set.
            wrench, twist: commanded for it.
            command: likewise, efforts; None where they are not known.
        """
        happened = []
        while self._events and self._events[0][0] <= after.time + _ROUND_OFF:
            happened.append(heapq.heappop(self._events)[1])
        if round((after.time - before.time) / self._period) != 1:
            self.skipped += max(round((after.time - before.time) / self._period), 1)
            self._efforts.clear()
            self._drive.take(before, after, None)
            return []
        self._drive.take(before, after, command)
        self._efforts.appendleft(after.effort)
        delays = [self._delay] if self._delay is not None else range(self._efforts.maxlen or 1)
        if len(self._efforts) <= max(delays):
            self.skipped += 1
            return []
        rest = (after.switches, wrench, twist)
        commands = (Command(self._efforts[d], *rest, in_force=True) for d in delays)
        if self._twin and not (wrench is None and twist is None):
            self._twin.stop("a wrench or a twist is commanded")
        try:
            made = [self._compare(before, after, command) for command in commands]
        except AccordError as error:  # as of a ball that was driven off its terrain
            why = because(Code.REFUSED_STATE, time=before.time, text=str(error))
            self._refused = self._refused or why
            self.left_out += 1
            return []
        happened += [event.kind for _, seen in made for event in seen]
        self._rough = 2 if happened else max(self._rough - 1, 0)
        stops = self._setup.scenario.crosscheck.statistics and made[0][0].apart is None
        if stops:
            lower, upper = StopWatch.of(self._setup.tree, self._setup.joints).limits
            ends = np.array([before.q, after.q])
            stops = bool(((ends < lower + RELEASE) | (ends > upper - RELEASE)).any())
        if (happened or stops or self._gives(made[0][0])) and self._engine != "reference":
            self.left_out += 1
            return []
        steps = [step for step, _ in made]
        if self._delay is None:
            self._trials.append(steps)
            return self.settle() if len(self._trials) == ESTIMATE else []
        return [self._add(steps[0])]

    def verdict(self, ticks: int = 0) -> Report:
        """Return the verdict so far, on a run of at least so many ticks."""
        return report_of_run(self._setup, self._engine, self.checks(ticks))

    def checks(self, ticks: int = 0) -> dict[str, Any]:
        """Return what was measured so far, by level, of a run of at least so many ticks."""
        total = max(self.compared + self.left_out + self.skipped, ticks)
        found: dict[str, Any] = {"one_step": self._step(total)}
        if (driven := self._drive.check()).judged:
            found["drive"] = driven
        if self._twin is not None:
            rest = self.left_out if self._known else total - self._twin.judged
            found["scheme"] = self._twin.check(rest)
        return found

    def _step(self, total: int) -> RecordedStep:
        """Return the comparison with the reference's control periods."""
        tolerances = self._setup.scenario.crosscheck.tolerances.at(self._period)
        tolerance = self._tolerance or tolerances.one_step
        error, change, recorded, euler, friction = np.sqrt(
            self._sums / (max(self.compared, 1) * self._sizes)
        )
        moved = np.maximum(change, recorded)
        stepping = SAFETY * euler + self._pyramid * friction
        share, explained = (
            np.divide(part, moved, out=np.zeros(2), where=moved > 0.0).tolist()
            for part in (error, stepping)
        )
        whose = "joints" if self._setup.joints else "base", "base"
        scheme = bool(self._twin) and not self._known
        why = [because(Code.STEPPING_EXPLAINS, share=each, scheme=scheme) for each in explained]
        rates = [*map(Rates, whose, share, explained, why)]
        rates.sort(key=lambda each: each.share / each.allowed(tolerance), reverse=True)
        return RecordedStep(
            ticks=total,
            compared=self.compared,
            left_out=self.left_out,
            skipped=self.skipped,
            delay=self._delay or 0,
            rms=math.sqrt(self._rms / (max(self.compared, 1) * self._sizes[0])),
            max=self._max,
            relative=rates[0].share,
            allowed=rates[0].allowed(tolerance),
            rates=tuple(rates),
            tolerance=tolerance,
            largest=float(error.max()),
            least=min((e for e, size in zip(explained, moved) if size), default=0.0),
            period=self._period,
            refused=self._refused,
        )

    @property
    def worst(self) -> str:
        """The joint whose error exceeds most what time stepping explains, or `base_link`."""
        error, euler, friction = np.sqrt(self._by_rate)
        found = first_largest(error - SAFETY * euler - self._pyramid * friction)
        return [*self._setup.joints, *3 * ["base_link"]][found]

    def _compare(
        self, before: RobotState, after: RobotState, command: Command
    ) -> tuple[_Step, Sequence[Event]]:
        start = self._reference.reset(before)
        predicted = self._reference.step(command, self._period)
        events = [*self._reference.take_events()]
        old, new, now = _rates(before), _rates(predicted), _rates(after)
        left, euler, friction = new - now, np.zeros_like(new), np.zeros_like(new)
        apart = None
        due = not self._known or (self.compared + len(self._trials)) % SAMPLED == 0
        if self._twin and due and not self._rough and not self._meets():
            apart = self._twin.differ(before, after, command)
        if apart is not None and not self._known:
            n = len(self._setup.joints)
            left = np.concatenate([apart[n : 2 * n], apart[-3:]])
        elif self._fine is not None:
            a, b = (self._acceleration(state, command, events) for state in (start, predicted))
            euler = 0.5 * self._setup.scenario.physics_step * (b - a)
        if apart is None and self._pyramid and self._touches():
            friction = new - old - self._period * self._free(before, command.effort)
        error, position = new - now, predicted.q - after.q
        parts = np.array([left, new - old, now - old, euler, friction])
        return _Step(before, after, command, error, parts, position, apart), events

    def _gives(self, step: _Step) -> bool:
        """Return whether hands hold the reference at rest, and Gazebo's give a little there."""
        if self._engine != GAZEBO or not step.after.switches:
            return False
        effort = np.abs(step.command.effort).max(initial=0.0)
        rest = not (_rates(step.before) + step.parts[1]).any()
        return rest and bool(np.abs(_rates(step.after)).max() <= GIVES * effort)

    def _meets(self) -> bool:
        """Return whether something touches in the reference; the twin is not used from then on."""
        if self._setup.contact is None:
            return False
        found = self._reference.contacts()
        if self._twin and (found is None or found):
            self._twin.stop(
                f"{self._engine} does not report its contacts" if found is None else TOUCHES
            )
        return not self._twin

    def _touches(self) -> bool:
        """Return whether anything touches in the reference, as far as it reports it."""
        found = self._reference.contacts()
        return self._setup.contact is None or found is None or bool(found)

    def _acceleration(self, state: RobotState, command: Command, events: list[Event]) -> Array:
        """Return the acceleration with which the reference leaves a state; add what happens."""
        assert self._fine is not None
        start = self._fine.reset(state)
        after = self._fine.step(command, self._small)
        events += self._fine.take_events()
        return (_rates(after) - _rates(start)) / self._small

    def _free(self, state: RobotState, effort: Array) -> Array:
        """Return the acceleration without contact and friction."""
        found = self._reference.acceleration(state, effort)
        assert found is not None
        turn = quaternion_matrix(state.orientation).T
        return np.concatenate([found.joints, turn @ found.base[3:]])

    def settle(self) -> list[RobotState]:
        """Choose the delay by the steps so far, the smallest that explains them, and add them.

        Gazebo's engine takes forward Euler steps, whose error no delay has to explain.
        """
        if self._delay is not None or not self._trials:
            return []
        left = np.array([[s.parts[0] - s.parts[3] for s in steps] for steps in self._trials])
        total = (left**2).sum(axis=(0, 2))
        self._delay = int(np.flatnonzero(total <= 2.0 * total.min())[0])
        trials, self._trials = self._trials, []
        return [self._add(steps[self._delay]) for steps in trials]

    def _add(self, step: _Step) -> RobotState:
        n = len(self._setup.joints)
        parts = (slice(n) if n else slice(None), slice(n, None))
        self._sizes = np.array([n or 3, 3])
        self._sums += [[float(a[part] @ a[part]) for part in parts] for a in step.parts]
        self._by_rate += np.square(step.parts[[0, 3, 4]])
        self._rms += float(step.error[parts[0]] @ step.error[parts[0]])
        if self._twin is not None and step.apart is not None:
            self._twin.add(step.before, step.after, step.command, step.apart)
        self._max = max(self._max, float(np.abs(step.error[parts[0]]).max()))
        self.compared += 1
        return RobotState(step.after.time, step.position, step.error[:n], np.zeros(n))


def _rates(state: RobotState) -> Array:
    """Return the rates of the joints and of the base's turning (n + 3,) [rad/s]."""
    return np.concatenate([state.qd, state.twist[3:]])
