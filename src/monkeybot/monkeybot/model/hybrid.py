"""Hybrid dynamics: phases of swing and flight, joined by jumps.

A `Phase` lasts until an event, or for a given time, under a constant torque; at its end the magnets
act. `run` plays a list of phases from one start, `run_many` from many. The kernels keep the state
in the frame of one hand (`dynamics`), and flip it where the other one takes over, as the report
does. They take a phase as a row of 11 numbers: TORQUE to MAY_STOP, then its event (`events`).

TOLERANCE and LIMIT may be tuned: a tighter tolerance is slower, and a shorter LIMIT gives up starts
that would still come. An action of the magnets is added as a number beside GRIP_OTHER, a member of
Then, and a branch in `run` and Motion.then. test_motion plays modes in any order against a
Lagrangian.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from roboaccord.numerics import kernel

from monkeybot.model.dynamics import energies, flip, impact
from monkeybot.model.events import ENERGY, NO_EVENT, StateEvent, value
from monkeybot.model.integrator import EVENT, FAILED, SCRATCH, STOP, TIME, advance

TOLERANCE = 1e-8  # of each step of the integrator
LIMIT = 5.0  # s: a phase that lasts longer has missed its event; a swing takes about 0.5 s
NOTHING, CHANGE, RELEASE, GRIP, GRIP_OTHER = range(5)  # actions of the magnets, as in Then
# Columns of a phase as the kernels take it; from KIND on those of its event.
TORQUE, DURATION, TIMED, THEN, MAY_STOP, KIND = range(6)
NEVER_ROW = NO_EVENT.row
MISSED = -1  # in place of the number of phases run: the motion missed an event, or failed


class Then(IntEnum):
    """Actions of the magnets at the end of a phase."""

    NOTHING = NOTHING
    CHANGE = CHANGE
    """The free hand grips and the held one lets go, at the same instant."""
    RELEASE = RELEASE
    """The held hand lets go: flight."""
    GRIP = GRIP
    """The hand that let go grips again."""
    GRIP_OTHER = GRIP_OTHER
    """After a flight, the other hand grips."""


@dataclass(frozen=True)
class Phase:
    """Describe a piece of motion under constant torque.

    Args:
        until: event that ends it; `NO_EVENT` for one that lasts `duration`.
        torque: on the elbow, in the frame of the hand that is first, as in the report [N m].
        then: what the magnets do at its end.
        duration: longest time [s]; with an event, a phase that lasts longer has missed it.
        may_stop: whether the stop event ends the motion here.
    """

    until: StateEvent = NO_EVENT
    torque: float = 0.0
    then: Then = Then.NOTHING
    duration: float = LIMIT
    may_stop: bool = False

    @property
    def row(self) -> tuple[float, ...]:
        """The phase as the kernels take it (11,)."""
        timed = self.until is NO_EVENT
        return (self.torque, self.duration, timed, self.then, self.may_stop, *self.until.row)


@kernel
def event_of(phase):
    """Return the event that ends a phase (11,)."""
    return phase[KIND], phase[6], phase[7], phase[8], phase[9], phase[10]


@kernel
def change_frame(both, u, hand, scratch):
    """See a state from the other hand, in place; return which hand that is."""
    flip(both[hand], u, scratch)
    u[:] = scratch
    return 1 - hand


@kernel
def run(both, u, hand, flight, phases, stop, tolerance, work, times, states, marks):
    """Run phases one after the other.

    Args:
        both: parameters with hand A first and with hand B first, two tuples of 14.
        u: state (8,) in the frame of `hand`; moved to the end.
        hand: the hand that is first, 0 or 1.
        flight: whether that hand is free, too.
        phases: (n, 11).
        stop: event that ends the motion in the phases that allow it, a tuple of 6.
        tolerance: of the integrator.
        work: of the integrator.
        times: filled with the duration of each phase (n,) [s].
        states: filled with the state after each phase and what followed it (n, 8).
        marks: filled with the hand, whether it flies, and the impulse in x and y (n, 4) [N s].

    Returns:
        how many phases were run; -1 for a motion that missed an event or failed.
    """
    kinetic, potential = energies(both[hand], u)
    base = kinetic + potential
    h = min(0.05, 0.5 * tolerance**0.2)
    for i in range(phases.shape[0]):
        p = both[hand]
        event = event_of(phases[i])
        torque, duration = phases[i, TORQUE], phases[i, DURATION]
        action = int(phases[i, THEN])
        end = stop if phases[i, MAY_STOP] != 0.0 else NEVER_ROW
        reason, t = EVENT, 0.0
        # Where an impact takes no energy there is none to restore.
        if phases[i, KIND] != ENERGY or value(p, event, base, u) < 0.0:
            reason, t, h = advance(
                p, flight, torque, u, duration, event, end, base, h, tolerance, work
            )
        if reason == FAILED or (reason == TIME and phases[i, TIMED] == 0.0):
            return MISSED
        times[i] = t
        marks[i, 2] = marks[i, 3] = 0.0
        if reason != STOP:
            if action == RELEASE:
                flight = True
            elif action != NOTHING:
                if action != GRIP:
                    hand = change_frame(both, u, hand, work[0])
                marks[i, 2], marks[i, 3] = impact(both[hand], u)
                flight = False
        states[i] = u
        marks[i, 0], marks[i, 1] = hand, flight
        if reason == STOP:
            return i + 1
    return phases.shape[0]


@kernel
def run_many(both, starts, phases, stop, tolerance, times, finals, counts):
    """Run the same phases from many starts on hand A.

    Args:
        both, phases, stop, tolerance: as in `run`.
        starts: states (k, 8).
        times: filled with the duration of each phase (k, n) [s].
        finals: filled with the states at the end (k, 8); NaN for a motion that missed an event.
        counts: filled with what `run` returns (k,).
    """
    n = phases.shape[0]
    work, u, states, marks = np.empty((SCRATCH, 8)), np.empty(8), np.empty((n, 8)), np.empty((n, 4))
    for i in range(starts.shape[0]):
        u[:] = starts[i]
        times[i] = 0.0
        counts[i] = run(both, u, 0, False, phases, stop, tolerance, work, times[i], states, marks)
        if counts[i] < 0:
            u[:] = np.nan
            times[i] = np.nan
        finals[i] = u
