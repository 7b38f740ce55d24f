"""Error-controlled integration up to an event: Dormand and Prince's 5(4) with dense output.

An event is a function of the state whose value rises through 0 (`events`). After each step the
values of two events, the one that ends the phase and a stop, are compared with those before it. If
one has risen through 0, its time is located on the dense output, the polynomial that interpolates
the state within the step. The step is then repeated up to that time, since the end of a step is
more exact than the interpolation. A value that is negative at both ends of a step may have had a
positive peak between them; that is so only if it rises at the start and falls at the end (Hairer,
Norsett and Wanner, Solving Ordinary Differential Equations I, II.4 to II.6).

The coefficients are the book's (in roboaccord.numerics). The accuracy is the caller's `tolerance`:
1e-8 for gaits, 1e-12 for the reference. MAX_STEPS may be raised.
"""

import math
from typing import NamedTuple

from roboaccord.contract import Array
from roboaccord.numerics import dense_rows, dense_state, fill_stage, kernel, next_size, step_error

from monkeybot.model.dynamics import derivative
from monkeybot.model.events import rate, value
from monkeybot.model.parameters import Row

# Of one phase: the longest, 5 s, takes 230 steps at a tolerance of 1e-8, and 3,800 at 1e-14
# (measured), so that a motion which takes more gets nowhere.
MAX_STEPS = 100_000
# s: an integration that needs shorter steps has failed; it is a hundred times the round-off of a
# time of 5 s, the longest phase
SHORTEST_STEP = 1e-13
ROUND_OFF = 1e-15  # s of time that remains, or a part of an event's change in a step: counts as 0
FAILED, TIME, EVENT, STOP = -1, 0, 1, 2  # what ended an integration
SCRATCH = 14  # rows of the work space, which `Step` shares out
LAST_SLOPE = 6  # row of the slopes that belongs to the end of a step
# More than regula falsi needs to reach round-off; bisection would need 53, a float's digits
ROOT_ITERATIONS = 60
PEAK_ITERATIONS = 50  # of golden section: the interval shrinks to 0.618^50 = 3.5e-11 of a step
NO_CROSSING = 2.0  # stands for the part of a step, 0 to 1, where no event happens in it
# Largest correction of an event's time, in parts of the step; a larger one, as where the event's
# value hardly changes, is left out. It is linear, and leaves an error of the order of its square,
# 1e-6 of a step.
MAX_CORRECTION = 1e-3


class System(NamedTuple):
    """What the motion in a phase depends on, besides the state.

    Attributes:
        parameters: of the robot, the link of the first hand first.
        flight: whether the first hand is free.
        torque: on th2 [N m].
        start_energy: energy to which an event of energy refers [J].
    """

    parameters: Row
    flight: bool
    torque: float
    start_energy: float


class Step(NamedTuple):
    """Arrays of a step, rows of the work space.

    Attributes:
        slopes: derivatives of the state at the seven stages (7, 8); the last is at the end.
        dense: coefficients of the dense output (5, 8).
        end: state at the end of the step (8,).
        between: state within the step, by the dense output (8,).
    """

    slopes: Array
    dense: Array
    end: Array
    between: Array


@kernel
def advance(system, u, duration, event, stop, h, tolerance, work):
    """Integrate u in place until an event, a stop, or the end of `duration`.

    Args:
        system: parameters, mode and torque (`System`).
        u: state (8,), replaced by that at the end; on a held hand its place and velocity, the
            last four entries, are not touched.
        duration: longest time to integrate [s].
        event, stop: tuples of 6 (`events`); one of kind 0 never happens.
        h: first step to try [s].
        tolerance: of each step, relative and absolute.
        work: work space (SCRATCH, 8).

    Returns:
        FAILED, TIME, EVENT or STOP; the time that has passed [s]; the step to go on with [s].
    """
    step = Step(work[:7], work[7:12], work[12], work[13])
    n, slopes, new = _moving(system), step.slopes, step.end
    elapsed = 0.0
    has_event, has_stop = event[0] > 0.0, stop[0] > 0.0
    derivative(system.parameters, system.flight, system.torque, u, slopes, 0)
    new[:], step.between[:] = u, u
    event_value = _value(system, event, u) if has_event else 0.0
    stop_value = _value(system, stop, u) if has_stop else 0.0
    for _ in range(MAX_STEPS):
        # One step, not beyond the end; a step whose error is too large, or NaN, is tried shorter.
        remaining = duration - elapsed
        if remaining <= ROUND_OFF:
            return TIME, elapsed, h
        cut_short = h >= remaining
        step_size = remaining if cut_short else h
        error = _take_step(system, u, step_size, tolerance, step)
        if not error <= 1.0:
            h = next_size(step_size, error)
            if h < SHORTEST_STEP:
                return FAILED, elapsed, h
            continue
        # Has an event or the stop happened in the step, and which of them first?
        fraction, reason = NO_CROSSING, TIME
        if has_event:
            before, event_value = event_value, _value(system, event, new)
            fraction = _crossing(system, event, before, event_value, u, step_size, step)
            reason = EVENT
        if has_stop:
            before, stop_value = stop_value, _value(system, stop, new)
            stop_fraction = _crossing(system, stop, before, stop_value, u, step_size, step)
            if stop_fraction < fraction:
                fraction, reason = stop_fraction, STOP
        if fraction <= 1.0:
            first = event if reason == EVENT else stop
            shift = _finish(system, first, u, step_size, fraction, tolerance, step)
            return reason, elapsed + fraction * step_size + shift, h
        # Go on from the end of the step; its last slope is the first of the next one.
        for i in range(n):
            u[i] = new[i]
            slopes[0, i] = slopes[LAST_SLOPE, i]
        elapsed += step_size
        # A last step that was cut short says little about the step to go on with.
        grown = next_size(step_size, error)
        if not cut_short or grown > h:
            h = grown
    return FAILED, elapsed, h


