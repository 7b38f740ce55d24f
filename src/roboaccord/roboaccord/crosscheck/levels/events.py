"""Level `events`: stops, contacts, magnets and failing joints in the event log of an engine's run.

Each event is simulated again. Engine and reference (the analytical model) start from the recorded
state two control periods before it and follow the recorded commands, the engine at its physics step
h, at h/2 and h/4. The difference of an event's time, impulse and energy from the reference's must
vanish as the step goes to 0. So short a path is not chaotic, and an error of the log, as against
the engine's own motion, remains at every step. Stops are also checked against the recorded
positions: a joint that reaches its stop must log it, and no other may.

An engine reports the impulse of a contact from the first touch to the end of the control period, so
forces after the impact are added to the reference's impulse, too. Events of two logs are matched in
measures/event_matching.py, and SAFETY is set in extrapolation.py. `check_events` is the whole
measurement. COMPARED_EVENTS may be tuned. Names of the checks are keys of summary.json and stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from roboaccord.contract import Event, Quantity, Seconds, Trajectory
from roboaccord.contract.outcome import Code, Finding, Reason, because, unless_few
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.extrapolation import SAFETY
from roboaccord.crosscheck.level import Entry, Level, Rows, listed
from roboaccord.crosscheck.measures import event_matching as matching
from roboaccord.crosscheck.measures.event_matching import STOP, TOUCH, event_key
from roboaccord.crosscheck.restart import simulators_by_step, why_no_restart
from roboaccord.crosscheck.runs import tightened
from roboaccord.crosscheck.special_ticks import stop_ticks
from roboaccord.crosscheck.ticks import TIME_ROUND_OFF, worst_and_even
from roboaccord.engines import REFERENCE, EngineSpec
from roboaccord.engines.base import engine_parts
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup
from roboaccord.simulators import Simulator, StopWatch

# Number of events that are compared, half with the largest impulses, half spread evenly: limits the
# time. Of 20 even ones, errors in one of seven escape with a probability of 5 % (rule of three).
COMPARED_EVENTS = 40
# Relative round-off of impulses and energies, sums over up to 1000 steps of 1e-12 each (ticks.py).
ROUND_OFF = 1e-9
# By kind of event: what engines have a law of their own for, in words.
LAWS = {TOUCH: "contact", STOP: "stops"}
# Disagreement of log and motion: a stop in the log that the joint does not reach in that control
# period, and a stop that the joint reaches without an event in the log.
LOGGED, MISSED = "logged", "missed"


@dataclass(frozen=True)
class EventDifference:
    """Difference of one event from the reference's.

    Args:
        kind, subject, time: as logged [s].
        what: what differs: "time" [s], "impulse" [N s] or "energy" [J]; for a stop LOGGED or
            MISSED; "" where either engine or reference has no such event.
        found: value in the log.
        expected: value of the reference from the same state.
        left: difference extrapolated to a physics step of 0.
        bound: what time stepping explains of `left`.
        sure: whether the excess over the bound is certain.
        step: the smallest physics step [s].
    """

    kind: str
    subject: str
    time: Seconds
    what: str
    found: float = 0.0
    expected: float = 0.0
    left: float = 0.0
    bound: float = 0.0
    sure: bool = True
    step: float = 0.0


@dataclass(frozen=True)
class EventsCheck:
    """Comparison of an engine's events with the reference's.

    Args:
        logged: number of events in the log.
        compared: number of those that were compared.
        differences: those that time stepping does not explain, in order of time.
        why: reason why no event can be compared; None where they are.
    """

    logged: Annotated[int, Quantity("1", "events in the log")]
    compared: Annotated[int, Quantity("1", "events that were compared")]
    differences: Sequence[EventDifference] = ()
    why: Reason | None = None


def check_events(
    setup: Setup, engine: EngineSpec, run: Trajectory, reference: Sequence[Event]
) -> EventsCheck:
    """Compare the events of an engine's run with its own motion and with the reference's.

    In a chaotic motion stops and contacts are left to the level `statistics`: which joint reaches
    its stop next depends on all other joints.

    Args:
        setup: robot and scenario.
        engine: that made the run.
        run: recorded.
        reference: events of the reference's own run.
    """
    simulator = make_simulator(setup, engine)
    expected = [event for event in reference if matching.is_logged(simulator, run, event)]
    if not run.events and not expected:
        return EventsCheck(0, 0, why=because(Code.NO_EVENTS))
    if reason := why_no_restart(simulator):
        return EventsCheck(len(run.events), 0, why=because(Code.NO_RESTART, text=reason))
    fine_reference = make_simulator(tightened(setup), physics_step=setup.scenario.physics_step / 4)
    engine_by_step = simulators_by_step(setup, engine)
    # Events of the log, compared with the reference's from the same state.
    differences = [*misplaced_stops(simulator, run)]
    chosen = choose_events(run.events)
    if setup.scenario.crosscheck.statistics is not None:  # a chaotic motion
        chosen = [event for event in chosen if event_key(event)[0] not in LAWS]
        expected = []
    stopped = stop_ticks(simulator, run)
    compared = [e for e in chosen if matching.comes_freely(fine_reference, run, stopped, e)]
    for event in compared:
        differences += compare_event(setup, fine_reference, engine_by_step, run, event)
    # Events of the reference's own run that the log lacks, and that follow from the recorded
    # states, too.
    missing = [event for event in expected if not matching.nearest_event(run.events, event)]
    for event in choose_events(missing):
        first, _ = matching.event_window(run, event)
        recurs = first > 0 and matching.repeat_event(fine_reference, run, event) is not None
        if recurs and matching.comes_freely(fine_reference, run, stopped, event):
            differences.append(EventDifference(event.kind, event.subject, event.time, ""))
    count = sum(event.kind == STOP or event in compared for event in run.events)
    return EventsCheck(len(run.events), count, sorted(differences, key=lambda d: d.time))


def misplaced_stops(simulator: Simulator, run: Trajectory) -> Iterator[EventDifference]:
    """Yield logged stops that the recorded positions do not reach, and reached ones not logged."""
    model = next((part for part in engine_parts(simulator) if part.joints == run.joints), None)
    if model is None:
        return
    watch = StopWatch.of(model.tree, run.joints)
    watch.reset(run.q[0])
    reached = {
        (run.joints[joint], round(float(time), 9))
        for time, q in zip(run.time[1:], run.q[1:], strict=True)
        for joint in watch.new_stops(q)
    }
    logged = {(event.subject, round(event.time, 9)) for event in run.events if event.kind == STOP}
    for joint, time in sorted(reached ^ logged, key=lambda stop: stop[1]):
        yield EventDifference(STOP, joint, time, LOGGED if (joint, time) in logged else MISSED)


def compare_event(
    setup: Setup, reference: Simulator, engines: Sequence[Simulator], run: Trajectory, event: Event
) -> Iterator[EventDifference]:
    """Yield the differences of a logged event that time stepping does not explain.

    Args:
        setup: robot and scenario.
        reference: at the smallest of the engine's three steps.
        engines: simulators of the engine at the steps h, h/2 and h/4.
        run, event: recorded.
    """
    at_steps = [matching.repeat_event(simulator, run, event) for simulator in engines]
    expected = matching.predict_event(reference, run, event)
    name = (event.kind, event.subject, event.time)
    step = engines[-1].physics_step
    at_h, at_half, at_quarter = at_steps
    # Only one of both has such an event. That is certain if the engine does not repeat the logged
    # event at h, or has it neither at h/2 nor at h/4.
    if at_h is None or (expected is None) is not (at_quarter is None):
        is_certain = at_h is None or (at_half is None and at_quarter is None)
        yield EventDifference(*name, "", sure=is_certain, step=step)
    if expected is None or any(repeated is None for repeated in at_steps):
        return
    for quantity in ("time", "impulse", "energy"):
        if quantity == "impulse" and event.kind == STOP:
            continue  # an engine's stops push over many steps, and their impulse is not summed
        logged, target = getattr(event, quantity), getattr(expected, quantity)
        # Errors e0, e1 and e2 at h, h/2 and h/4, of which e0 is that of the log. With order 1 the
        # last two are extrapolated to 2 e2 - e1 at a step of 0, the first two to 2 e1 - e0; the
        # difference of both, 2 e2 - 3 e1 + e0, bounds what time stepping explains.
        values = [getattr(repeated, quantity) for repeated in at_steps]
        errors = [value - values[0] + logged - target for value in values]
        e0, e1, e2 = errors
        remainder = abs(2.0 * e2 - e1)
        bound = SAFETY * abs(2.0 * e2 - 3.0 * e1 + e0) + ROUND_OFF * max(abs(target), 1.0)
        if quantity == "time":
            remainder, bound = abs(e2), timing_accuracy(setup, engines[-1], event)
        if remainder > bound:
            sure = remainder > SAFETY * abs(np.diff(errors)).sum()  # beyond all that steps change
            yield EventDifference(*name, quantity, logged, target, remainder, bound, sure, step)


def timing_accuracy(setup: Setup, engine: Simulator, event: Event) -> float:
    """Return the accuracy with which an engine can time an event [s].

    Joints are checked once a control period and stopped one physics step after they arrive;
    contacts are checked in each physics step; commands act at the start of a control period.
    """
    if event.kind == STOP:
        return setup.scenario.control_period + SAFETY * setup.scenario.physics_step
    return SAFETY * engine.physics_step if event_key(event)[0] == TOUCH else TIME_ROUND_OFF


def choose_events(events: Sequence[Event]) -> list[Event]:
    """Return up to COMPARED_EVENTS events, those of largest impulse and others, by time."""
    impulses = np.array([event.impulse for event in events])
    return [events[i] for i in map(int, worst_and_even(impulses, COMPARED_EVENTS))]


class EventsLevel(Level[EventsCheck]):
    """Judge by the first event whose difference time stepping does not explain."""

    name = "events"
    title = "Events"

    def measure(self, case: CheckCase) -> EventsCheck:
        """Compare the events of the run with the reference's from the same states."""
        return check_events(case.setup, case.engine, case.run, case.runs.shown(REFERENCE).events)

    def judge(self, check: EventsCheck, tolerances: Tolerances) -> Finding:
        """Return the outcome by the first difference that is certain, or else the first one."""
        if check.why:
            return Finding.does_not_apply(check.why)
        if not check.differences:
            total = min(check.logged, COMPARED_EVENTS)
            return unless_few(Finding.within(), check.compared, total, "events")
        certain = [difference for difference in check.differences if difference.sure]
        first = (certain or check.differences)[0]
        code = Code.EVENT_UNEXPLAINED if first.what else Code.EVENT_MISSING
        if first.what in (LOGGED, MISSED):
            code = Code.EVENT_MISPLACED
        law = LAWS.get(event_key(Event(first.time, first.kind, first.subject))[0], "")
        others = len({(d.kind, d.subject, d.time) for d in check.differences}) - 1
        why = because(code, **vars(first), law=law, others=others)
        if not certain:
            return Finding.not_judged(why)
        quantity = "event" if code is Code.EVENT_MISPLACED else first.what or "event"
        return Finding.outside(why, quantity=quantity, where=first.subject, size=first.left)

    def rows(self, check: EventsCheck) -> Rows:
        """Return the numbers of events, and those that differ."""
        descriptions = [f"{d.kind} of {d.subject} at {d.time:g} s" for d in check.differences]
        return {
            "in the log": Entry(check.logged),
            "compared": Entry(check.compared),
            "off": Entry(str(check.why)) if check.why else listed(descriptions),
        }
