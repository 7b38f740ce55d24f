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

from __future__ import annotations

import math

from roboaccord.numerics import (
    dense_rows,
    dense_state,
    fill_stage,
    kernel,
    next_size,
    step_error,
)

from monkeybot.model.dynamics import derivative
from monkeybot.model.events import rate, value

# Of one phase: the longest, 5 s, takes 230 steps at a tolerance of 1e-8, and 3,800 at 1e-14
# (measured), so that a motion which takes more gets nowhere.
MAX_STEPS = 100_000
# s: an integration that needs shorter steps has failed; it is a hundred times the round-off of a
# time of 5 s, the longest phase
SHORTEST_STEP = 1e-13
FAILED, TIME, EVENT, STOP = -1, 0, 1, 2  # what ended an integration
SCRATCH = 14  # rows of the work space: 7 slopes, 5 of dense output, 2 states
LAST_SLOPE = 6  # row of the slopes that belongs to the end of a step
# More than regula falsi needs to reach round-off; bisection would need 53, a float's digits
ROOT_ITERATIONS = 60
PEAK_ITERATIONS = 50  # of golden section: the interval shrinks to 0.618^50 = 3.5e-11 of a step
NO_CROSSING = 2.0  # stands for the part of a step, 0 to 1, where no event happens in it


@kernel
def _step(p, flight, torque, u, n, h, k, new, tolerance):
    """Take one step of h [s] from u; return its error, relative to `tolerance`.

    Fills `new` with the state at the end, and k[1:7] with the slopes of the stages; k[0] holds the
    slope at u already. The first n entries of a state move.
    """
    for stage in range(1, 7):
        fill_stage(stage, u, n, h, k, new)
        derivative(p, flight, torque, new, k, stage)
    return step_error(u, n, h, k, new, tolerance)


@kernel
def _locate(p, event, base, r, n, low, high, out):
    """Return the part of a step, 0 to 1, where an event's value rises through 0.

    By the Illinois variant of regula falsi, which keeps the root between `low` and `high`: an end
    that stays twice has its value halved, so that the other end moves, too. The rows `r` are those
    of the dense output, and `out` (8,) is scratch.
    """
    dense_state(r, n, low, out)
    value_low = value(p, event, base, out)
    dense_state(r, n, high, out)
    value_high = value(p, event, base, out)
    last_moved, fraction, scale = 0, high, value_high - value_low
    for _ in range(ROOT_ITERATIONS):
        fraction = (low * value_high - high * value_low) / (value_high - value_low)
        dense_state(r, n, fraction, out)
        value_between = value(p, event, base, out)
        if abs(value_between) < 1e-15 * scale:
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
def _peak(p, event, base, r, n, out):
    """Return the part of a step, 0 to 1, at which an event's value is largest: golden section."""
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    low, high = 0.0, 1.0
    for _ in range(PEAK_ITERATIONS):
        lower, upper = high - golden * (high - low), low + golden * (high - low)
        dense_state(r, n, lower, out)
        g_left = value(p, event, base, out)
        dense_state(r, n, upper, out)
        if g_left > value(p, event, base, out):
            high = upper
        else:
            low = lower
    return 0.5 * (low + high)


@kernel
def _crossing(p, flight, torque, event, base, before, after, u, new, n, h, k, r, out):
    """Return the part of a step, 0 to 1, at which an event happens, or NO_CROSSING.

    A value that is negative at both ends may have been positive between them: then it has a peak.

    Args:
        p, flight, torque, event, base: as in `advance`.
        before, after: the event's values at the ends of the step.
        u, new: states at the ends of the step (8,), of which the first n entries move.
        n: 8 in flight, else 4.
        h: length of the step [s].
        k: slopes of the step's stages (7, 8).
        r: scratch for the rows of the dense output (5, 8).
        out: scratch for a state (8,).
    """
    if before >= 0.0:
        return NO_CROSSING
    top = 1.0
    if after < 0.0:
        # A peak between the ends needs a value that rises at the start and falls at the end.
        if rate(p, flight, torque, event, new, k, LAST_SLOPE) >= 0.0:
            return NO_CROSSING
        if rate(p, flight, torque, event, u, k, 0) <= 0.0:
            return NO_CROSSING
        dense_rows(u, n, h, k, new, r)
        top = _peak(p, event, base, r, n, out)
        dense_state(r, n, top, out)
        if value(p, event, base, out) < 0.0:
            return NO_CROSSING
    else:
        dense_rows(u, n, h, k, new, r)
    return _locate(p, event, base, r, n, 0.0, top, out)