@kernel
def _moving(system):
    """Return how many entries of a state move: all 8 in flight, or else the angles and rates, 4."""
    return 8 if system.flight else 4


@kernel
def _value(system, event, u):
    """Return the value of an event in a state u (8,), which rises through 0 when it happens."""
    return value(system.parameters, event, system.start_energy, u)


@kernel
def _rate(system, event, u, slopes, i):
    """Return the rate of an event's value in a state u (8,), whose slope is row i of `slopes`."""
    return rate(system.parameters, system.flight, system.torque, event, u, slopes, i)


@kernel
def _take_step(system, u, h, tolerance, step):
    """Take one step of h [s] from u (8,); return its error, relative to `tolerance`.

    Fills the state at the end, and the slopes of the stages but the first, which is that at u.
    """
    n, slopes, new = _moving(system), step.slopes, step.end
    for stage in range(1, 7):
        fill_stage(stage, u, n, h, slopes, new)
        derivative(system.parameters, system.flight, system.torque, new, slopes, stage)
    return step_error(u, n, h, slopes, new, tolerance)


@kernel
def _crossing(system, event, before, after, u, h, step):
    """Return the part of a step, 0 to 1, at which an event happens, or NO_CROSSING.

    A value that is negative at both ends may have been positive between them: then it has a peak.

    Args:
        system, event: as in `advance`.
        before, after: the event's values at the ends of the step.
        u: state at the start of the step (8,).
        h: length of the step [s].
        step: its arrays (`Step`).
    """
    if before >= 0.0:
        return NO_CROSSING
    n, slopes, new = _moving(system), step.slopes, step.end
    top = 1.0
    if after < 0.0:
        # A peak between the ends needs a value that rises at the start and falls at the end.
        if _rate(system, event, new, slopes, LAST_SLOPE) >= 0.0:
            return NO_CROSSING
        if _rate(system, event, u, slopes, 0) <= 0.0:
            return NO_CROSSING
        dense_rows(u, n, h, slopes, new, step.dense)
        top = _peak(system, event, step)
        if _value_within(system, event, top, step) < 0.0:
            return NO_CROSSING
    else:
        dense_rows(u, n, h, slopes, new, step.dense)
    return _locate(system, event, top, step)


@kernel
def _value_within(system, event, fraction, step):
    """Return an event's value at a part of a step, 0 to 1, by the dense output."""
    dense_state(step.dense, _moving(system), fraction, step.between)
    return _value(system, event, step.between)


@kernel
def _peak(system, event, step):
    """Return the part of a step, 0 to 1, at which an event's value is largest: golden section."""
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    low, high = 0.0, 1.0
    for _ in range(PEAK_ITERATIONS):
        lower, upper = high - golden * (high - low), low + golden * (high - low)
        value_lower = _value_within(system, event, lower, step)
        if value_lower > _value_within(system, event, upper, step):
            high = upper
        else:
            low = lower
    return 0.5 * (low + high)


@kernel
def _locate(system, event, high, step):
    """Return the part of a step, 0 to `high`, where an event's value rises through 0.

    By the Illinois variant of regula falsi, which keeps the root between two ends: an end that
    stays twice has its value halved, so that the other end moves, too.
    """
    low, last_moved, fraction = 0.0, 0, high
    value_low = _value_within(system, event, low, step)
    value_high = _value_within(system, event, high, step)
    scale = value_high - value_low
    for _ in range(ROOT_ITERATIONS):
        fraction = (low * value_high - high * value_low) / (value_high - value_low)
        value_between = _value_within(system, event, fraction, step)
        if abs(value_between) < ROUND_OFF * scale:
            break
        if value_between > 0.0:
            high, value_high = fraction, value_between
            if last_moved == 1:
                value_low *= 0.5
            last_moved = 1
        else:
            low, value_low = fraction, value_between
            if last_moved == -1:
                value_high *= 0.5
            last_moved = -1
    return fraction


@kernel
def _finish(system, event, u, step_size, fraction, tolerance, step):
    """Fill u (8,) with the state at an event within a step; return by how much it is later [s].

    The step is repeated up to `fraction` of it, since its end is more exact than the dense output.
    One iteration of Newton's method then brings the event's value to 0, along the slope at the end:
    the event is later by the time that is returned.
    """
    slopes, new = step.slopes, step.end
    _take_step(system, u, fraction * step_size, tolerance, step)
    speed = _rate(system, event, new, slopes, LAST_SLOPE)
    miss = _value(system, event, new)
    shift = -miss / speed if abs(miss) < MAX_CORRECTION * abs(speed) * step_size else 0.0
    for i in range(_moving(system)):
        u[i] = new[i] + shift * slopes[LAST_SLOPE, i]
    return shift
