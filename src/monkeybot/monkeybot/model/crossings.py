"""When an event happens within a step of an ensemble: the root of a polynomial in time.

In `ensemble` the state is a Taylor series in time, and an event is a linear function of the state.
So the event's value is a polynomial as well, and where it rises through 0 is found from its
coefficients, without a further step. A value with the same sign at both ends of the step may have
risen in between, before a peak or after a trough; its derivative tells.

ITERATIONS and PRECISION bound the search of a root and may be tuned; test_ensemble compares all
times with those of the kernel of single gaits to 1e-8.
"""

from __future__ import annotations

import math

from roboaccord.numerics import kernel

from monkeybot.model.series import COUNT, ORDER, SIZE, A, B, P, Q

ITERATIONS = 60  # more than bisection needs to halve a step to round-off
PRECISION = 1e-16  # relative, of the value, and of the interval [s]; a float's round-off is 2.2e-16


@kernel
def _polynomial(coefficients, slope, t):
    """Return a polynomial's value, or with `slope` that of its derivative, at t."""
    total = 0.0
    for k in range(ORDER, 0, -1):
        total = total * t + (k * coefficients[k] if slope else coefficients[k])
    return total if slope else total * t + coefficients[0]


@kernel
def _sign_change(coefficients, slope, low, high):
    """Return where a polynomial, or with `slope` its derivative, changes sign: Illinois method."""
    at_low = _polynomial(coefficients, slope, low)
    at_high = _polynomial(coefficients, slope, high)
    t, moved = high, 0  # moved: 1 where the upper end has just moved, -1 where the lower one has
    for _ in range(ITERATIONS):
        t = (low * at_high - high * at_low) / (at_high - at_low)
        value = _polynomial(coefficients, slope, t)
        exact = value == 0.0 or abs(value) < PRECISION * (abs(at_low) + abs(at_high))
        if exact or high - low < PRECISION:
            break
        if (value > 0.0) == (at_high > 0.0):
            high, at_high = t, value
            if moved == 1:
                at_low *= 0.5
            moved = 1
        else:
            low, at_low = t, value
            if moved == -1:
                at_high *= 0.5
            moved = -1
    return t


@kernel
def rise(x, m, e, factors, ends, lane, coefficients):
    """Return when an event rises through 0 in a step of a lane [s]; infinity if it does not.

    Args:
        x, m, e: series, constants and steps of the lanes, as in `series`.
        factors: first row in m of the event's factors.
        ends: first row in e of its values and rates at the ends of the step.
        lane: which of the eight.
        coefficients: scratch (COUNT,).
    """
    before, after = e[ends, lane], e[ends + 1, lane]
    rate_before, rate_after = e[ends + 2, lane], e[ends + 3, lane]
    crosses = before < 0.0 <= after
    peaks = before < 0.0 and after < 0.0 and rate_before > 0.0 and rate_after < 0.0
    dips = before >= 0.0 and after >= 0.0 and rate_before < 0.0 and rate_after > 0.0
    if not (crosses or peaks or dips):
        return math.inf
    for k in range(COUNT):
        angles = m[factors, lane] * x[A + k, lane] + m[factors + 1, lane] * x[B + k, lane]
        coefficients[k] = angles
        coefficients[k] += (
            m[factors + 2, lane] * x[P + k, lane] + m[factors + 3, lane] * x[Q + k, lane]
        )
    coefficients[0] += m[factors + 4, lane]
    low, high = 0.0, e[SIZE, lane]
    if not crosses:
        extremum = _sign_change(coefficients, True, low, high)
        if (_polynomial(coefficients, False, extremum) < 0.0) == peaks:
            return math.inf
        low, high = (low, extremum) if peaks else (extremum, high)
    return _sign_change(coefficients, False, low, high)