@kernel
def advance(p, flight, torque, u, duration, event, stop, base, h, tolerance, work):
    """Integrate u in place until an event, a stop, or the end of `duration`.

    Args:
        p, flight, torque: as `dynamics.derivative` takes them.
        u: state (8,), replaced by that at the end; on a held hand its place and velocity, the
            last four entries, are not touched.
        duration: longest time to integrate [s].
        event, stop: tuples of 6 (`events`); one of kind 0 never happens.
        base: energy that an event of energy refers to [J].
        h: first step to try [s].
        tolerance: of each step, relative and absolute.
        work: scratch (SCRATCH, 8).

    Returns:
        FAILED, TIME, EVENT or STOP; the time that has passed [s]; the step to go on with [s].
    """
    n = 8 if flight else 4
    k, r = work[:7], work[7:12]
    new, scratch_state = work[12], work[13]
    elapsed = 0.0
    has_event, has_stop = event[0] > 0.0, stop[0] > 0.0
    derivative(p, flight, torque, u, k, 0)
    new[:], scratch_state[:] = u, u
    event_value = value(p, event, base, u) if has_event else 0.0
    stop_value = value(p, stop, base, u) if has_stop else 0.0
    for _ in range(MAX_STEPS):
        # One step, not beyond the end; a step whose error is too large, or NaN, is tried shorter.
        remaining = duration - elapsed
        if remaining <= 1e-15:
            return TIME, elapsed, h
        cut_short = h >= remaining
        step_size = remaining if cut_short else h
        error = _step(p, flight, torque, u, n, step_size, k, new, tolerance)
        if not error <= 1.0:
            h = next_size(step_size, error)
            if h < SHORTEST_STEP:
                return FAILED, elapsed, h
            continue
        # Has an event or the stop happened in the step, and which of them first?
        fraction, reason = NO_CROSSING, TIME
        if has_event:
            new_event_value = value(p, event, base, new)
            fraction = _crossing(
                p, flight, torque, event, base, event_value, new_event_value, u, new, n,
                step_size, k, r, scratch_state,
            )  # fmt: skip
            event_value = new_event_value
            reason = EVENT
        if has_stop:
            new_stop_value = value(p, stop, base, new)
            stop_fraction = _crossing(
                p, flight, torque, stop, base, stop_value, new_stop_value, u, new, n,
                step_size, k, r, scratch_state,
            )  # fmt: skip
            stop_value = new_stop_value
            if stop_fraction < fraction:
                fraction, reason = stop_fraction, STOP
        if fraction <= 1.0:
            # Repeat the step up to the event: its end is more exact than the dense output.
            _step(p, flight, torque, u, n, fraction * step_size, k, new, tolerance)
            first_event = event if reason == EVENT else stop
            # One iteration of Newton's method brings the value to 0, along the slope at the end.
            speed = rate(p, flight, torque, first_event, new, k, LAST_SLOPE)
            miss = value(p, first_event, base, new)
            shift = -miss / speed if abs(miss) < 1e-3 * abs(speed) * step_size else 0.0
            for i in range(n):
                u[i] = new[i] + shift * k[LAST_SLOPE, i]
            return reason, elapsed + fraction * step_size + shift, h
        # Go on from the end of the step; its last slope is the first of the next one.
        for i in range(n):
            u[i] = new[i]
            k[0, i] = k[LAST_SLOPE, i]
        elapsed += step_size
        # A last step that was cut short says little about the step to go on with.
        grown = next_size(step_size, error)
        if not cut_short or grown > h:
            h = grown
    return FAILED, elapsed, h
