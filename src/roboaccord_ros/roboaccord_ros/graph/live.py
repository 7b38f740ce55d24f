"""Control periods of a run that goes on: put together as its parts come, and judged.

BEHIND, LONGEST and WARM may be tuned: how late messages may come, how many states wait in memory,
how many periods are judged in advance to compile. How a period is judged is changed in `StepCheck`
(step_check.py), so that the live verdict stays that of `accord crosscheck BAG`, to which
test_live_crosscheck compares it.

States, events, wrenches and twists come each by itself, and in no order among each other.
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

BEHIND = 20  # states by which comparisons lag: what belongs to a step comes later, perhaps
LONGEST = 50_000  # states that may wait; older ones are skipped
WARM = 5  # control periods; in Gazebo the first ones only show how late commands act


def warm_up(check: StepCheck) -> None:
    """Let a check judge some periods of the reference at rest: that compiles what judging takes."""
    setup = check.setup
    period, command = setup.scenario.control_period, Command(np.zeros(len(setup.joints)))
    before, simulator = setup.initial, make_simulator(setup)
    with suppress(AccordError):  # of a run that stops here; the run itself may be another
        for _ in range(WARM):
            after = simulator.step(command, period)
            check.take(before, after, command=command)
            before = after
        check.settle()
        check.verdict()


class SwitchLog:
    """Follow the switches of a robot through a run.

    Args:
        initial: the switches at the start.
    """

    def __init__(self, initial: Mapping[str, bool]) -> None:
        self._to_come: list[Event] = []
        self.now = dict(initial)

    def note(self, event: Event) -> None:
        """Take an event, if it is one of a switch."""
        if event.subject in self.now:
            self._to_come.append(event)

    def advance(self, until: float) -> None:
        """Follow the events before a time [s]."""
        due = [event for event in self._to_come if event.time < until]
        self._to_come = [event for event in self._to_come if event.time >= until]
        self.now = {**self.now, **{event.subject: event.kind.endswith("_on") for event in due}}


class LiveStep(NamedTuple):
    """A control period that was judged.

    Args:
        before, after: samples.
        errors: of the states that are compared by now.
        driven: whether wrenches or twists are commanded.
    """

    before: RobotState
    after: RobotState
    errors: Sequence[RobotState]
    driven: bool


class LiveSteps:
    """Judge the control periods of a run that goes on, in their own time.

    Args:
        setup: robot and scenario.
        make: makes what judges a run.

    Attributes:
        check: judges the present run.
    """

    def __init__(self, setup: Setup, make: Callable[[], StepCheck]) -> None:
        self._period, self._initial = setup.scenario.control_period, setup.initial.switches
        self._make, self._states = make, deque[RobotState]()
        # By the time of the state that they answer.
        self._vectors: dict[str, dict[float, Array]] = {WRENCH: {}, TWIST: {}, EFFORTS: {}}
        self._given, self._begun = set[str](), False
        self._begin()

    @property
    def latest(self) -> float:
        """Time of the newest state [s]; -1 where there is none."""
        return self._states[-1].time if self._states else -1.0

    @property
    def behind(self) -> bool:
        """Whether more states wait than comparisons lag by."""
        return len(self._states) > BEHIND

    def verdict(self, end: float = 0.0) -> Report:
        """Return the verdict so far, on a run of which states are known, or to come until `end`."""
        return self.check.verdict(round(max(self.latest, end) / self._period))

    def note_vector(self, name: str, time: float, vector: Array) -> None:
        """Take a wrench, a twist or efforts that answer the state of a time [s]."""
        if name != EFFORTS:  # no period waits for these
            self._given.add(name)
        self._vectors[name][time] = vector

    def note_events(self, events: Sequence[Event]) -> None:
        """Take events."""
        self.check.note(events)
        for event in events:
            self._switches.note(event)

    def keep(self, state: RobotState) -> bool:
        """Take the next state; return whether it begins another run, behind a reset."""
        is_back = state.time <= self.latest
        if is_back:
            self._begin()
        if not self._begun:  # what was before it came too early
            self._begun = True
            self.check.skipped += round(state.time / self._period)
        self._states.append(state)
        if len(self._states) > LONGEST:
            self._states.popleft()
        return is_back

    def judge(self, until: float, behind: int = BEHIND) -> Iterator[LiveStep]:
        """Judge the states that wait, but for the last ones.

        Args:
            until: while there is time [s of the steady clock].
            behind: number of those that are left.
        """
        while len(self._states) > behind and time.monotonic() < until:
            before = self._switched(self._states.popleft())
            after = self._switched(self._states[0])
            given = {n: known.pop(before.time, None) for n, known in self._vectors.items()}
            if any(given[name] is None for name in self._given):
                self.check.skipped += 1
                continue
            efforts = given[EFFORTS]
            command = None if efforts is None else Command(efforts)
            errors = self.check.take(before, after, given[WRENCH], given[TWIST], command)
            yield LiveStep(before, after, errors, bool(self._given))

    def settle(self) -> Sequence[RobotState]:
        """End: what waits is skipped; return the errors of what is compared now."""
        self.check.skipped += max(len(self._states) - 1, 0)
        return self.check.settle()

    def _begin(self) -> None:
        self.check, self._switches = self._make(), SwitchLog(self._initial)
        self._begun = False
        self._states.clear()

    def _switched(self, state: RobotState) -> RobotState:
        """Return a state with the switches that the events before it have set."""
        self._switches.advance(state.time - 0.5 * self._period)
        return replace(state, switches=self._switches.now)
