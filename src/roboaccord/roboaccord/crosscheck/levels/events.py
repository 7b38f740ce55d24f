"""Level `events`: the stops, contacts, magnets and failing joints in an engine's log.

From the recorded state two control periods before an event, reference and engine are simulated
under the recorded commands, the engine at its physics step, a half and a quarter of it. Time,
impulse and energy of the event must converge to the reference's. So short a path is not chaotic,
and an error of the log, as against the engine's own motion, remains at every step.

An engine reports the impulse of a contact from the first touch to the end of the control period, so
forces after the impact are added to the reference's impulse, too.

SAMPLED may be tuned; each event is simulated again at three steps, which costs time. Kinds of
events are matched in measures/event_matching.py; LAWS has those for which engines have a law of
their own. The bound is set in extrapolation.py. Names of the checks are keys of summary.json and
stay. test_event_level (monkeybot) and test_packbot_event_level test the findings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from roboaccord.contract.outcome import Code, Finding, Reason, because, unless_few
from roboaccord.contract.results import Quantity, Seconds
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.crosscheck.extrapolation import SAFETY, engines_of, go, no_restart
from roboaccord.crosscheck.level import Entry, Level, Rows, listed
from roboaccord.crosscheck.measures.event_matching import (
    STOP,
    TOUCH,
    comes_freely,
    is_logged,
    key,
    nearest,
    predict_event,
    window,
)
from roboaccord.crosscheck.motion import CheckCase
from roboaccord.crosscheck.runs import tightened
from roboaccord.crosscheck.special_ticks import at_stops
from roboaccord.crosscheck.ticks import TIME_ROUND_OFF, worst_and_even
from roboaccord.engines import REFERENCE
from roboaccord.engines.base import engine_parts
from roboaccord.engines.spec import EngineSpec
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.stop_watch import StopWatch

SAMPLED = 40  # events: half of them with the largest impulses, half at even distances
ROUND_OFF = 1e-9  # relative, of impulses and energies, which are sums over many steps
LAWS = {TOUCH: "contact", STOP: "stops"}
LOGGED = "logged"  # a stop in the log that the joint does not reach in that control period
MISSED = "missed"  # a stop that the joint reaches, and that is not in the log


@dataclass(frozen=True)
class EventDifference:
    """Difference of one event from the reference's.

    Args:
        kind, subject, time: as logged.
        what: "time", "impulse" or "energy"; LOGGED or MISSED of a stop; "" where engine or
            reference has no such event.
        found, expected: value in the log, and of the reference from the same state, in SI units.
        left, bound: their difference at a physics step of 0, and what time stepping explains.
        sure: whether the excess is certain.
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
    """Comparison of an engine's events with the reference's.

    Args:
        logged: number of events in the log.
        compared: number of those that were compared.
        differences: those that time stepping does not explain, in order of time.
        why: no event can be compared; None where they are.
    """

    logged: Annotated[int, Quantity("1", "events in the log")]
    compared: Annotated[int, Quantity("1", "events that were compared")]
    differences: Sequence[EventDifference] = ()
    why: Reason | None = None


def check_events(
    setup: Setup, engine: EngineSpec, run: Trajectory, reference: Sequence[Event]
) -> EventsCheck:
    """Compare the events of an engine's run with its own motion and with the reference's.

    Stops and contacts of a chaotic motion are left to statistics: the other joints decide which
    one reaches its stop next.

    Args:
        setup: robot and scenario.
        engine: that made the run.
        run: recorded.
        reference: events of the reference's own run.
    """
    simulator = make_simulator(setup, engine)
    chaotic = setup.scenario.crosscheck.statistics is not None
    expected = [event for event in reference if is_logged(simulator, run, event)]
    if not run.events and not expected:
        return EventsCheck(0, 0, why=because(Code.NO_EVENTS))
    if reason := no_restart(simulator):
        return EventsCheck(len(run.events), 0, why=because(Code.NO_RESTART, text=reason))
    fine = setup.scenario.physics_step / 4
    model = make_simulator(tightened(setup), physics_step=fine)
    engines = engines_of(setup, engine)
    differences = [*misplaced_stops(simulator, run)]
    chosen = choose(run.events)
    if chaotic:
        chosen = [event for event in chosen if key(event)[0] not in LAWS]
        expected = []
    held = at_stops(simulator, run)
    chosen = [event for event in chosen if comes_freely(model, run, held, event)]
    for event in chosen:
        differences += compare_event(setup, model, engines, run, event)
    for event in choose([event for event in expected if not nearest(run.events, event)]):
        first, last = window(run, event)
        comes = first and nearest(go(model, run, first, last).run.events, event)
        if comes and comes_freely(model, run, held, event):
            differences.append(EventDifference(event.kind, event.subject, event.time, ""))
    compared = sum(event.kind == STOP or event in chosen for event in run.events)
    return EventsCheck(len(run.events), compared, sorted(differences, key=lambda d: d.time))


