"""Level `events`: the stops, contacts, magnets and failing joints in an engine's log.

SAMPLED, BEFORE and AFTER may be tuned; each event is run again at three steps, which costs time.
The reference is the analytical model. Kinds of events may be added in `key` and `is_logged`, and in
LAWS where engines have a law of their own. TOUCH and STOP are words in logs, and stay. The bound is
set in extrapolation.py. test_event_level (monkeybot) and test_packbot_event_level test the
findings.

From the recorded state two control periods before an event the reference goes on as it was
commanded, and so does the engine, at its physics step, a half and a quarter of it. Time, impulse
and energy of the event must come to the reference's as the step falls. No motion is chaotic over so
short a path, and what the log has beside the engine's own motion stays at every step.

An engine's impulse of a contact is that from the first touch to the end of the control period, so
the reference's has what presses after the impact, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.outcome import Code, Finding, Reason, because, unless_few
from roboaccord.contract.results import Quantity, Seconds
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.crosscheck.extrapolation import SAFETY, engines_of, go, no_restart
from roboaccord.crosscheck.level import Entry, Level, Rows, listed
from roboaccord.crosscheck.motion import CheckCase
from roboaccord.crosscheck.runs import REFERENCE, tightened
from roboaccord.crosscheck.ticks import at_stops
from roboaccord.engines.base import engine_parts
from roboaccord.engines.spec import EngineSpec
from roboaccord.numerics.ranking import descending, ranked
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.stop_watch import StopWatch

SAMPLED = 40  # events: those with the largest impulses, and others evenly
BEFORE, AFTER = 2, 2  # control periods
ROUND_OFF = 1e-9  # s, and relative
TOUCH = "contact"
STOP = "joint_stop"
LAWS = {TOUCH: "contact", STOP: "stops"}
LOGGED = "logged"  # an event of a stop, though the joint does not reach it in that control period
MISSED = "missed"  # the reverse
Key = tuple[str, str]


@dataclass(frozen=True)
class EventDifference:
    """Hold what is off of one event.

    Args:
        kind, subject, time: as logged.
        what: time, impulse or energy; LOGGED or MISSED of a stop; "" where one of both has no such
            event.
        found, expected: in the log, and of the reference from the same state, in the unit of it.
        left, bound: of their difference at a physics step of 0, and what time stepping explains.
        sure: whether the excess is.
        step: the smallest physics step.
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
    """Hold the comparison of an engine's events with the reference's.

    Args:
        logged: number of events in the log.
        compared: number of those that were compared.
        differences: that time stepping does not explain, in order of time.
        why: nothing can be compared; None where it can.
    """

    logged: Annotated[int, Quantity("1", "events in the log")]
    compared: Annotated[int, Quantity("1", "events that were compared")]
    differences: Sequence[EventDifference] = ()
    why: Reason | None = None


def check_events(
    setup: Setup, engine: EngineSpec, run: Trajectory, reference: Sequence[Event]
) -> EventsCheck:
    """Compare the events of an engine's run with its motion, and the reference's from there.

    Of a chaotic motion statistics compare what stops and contacts do: which of many joints comes
    to its stop next is decided by the others.

    Args:
        setup: robot and scenario.
        engine: that made the run.
        run: recorded.
        reference: events of the reference's own run.
    """
    simulator = make_simulator(setup, engine)
    chaotic = setup.scenario.crosscheck.statistics is not None
    known = [event for event in reference if is_logged(simulator, run, event)]
    if not run.events and not known:
        return EventsCheck(0, 0, why=because(Code.NO_EVENTS))
    if reason := no_restart(simulator):
        return EventsCheck(len(run.events), 0, why=because(Code.NO_RESTART, text=reason))
    fine = setup.scenario.physics_step / 4
    model = make_simulator(tightened(setup), physics_step=fine)
    engines = engines_of(setup, engine)
    found: list[EventDifference] = []
    chosen = choose(run.events)
    found += misplaced_stops(simulator, run)
    if chaotic:
        chosen = [event for event in chosen if key(event)[0] not in LAWS]
        known = []
    held = at_stops(simulator, run)
    chosen = [event for event in chosen if comes_freely(model, run, held, event)]
    for event in chosen:
        found += compare_event(setup, model, engines, run, event)
    for event in choose([each for each in known if not nearest(run.events, each)]):
        first, last = window(run, event)
        comes = first and nearest(go(model, run, first, last).run.events, event)
        if comes and comes_freely(model, run, held, event):
            found.append(EventDifference(event.kind, event.subject, event.time, ""))
    compared = sum(event.kind == STOP or event in chosen for event in run.events)
    return EventsCheck(len(run.events), compared, sorted(found, key=lambda each: each.time))


