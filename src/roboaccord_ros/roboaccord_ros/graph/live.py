"""Assembles the control periods of a running robot from messages, and judges them one by one.

States, events, wrenches, twists and efforts come as separate messages, in no order among each
other. So LiveSteps judges a period only once LAG further states have come: all of its messages have
come by then. `StepCheck` of the core judges, so the live verdict is that of `accord crosscheck
BAG`; test_live_crosscheck compares the two.

LAG, MAX_WAITING, SEARCH_TIME and WARM_UP_PERIODS may be tuned.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from roboaccord.contract import AccordError, Array, Command, Event, RobotState
from roboaccord.crosscheck import Report, StepCheck
from roboaccord.run import make_simulator
from roboaccord.scenario import Setup

from roboaccord_ros.graph.names import EFFORTS, TWIST, WRENCH

# Number of states by which comparisons lag behind, for messages of a period may come after its end:
# 20 ms at 1 kHz, a few times what the scheduler of a busy machine delays a process.
LAG = 20
# Largest number of states that wait, 50 s at 1 kHz; older ones are skipped. It bounds memory: 70 MB
# of the snake's, which take 1.4 MB per 1000 (core run/metrics.py).
MAX_WAITING = 50_000
# s: longest time for comparisons after the result of a run, a third of the 90 that a launch waits.
SEARCH_TIME = 30.0
# Number of control periods that compile all kernels. Events and comparisons with the period before
# come with the second, so any from 3 on would do; in Gazebo the first ones are not compared.
WARM_UP_PERIODS = 5


def warm_up(check: StepCheck) -> None:
    """Let a check judge some periods of the reference at rest, which compiles its kernels."""
    setup = check.setup
    period, command = setup.scenario.control_period, Command(np.zeros(len(setup.joints)))
    before, simulator = setup.initial, make_simulator(setup)
    with suppress(AccordError):  # the robot at rest may end its run, which the real one need not
        for _ in range(WARM_UP_PERIODS):
            after = simulator.step(command, period)
            check.compare(before, after, command=command)
            before = after
        check.choose_delay()
        check.verdict()


class SwitchLog:
    """Values of a robot's switches through a run, from its events.

    Args:
        initial: the switches at the start.

    Attributes:
        now: the switches at the time of the last `advance`.
    """

    def __init__(self, initial: Mapping[str, bool]) -> None:
        self._pending: list[Event] = []  # events after the time of the last `advance`
        self.now = dict(initial)

    def add(self, event: Event) -> None:
        """Add an event; one that is not of a switch is ignored."""
        if event.subject in self.now:
            self._pending.append(event)

    def advance(self, until: float) -> None:
        """Apply the events before a time [s]."""
        due = [event for event in self._pending if event.time < until]
        self._pending = [event for event in self._pending if event.time >= until]
        self.now = {**self.now, **{event.subject: event.kind.endswith("_on") for event in due}}


class LiveStep(NamedTuple):
    """A control period that was judged.

    Args:
        before, after: states at its ends.
        errors: errors, as states, of what has been compared since the last period.
        has_vectors: whether wrenches or twists are commanded.
    """

    before: RobotState
    after: RobotState
    errors: Sequence[RobotState]
    has_vectors: bool


class LiveSteps:
    """Control periods of a running robot; they wait here until there is time to judge them.

    Args:
        setup: robot and scenario.
        make_check: makes the check of a run.

    Attributes:
        check: the check that judges the present run.
    """

    def __init__(self, setup: Setup, make_check: Callable[[], StepCheck]) -> None:
        self._period, self._initial = setup.scenario.control_period, setup.initial.switches
        self._make_check = make_check
        self._states = deque[RobotState]()  # states to be judged, the oldest first
        # Vectors that have come, by topic, then by the time of the state that they answer [s].
        self._vectors: dict[str, dict[float, Array]] = {WRENCH: {}, TWIST: {}, EFFORTS: {}}
        self._vector_topics = set[str]()  # topics on which wrenches or twists have come
        self._begin_run()

    @property
    def latest(self) -> float:
        """Time of the newest state [s]; -1 where there is none."""
        return self._states[-1].time if self._states else -1.0

    @property
    def is_late(self) -> bool:
        """Whether more than LAG states wait to be judged."""
        return len(self._states) > LAG

    def verdict(self, end: float = 0.0) -> Report:
        """Return the verdict so far on a run up to its newest state, or to a later `end` [s]."""
        return self.check.verdict(round(max(self.latest, end) / self._period))

    def add_vector(self, name: str, time: float, vector: Array) -> None:
        """Add a wrench, a twist or efforts that answer the state of a time [s]."""
        if name != EFFORTS:  # a period without efforts is judged all the same
            self._vector_topics.add(name)
        self._vectors[name][time] = vector

    def add_events(self, events: Sequence[Event]) -> None:
        """Add events, among them those of switches."""
        self.check.note_events(events)
        for event in events:
            self._switches.add(event)

    def add_state(self, state: RobotState) -> bool:
        """Add the next state; return whether it begins another run, after a reset."""
        is_reset = state.time <= self.latest
        if is_reset:
            self._begin_run()
        if not self._states:  # the first of a run; this node has missed those before it
            self.check.skipped += round(state.time / self._period)
        self._states.append(state)
        if len(self._states) > MAX_WAITING:
            self._states.popleft()
        return is_reset

    def judge(self, until: float, lag: int = LAG) -> Iterator[LiveStep]:
        """Judge the periods of the states that wait, except the last ones; yield each result.

        Args:
            until: time of the steady clock at which to stop [s].
            lag: number of states that still wait afterwards, at least 1.
        """
        while len(self._states) > lag and time.monotonic() < until:
            before = self._with_switches(self._states.popleft())
            after = self._with_switches(self._states[0])
            # Wrench, twist and efforts that answer the first state.
            vectors = {n: by_time.pop(before.time, None) for n, by_time in self._vectors.items()}
            # Without the commanded wrench or twist the period cannot be computed.
            if any(vectors[name] is None for name in self._vector_topics):
                self.check.skipped += 1
                continue
            efforts = vectors[EFFORTS]
            command = None if efforts is None else Command(efforts)
            errors = self.check.compare(before, after, vectors[WRENCH], vectors[TWIST], command)
            yield LiveStep(before, after, errors, bool(self._vector_topics))

    def end_run(self) -> Sequence[RobotState]:
        """Skip the states that wait; return the errors that are known only now."""
        self.check.skipped += max(len(self._states) - 1, 0)
        return self.check.choose_delay()

    def _begin_run(self) -> None:
        """Begin a run, with a new check."""
        self.check, self._switches = self._make_check(), SwitchLog(self._initial)
        self._states.clear()

    def _with_switches(self, state: RobotState) -> RobotState:
        """Return a state with the switches at its time."""
        # Half a period earlier: an event at the state's own time acts in the period that follows.
        self._switches.advance(state.time - 0.5 * self._period)
        return replace(state, switches=self._switches.now)