def misplaced_stops(simulator: Simulator, run: Trajectory) -> Iterator[EventDifference]:
    """Yield stops in an engine's log that its joints do not reach, and the reverse."""
    model = next((part for part in engine_parts(simulator) if part.joints == run.joints), None)
    if model is None:
        return
    watch = StopWatch.of(model.tree, run.joints)
    watch.reset(run.q[0])
    reached = {
        (run.joints[joint], round(float(time), 9))
        for time, q in zip(run.time[1:], run.q[1:], strict=True)
        for joint in watch.see(q)
    }
    noted = {(e.subject, round(e.time, 9)) for e in run.events if e.kind == STOP}
    for joint, time in sorted(reached ^ noted, key=lambda stop: stop[1]):
        yield EventDifference(STOP, joint, time, LOGGED if (joint, time) in noted else MISSED)


def compare_event(
    setup: Setup, reference: Simulator, engines: Sequence[Simulator], run: Trajectory, event: Event
) -> Iterator[EventDifference]:
    """Yield the differences of an event of the log that time stepping does not explain."""
    motions = [go(simulator, run, *window(run, event)).run.events for simulator in engines]
    engine_events = [nearest(events, event) for events in motions]
    reference_event = predict_event(reference, run, event, press=key(event)[0] == TOUCH)
    name = (event.kind, event.subject, event.time)
    step = engines[-1].physics_step
    first, half, finest = engine_events
    if first is None or (reference_event is None) is not (finest is None):
        yield EventDifference(*name, "", sure=first is None or half is finest, step=step)
    if reference_event is None or any(e is None for e in engine_events):
        return
    for what in ("time", "impulse", "energy"):
        value, expected = getattr(event, what), getattr(reference_event, what)
        if what == "impulse" and event.kind == STOP:
            continue  # an engine's stops push over many steps, and their impulse is not summed
        steps = [getattr(e, what) for e in engine_events]
        errors = [step - steps[0] + value - expected for step in steps]
        remainder, change = abs(2.0 * errors[2] - errors[1]), abs(np.diff(errors)).sum()
        bound = SAFETY * abs(2.0 * errors[2] - 3.0 * errors[1] + errors[0])
        bound += ROUND_OFF * max(abs(expected), 1.0)
        if what == "time":
            remainder, bound = abs(errors[2]), resolution(setup, engines[-1], event)
        if remainder > bound:
            sure = remainder > SAFETY * change
            yield EventDifference(*name, what, value, expected, remainder, bound, sure, step)


def resolution(setup: Setup, engine: Simulator, event: Event) -> float:
    """Return the resolution of an event's time in an engine [s].

    Joints are checked once a control period and stopped a step after they arrive; contacts are
    checked in each physics step; commands act at the start of a control period.
    """
    if event.kind == STOP:
        return setup.scenario.control_period + SAFETY * setup.scenario.physics_step
    return SAFETY * engine.physics_step if key(event)[0] == TOUCH else TIME_ROUND_OFF


def choose(events: Sequence[Event]) -> list[Event]:
    """Return events with the largest impulses, and others at even distances, in order of time."""
    impulses = np.array([event.impulse for event in events])
    return [events[i] for i in map(int, worst_and_even(impulses, SAMPLED))]


class EventsLevel(Level[EventsCheck]):
    """Judge by the first event that time stepping does not explain."""

    name = "events"
    title = "Events"

    def measure(self, case: CheckCase) -> EventsCheck:
        reference = case.runs.shown(REFERENCE).events
        return check_events(case.setup, case.engine, case.run, reference)

    def judge(self, check: EventsCheck, tolerances: Tolerances) -> Finding:
        if check.why:
            return Finding.does_not_apply(check.why)
        if not check.differences:
            total = min(check.logged, SAMPLED)
            return unless_few(Finding.within(), check.compared, total, "events")
        sure = [difference for difference in check.differences if difference.sure]
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