def comes_freely(
    reference: Simulator, run: Trajectory, held: NDArray[np.bool_], event: Event
) -> bool:
    """Return whether no other stop acts shortly before an event, if that is one of a joint's stops.

    A joint that comes to its stop while others are at theirs comes as the law of these has it.

    Args:
        reference: that goes on from the state before.
        run: recorded.
        held: in which ticks a joint is at its stop (k - 1,).
        event: of the run.
    """
    if event.kind != STOP:
        return True
    first, last = window(run, event)
    at = int(np.searchsorted(run.time, event.time - ROUND_OFF))
    if held[first : max(at - 1, 0)].any():
        return False
    both = (run.events, go(reference, run, first, last).run.events)
    others = [
        e.time for each in both for e in each if e.kind == STOP and e.subject != event.subject
    ]
    return not any(run.time[first] < time <= run.time[at] + ROUND_OFF for time in others)


def misplaced_stops(simulator: Simulator, run: Trajectory) -> Iterator[EventDifference]:
    """Yield the stops that an engine logs where its joints do not come to them, or the reverse."""
    part = next((p for p in engine_parts(simulator) if p.joints == run.joints), None)
    if part is None:
        return
    watch = StopWatch.of(part.tree, run.joints)
    watch.reset(run.q[0])
    come = {
        (run.joints[joint], round(float(time), 9))
        for time, q in zip(run.time[1:], run.q[1:], strict=True)
        for joint in watch.see(q)
    }
    noted = {(e.subject, round(e.time, 9)) for e in run.events if e.kind == STOP}
    for joint, time in sorted(come ^ noted, key=lambda each: each[1]):
        yield EventDifference(STOP, joint, time, LOGGED if (joint, time) in noted else MISSED)


def compare_event(
    setup: Setup, reference: Simulator, engines: Sequence[Simulator], run: Trajectory, event: Event
) -> Iterator[EventDifference]:
    """Yield what is off of an event of the log."""
    motions = [go(simulator, run, *window(run, event)).run.events for simulator in engines]
    again = [nearest(events, event) for events in motions]
    other = predict_event(reference, run, event, press=key(event)[0] == TOUCH)
    name = (event.kind, event.subject, event.time)
    step = engines[-1].physics_step
    if again[0] is None or (other is None) is not (again[-1] is None):
        yield EventDifference(*name, "", sure=again[0] is None or again[1] is again[-1], step=step)
    if other is None or any(each is None for each in again):
        return
    for what in ("time", "impulse", "energy"):
        value, expected = getattr(event, what), getattr(other, what)
        if what == "impulse" and event.kind == STOP:
            continue  # an engine's stops push through many steps, and are not added up
        steps = [getattr(each, what) for each in again]
        errors = [step - steps[0] + value - expected for step in steps]
        left, moved = abs(2.0 * errors[2] - errors[1]), abs(np.diff(errors)).sum()
        bound = SAFETY * abs(2.0 * errors[2] - 3.0 * errors[1] + errors[0])
        bound += ROUND_OFF * max(abs(expected), 1.0)
        if what == "time":
            left, bound = abs(errors[2]), resolution(setup, engines[-1], event)
        if left > bound:
            sure = left > SAFETY * moved
            yield EventDifference(*name, what, value, expected, left, bound, sure, step)


def resolution(setup: Setup, engine: Simulator, event: Event) -> float:
    """Return how well an engine knows the time of an event [s].

    Joints are looked at once a control period, and are stopped a step after they have come;
    contacts are looked at in each physics step; what is commanded acts at a control tick.
    """
    if event.kind == STOP:
        return setup.scenario.control_period + SAFETY * setup.scenario.physics_step
    return SAFETY * engine.physics_step if key(event)[0] == TOUCH else ROUND_OFF


