"""Simulation of the hybrid system: phases of swing and flight, joined by actions of the magnets.

A `Phase` is a piece of motion under a constant torque of the motor. It lasts until an event, such
as a hand reaching a height, or for a given time; at its end magnets switch on or off. `run`
simulates a list of phases from one start, `run_many` the same list from many starts.

The kernels keep the state in the frame of the hand that holds (`dynamics`) and convert it to the
frame of the other hand where that one takes over, as the report of docs/monkeybot.md does. They
take a phase as a row of 11 numbers, indexed by TORQUE to EVENT_ABOVE below.

TOLERANCE and LIMIT may be tuned: a tighter tolerance is slower, and with a shorter LIMIT slow
motions count as failed. A further action of the magnets needs a number beside GRIP_OTHER, a member
of Then, and a branch in `run` and Motion.end_phase.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from roboaccord.numerics import kernel

from monkeybot.model.dynamics import energies, flip, impact
from monkeybot.model.events import ENERGY, NO_EVENT, StateEvent, value
from monkeybot.model.integrator import EVENT, FAILED, SCRATCH, STOP, TIME, System, advance

# Relative and absolute error that each step of the integrator may have: a gait's error is then
# right to 1e-8 (measured), far below the 1e-4 to 1e-3 of the report's minima.
TOLERANCE = 1e-8
LIMIT = 5.0  # s: a phase that lasts longer has missed its event; a swing takes about 0.5 s
NOTHING, CHANGE, RELEASE, GRIP, GRIP_OTHER = range(5)  # actions of the magnets, as in Then
# Columns of a phase as the kernels take it: its own five, then the six of its event (`events`).
TORQUE, DURATION, TIMED, THEN, MAY_STOP = range(5)
KIND, EVENT_TH1, EVENT_TH2, EVENT_W1, EVENT_W2, EVENT_ABOVE = range(5, 11)
HAND, FLIES, IMPULSE_X, IMPULSE_Y = range(4)  # columns of the marks that `run` fills
NEVER_ROW = NO_EVENT.row  # stands for the stop event in phases that do not allow it
MISSED = -1  # returned instead of the number of phases: the motion missed an event, or failed


class Then(IntEnum):
    """Actions of the magnets at the end of a phase."""

    NOTHING = NOTHING
    CHANGE = CHANGE  # the free hand grips and the held one lets go, at the same instant
    RELEASE = RELEASE  # the held hand lets go: flight
    GRIP = GRIP  # the hand that let go grips again
    GRIP_OTHER = GRIP_OTHER  # after a flight, the other hand grips


@dataclass(frozen=True)
class Phase:
    """A piece of motion under constant torque.

    Args:
        until: event that ends it; `NO_EVENT` for a phase that lasts exactly `duration`.
        torque: on the elbow, in the frame of the hand that is first, as in the report [N m].
        then: what the magnets do at its end.
        duration: longest time [s]; with an event, a phase that lasts longer has missed it.
        may_stop: whether the caller's stop event may end the whole motion in this phase.
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
def run_many(rows, starts, phases, stop, tolerance, times, finals, counts):
    """Simulate the same phases from many starts, all on hand A.

    Args:
        rows: parameters with hand A first and with hand B first, two `parameters.Row`.
        starts: states in the frame of hand A (k, 8).
        phases: columns as listed at the top of the module (n, 11).
        stop: event that ends a motion in the phases that allow it, a tuple of 6.
        tolerance: of the integrator.
        times: filled with the duration of each phase (k, n) [s].
        finals: filled with the states at the end (k, 8); NaN for a motion that missed an event.
        counts: filled with what `run` returns (k,).
    """
    n = phases.shape[0]
    work, u, states, marks = np.empty((SCRATCH, 8)), np.empty(8), np.empty((n, 8)), np.empty((n, 4))
    for i in range(starts.shape[0]):
        u[:] = starts[i]
        times[i] = 0.0
        counts[i] = run(rows, u, 0, False, phases, stop, tolerance, work, times[i], states, marks)
        if counts[i] < 0:
            u[:] = np.nan
            times[i] = np.nan
        finals[i] = u


@kernel
def run(rows, u, hand, flight, phases, stop, tolerance, work, times, states, marks):
    """Simulate phases one after the other.

    Args:
        rows: parameters with hand A first and with hand B first, two `parameters.Row`.
        u: state (8,) in the frame of `hand`; replaced by the state at the end.
        hand: the hand that is first, 0 for A or 1 for B.
        flight: whether that hand is free as well, so that the robot flies.
        phases: columns as listed at the top of the module (n, 11).
        stop: event that ends the motion in the phases that allow it, a tuple of 6.
        tolerance: of the integrator.
        work: scratch of the integrator (SCRATCH, 8).
        times: filled with the duration of each phase (n,) [s].
        states: filled with the state after each phase and the magnets' action (n, 8).
        marks: filled with the hand that is then first, whether the robot then flies, and the
            impulse in x and y on a hand that gripped (n, 4) [1, 1, N s, N s]; HAND to IMPULSE_Y.

    Returns:
        how many phases were run; MISSED for a motion that missed an event or failed.
    """
    kinetic, potential = energies(rows[hand], u)
    start_energy = kinetic + potential
    # First step h to try [s]: the error of the integrator is of fifth order in the step.
    h = min(0.05, 0.5 * tolerance**0.2)
    for i in range(phases.shape[0]):
        p, phase = rows[hand], phases[i]
        event = event_of(phase)
        action = int(phase[THEN])
        end = stop if phase[MAY_STOP] != 0.0 else NEVER_ROW
        reason, elapsed = EVENT, 0.0
        # Integrate to the end of the phase. If an impact took no energy, there is none to restore,
        # and a phase that would restore it ends at once.
        if phase[KIND] != ENERGY or value(p, event, start_energy, u) < 0.0:
            system = System(p, flight, phase[TORQUE], start_energy)
            reason, elapsed, h = advance(system, u, phase[DURATION], event, end, h, tolerance, work)
        if reason == FAILED or (reason == TIME and phase[TIMED] == 0.0):
            return MISSED
        # The magnets act, unless the stop event has ended the motion.
        times[i] = elapsed
        marks[i, IMPULSE_X] = marks[i, IMPULSE_Y] = 0.0
        if reason != STOP:
            if action == RELEASE:
                flight = True
            elif action != NOTHING:
                if action != GRIP:
                    hand = change_frame(rows, u, hand, work[0])
                marks[i, IMPULSE_X], marks[i, IMPULSE_Y] = impact(rows[hand], u)
                flight = False
        states[i] = u
        marks[i, HAND], marks[i, FLIES] = hand, flight
        if reason == STOP:
            return i + 1
    return phases.shape[0]


@kernel
def event_of(phase):
    """Return the event that ends a phase (11,), as the tuple of 6 that `events` takes."""
    factors = phase[EVENT_TH1], phase[EVENT_TH2], phase[EVENT_W1], phase[EVENT_W2]
    return phase[KIND], factors[0], factors[1], factors[2], factors[3], phase[EVENT_ABOVE]


@kernel
def change_frame(rows, u, hand, scratch):
    """Convert a state (8,) to the frame of the other hand, in place; return that hand, 0 or 1."""
    flip(rows[hand], u, scratch)
    u[:] = scratch
    return 1 - hand
