"""Error-controlled integration up to an event: Dormand and Prince's 5(4) with dense output.

After each step the values of two events are compared with those before it. One that has risen
through 0 is located on the dense output, and a last step that ends there is taken anew, for it is
as exact as any other. A value that is negative at both ends may have had a peak between them,
which its rates tell (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, II.4 to
II.6).

MAX_STEPS, which ends motions that get nowhere, may be raised. The accuracy is the caller's
`tolerance`: 1e-8 for gaits, 1e-12 for the reference. The coefficients are the book's (in
roboaccord.numerics), and test_motion finds the events with another integrator.
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

MAX_STEPS = 100_000  # of one phase: far more than any gait takes
SHORTEST_STEP = 1e-13  # s: an integration that needs shorter ones has failed
FAILED, TIME, EVENT, STOP = -1, 0, 1, 2  # what ended an integration
SCRATCH = 14  # rows of the work space: 7 slopes, 5 of dense output, 2 states


@kernel
def _step(p, flight, torque, u, n, h, k, new, tolerance):
    """Fill `new` and the slopes k[1:7] of one step from u, k[0] being there; return the error."""
    for stage in range(1, 7):
        fill_stage(stage, u, n, h, k, new)
        derivative(p, flight, torque, new, k, stage)
    return step_error(u, n, h, k, new, tolerance)


@kernel
def _locate(p, event, base, r, n, low, high, out):
    """Return the part of a step where an event's value rises through 0.

    By the Illinois variant of regula falsi, which keeps the root between `low` and `high`.
    """
    dense_state(r, n, low, out)
    g_low = value(p, event, base, out)
    dense_state(r, n, high, out)
    g_high = value(p, event, base, out)
    side, fraction, scale = 0, high, g_high - g_low
    for _ in range(60):
        fraction = (low * g_high - high * g_low) / (g_high - g_low)
        dense_state(r, n, fraction, out)
        g = value(p, event, base, out)
        if abs(g) < 1e-15 * scale:
            break
        if g > 0.0:
            high, g_high = fraction, g
            if side == 1:
                g_low *= 0.5
            side = 1
        else:
            low, g_low = fraction, g
            if side == -1:
                g_high *= 0.5
            side = -1
    return fraction


@kernel
def _peak(p, event, base, r, n, out):
    """Return the part of a step at which an event's value is largest, by golden section."""
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    low, high = 0.0, 1.0
    for _ in range(50):
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
    """Return the part of a step at which an event happens, or 2 if it does not.

    `before` and `after` are its values at the ends of the step. One that is negative at both may
    have been positive between them: then it has a peak.
    """
    if before >= 0.0:
        return 2.0
    top = 1.0
    if after < 0.0:
        if rate(p, flight, torque, event, new, k, 6) >= 0.0:
            return 2.0
        if rate(p, flight, torque, event, u, k, 0) <= 0.0:
            return 2.0
        dense_rows(u, n, h, k, new, r)
        top = _peak(p, event, base, r, n, out)
        dense_state(r, n, top, out)
        if value(p, event, base, out) < 0.0:
            return 2.0
    else:
        dense_rows(u, n, h, k, new, r)
    return _locate(p, event, base, r, n, 0.0, top, out)


@kernel
def advance(p, flight, torque, u, duration, event, stop, base, h, tolerance, work):
    """Integrate u in place until an event, a stop, or the end of `duration`.

    Args:
        p, flight, torque: as `dynamics.derivative` takes them.
        u: state (8,); entries that the mode holds still are not touched.
        duration: at most this long [s].
        event, stop: tuples of 6 (`events`); one of kind 0 never happens.
        base: energy that an event of energy refers to [J].
        h: first step to try [s].
        tolerance: of each step, relative and absolute.
        work: (SCRATCH, 8), used up.

    Returns:
        FAILED, TIME, EVENT or STOP; the time that it took [s]; the step to go on with [s].
    """
    n = 8 if flight else 4
    k, r = work[:7], work[7:12]
    new, slot = work[12], work[13]
    t = 0.0
    watch, halt = event[0] > 0.0, stop[0] > 0.0
    derivative(p, flight, torque, u, k, 0)
    new[:], slot[:] = u, u
    g = value(p, event, base, u) if watch else 0.0
    s = value(p, stop, base, u) if halt else 0.0
    for _ in range(MAX_STEPS):
        remaining = duration - t
        if remaining <= 1e-15:
            return TIME, t, h
        last = h >= remaining
        size = remaining if last else h
        error = _step(p, flight, torque, u, n, size, k, new, tolerance)
        if not error <= 1.0:
            h = next_size(size, error)
            if h < SHORTEST_STEP:
                return FAILED, t, h
            continue
        fraction, reason = 2.0, TIME
        if watch:
            g_new = value(p, event, base, new)
            fraction = _crossing(
                p, flight, torque, event, base, g, g_new, u, new, n, size, k, r, slot
            )
            g = g_new
            reason = EVENT
        if halt:
            s_new = value(p, stop, base, new)
            other = _crossing(p, flight, torque, stop, base, s, s_new, u, new, n, size, k, r, slot)
            s = s_new
            if other < fraction:
                fraction, reason = other, STOP
        if fraction <= 1.0:
            # A step that ends at the event is as exact as any other; the dense output is less so.
            _step(p, flight, torque, u, n, fraction * size, k, new, tolerance)
            row = event if reason == EVENT else stop
            speed = rate(p, flight, torque, row, new, k, 6)
            miss = value(p, row, base, new)
            shift = -miss / speed if abs(miss) < 1e-3 * abs(speed) * size else 0.0
            for i in range(n):
                u[i] = new[i] + shift * k[6, i]
            return reason, t + fraction * size + shift, h
        for i in range(n):
            u[i] = new[i]
            k[0, i] = k[6, i]
        t += size
        grown = next_size(size, error)
        if not last or grown > h:
            h = grown
    return FAILED, t, h
