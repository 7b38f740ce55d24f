"""Matching of events: the same event in two logs, and an event as the reference has it.

Engines name the subject of a contact by hull or by link, and an event may be a control period
earlier or later in another simulator. An event of a run is therefore simulated again over a window
of control periods around it, from the recorded state at its start. PERIODS_BEFORE and
PERIODS_AFTER, the size of that window, may be tuned, and cost time. New kinds of events are added
in `event_key` and `is_logged`. TOUCH and STOP are words in logs, and stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.crosscheck.restart import restart
from roboaccord.crosscheck.ticks import TIME_ROUND_OFF, Mask
from roboaccord.engines.base import engine_parts
from roboaccord.numerics.ranking import ranked
from roboaccord.simulators.base import Simulator

# Control periods before and after an event that are simulated again: the command that causes it may
# act one period before it.
PERIODS_BEFORE, PERIODS_AFTER = 2, 2
TOUCH, STOP = "contact", "joint_stop"  # kinds of events, as in logs
Key = tuple[str, str]  # kind and subject of an event


def comes_freely(reference: Simulator, run: Trajectory, stopped: Mask, event: Event) -> bool:
    """Return whether a joint reaches its stop without another stop acting shortly before.

    While other joints are at their stops, the engine's own law of stops decides when this joint
    reaches its own. True for all events that are no stops.

    Args:
        reference: simulates from the state before.
        run: recorded.
        stopped: in which ticks a joint is at its stop (k - 1,).
        event: of the run.
    """
    if event.kind != STOP:
        return True
    first, last = event_window(run, event)
    arrival = int(np.searchsorted(run.time, event.time - TIME_ROUND_OFF))
    if stopped[first : max(arrival - 1, 0)].any():
        return False
    logs = (run.events, restart(reference, run, first, last).run.events)
    stops = [e for events in logs for e in events if e.kind == STOP]
    others = [stop.time for stop in stops if stop.subject != event.subject]
    return not any(run.time[first] < time <= run.time[arrival] + TIME_ROUND_OFF for time in others)


def predict_event(reference: Simulator, run: Trajectory, event: Event) -> Event | None:
    """Return an event of the log as the reference has it from the state before; None without it.

    Args:
        reference: starts from that state.
        run, event: recorded.
    """
    if event_key(event)[0] == TOUCH:
        return _predict_contact(reference, run, event)
    # A stop, a switch or a failing joint. Engines check their joints once a control period, so the
    # reference's stops are moved to the end of one, too.
    predicted = repeat_event(reference, run, event)
    if predicted is None or event.kind != STOP:
        return predicted
    end = np.searchsorted(run.time, predicted.time - TIME_ROUND_OFF)
    return replace(predicted, time=float(run.time[end]))


def _predict_contact(reference: Simulator, run: Trajectory, event: Event) -> Event | None:
    """Return a contact as the reference has it, with its impulse to the end of the control period.

    Args:
        reference, run, event: as of `predict_event`.
    """
    first, last = event_window(run, event)
    key, step = event_key(event), reference.physics_step
    # Step by step: time and impulse of the contact force at the end of each physics step.
    events, pushes = list[Event](), list[tuple[float, float]]()
    reference.reset(run.state(first))
    for i in range(first, last):
        for _ in range(round((run.time[i + 1] - run.time[i]) / step)):
            state = reference.step(run.command(i), step)
            events += reference.take_events()
            force = sum(c.force for c in reference.contacts() or () if link_pair(c.pair) == key[1])
            pushes.append((state.time, step * force))
    touch = nearest_event(events, event)
    if touch is None:
        return None
    # Its impulse: impacts and contact forces from the touch to the end of the control period.
    end = run.time[np.searchsorted(run.time, event.time + TIME_ROUND_OFF)]
    impacts = [e.impulse for e in events if event_key(e) == key and touch.time <= e.time < end]
    pushed = [impulse for time, impulse in pushes if touch.time < time < end + TIME_ROUND_OFF]
    return replace(touch, impulse=sum(impacts) + sum(pushed))


def repeat_event(simulator: Simulator, run: Trajectory, event: Event) -> Event | None:
    """Return an event of a run as a simulator repeats it from the state before; None without it."""
    return nearest_event(restart(simulator, run, *event_window(run, event)).run.events, event)


def event_window(run: Trajectory, event: Event) -> tuple[int, int]:
    """Return the samples between which an event is simulated again: the first and the last."""
    arrival = int(np.searchsorted(run.time, event.time - TIME_ROUND_OFF))
    return max(arrival - PERIODS_BEFORE, 0), min(arrival + PERIODS_AFTER, len(run) - 1)


def event_key(event: Event) -> Key:
    """Return kind and subject of an event in common names: a hull has the name of its link."""
    if event.kind in ("impact", TOUCH):
        return TOUCH, link_pair(event.subject.split())
    return event.kind, event.subject


def link_pair(names: Sequence[str]) -> str:
    """Return the links of a pair of hulls or links, sorted."""
    return " ".join(sorted(name.split("/")[0] for name in names))


def nearest_event(events: Sequence[Event], event: Event) -> Event | None:
    """Return the event of the same kind and subject that is nearest in time; None without any."""
    same = [candidate for candidate in events if event_key(candidate) == event_key(event)]
    return next(iter(ranked(same, lambda candidate: abs(candidate.time - event.time))), None)


def is_logged(simulator: Simulator, run: Trajectory, event: Event) -> bool:
    """Return whether an engine logs events of this kind."""
    if event_key(event)[0] == TOUCH:
        return any(part.intended.contact_events for part in engine_parts(simulator))
    return event.kind == STOP or event.subject in (*run.switches, *run.joints)