def predict_event(
    reference: Simulator, run: Trajectory, event: Event, *, press: bool
) -> Event | None:
    """Return an event of the log as the reference has it from the state before.

    Joints are looked at once a control period, so it has its stops at the end of one, too.

    Args:
        reference: is put in that state.
        run, event: recorded.
        press: whether its impulse goes on to the end of the control period.
    """
    first, last = window(run, event)
    if not press:
        found = nearest(go(reference, run, first, last).run.events, event)
        if found is None or event.kind != STOP:
            return found
        return replace(
            found, time=float(run.time[np.searchsorted(run.time, found.time - ROUND_OFF)])
        )
    events, pressed = list[Event](), list[tuple[float, float]]()
    reference.reset(run.state(first))
    step = reference.physics_step
    for i in range(first, last):
        for _ in range(round((run.time[i + 1] - run.time[i]) / step)):
            state = reference.step(run.command(i), step)
            events += reference.take_events()
            force = sum(
                p.force for p in reference.contacts() or () if pair(p.pair) == key(event)[1]
            )
            pressed.append((state.time, step * force))
    other = nearest(events, event)
    if other is None:
        return None
    end = run.time[np.searchsorted(run.time, event.time + ROUND_OFF)]
    span = [e.impulse for e in events if key(e) == key(event) and other.time <= e.time < end]
    rest = [impulse for time, impulse in pressed if other.time < time < end + ROUND_OFF]
    return Event(other.time, other.kind, other.subject, sum(span) + sum(rest), other.energy)


def window(run: Trajectory, event: Event) -> tuple[int, int]:
    """Return the samples between which an event is looked at."""
    at = int(np.searchsorted(run.time, event.time - ROUND_OFF))
    return max(at - BEFORE, 0), min(at + AFTER, len(run) - 1)


def key(event: Event) -> Key:
    """Return what an event is of, by one name for all: hulls have the name of their link."""
    if event.kind in ("impact", TOUCH):
        return TOUCH, pair(event.subject.split())
    return event.kind, event.subject


def pair(names: Sequence[str]) -> str:
    """Return the links of a pair of hulls or links, in one order."""
    return " ".join(sorted(name.split("/")[0] for name in names))


def nearest(events: Sequence[Event], event: Event) -> Event | None:
    """Return that of some events which is like one, and nearest to it in time."""
    same = [each for each in events if key(each) == key(event)]
    return next(iter(ranked(same, lambda each: abs(each.time - event.time))), None)


def is_logged(simulator: Simulator, run: Trajectory, event: Event) -> bool:
    """Return whether an engine logs such events."""
    if key(event)[0] == TOUCH:
        return any(part.intended.contact_events for part in engine_parts(simulator))
    return event.kind == STOP or event.subject in (*run.switches, *run.joints)


def choose(events: Sequence[Event]) -> list[Event]:
    """Return the events with the largest impulses, and others evenly, in order of time."""
    large = descending(np.array([event.impulse for event in events]))[: SAMPLED // 2]
    even = np.linspace(0, len(events) - 1, min(SAMPLED, len(events))).astype(int).tolist()
    return [events[i] for i in sorted({*large, *even})]


class EventsLevel(Level[EventsCheck]):
    """Judge by the first event that time stepping does not explain."""

    name = "events"
    title = "Events"

    def measure(self, case: CheckCase) -> EventsCheck:
        known = case.runs.shown(REFERENCE).events
        return check_events(case.setup, case.engine, case.run, known)

    def judge(self, check: EventsCheck, tolerances: Tolerances) -> Finding:
        if check.why:
            return Finding.does_not_apply(check.why)
        if not check.differences:
            total = min(check.logged, SAMPLED)
            return unless_few(Finding.within(), check.compared, total, "events")
        sure = [each for each in check.differences if each.sure]
        first = (sure or check.differences)[0]
        code = Code.EVENT_UNEXPLAINED if first.what else Code.EVENT_MISSING
        if first.what in (LOGGED, MISSED):
            code = Code.EVENT_MISPLACED
        law = LAWS.get(key(Event(first.time, first.kind, first.subject))[0], "")
        others = len({(d.kind, d.subject, d.time) for d in check.differences}) - 1
        why = because(code, **vars(first), law=law, others=others)
        if not sure:
            return Finding.not_judged(why)
        what = "event" if code is Code.EVENT_MISPLACED else first.what or "event"
        return Finding.outside(why, quantity=what, where=first.subject, size=first.left)

    def rows(self, check: EventsCheck) -> Rows:
        off = [f"{d.kind} of {d.subject} at {d.time:g} s" for d in check.differences]
        return {
            "in the log": Entry(check.logged),
            "compared": Entry(check.compared),
            "off": Entry(str(check.why)) if check.why else listed(off),
        }
