"""The time of an event within a step of `ensemble`: the root of a polynomial in time.

In `ensemble` the state is a Taylor series in time, and an event, a value that rises through 0, is a
linear function of the state. So the value is a polynomial in time as well, and its root is found
from the coefficients without a further step. A value with the same sign at both ends of the step
may still have risen through 0 in between, before a peak or after a trough. In that case its
derivative changes sign in the step, and the peak or trough is located first.

`rise_time` returns this time for one of the eight motions that `ensemble` simulates side by side,
each in its lane (column) of the arrays. ITERATIONS and PRECISION limit the search of a root and may
be tuned.
"""

import math

from roboaccord.numerics import kernel

from monkeybot.model import series
from monkeybot.model.series import COUNT, ORDER, A, B, P, Q

ITERATIONS = 60  # more than bisection would need to reach round-off, 53, a float's digits
# A root is found when the value, relative to those at both ends, or the interval [s] is below this;
# the round-off of a float is 2.2e-16.
PRECISION = 1e-16


@kernel
def rise_time(work, event, row, lane, coefficients):
    """Return the time in a lane's step at which an event rises through 0 [s]; infinity for none.

    Args:
        work: arrays of the lanes (`series.Workspace`).
        event: first of the event's rows in the constants: its factors OF_A to OF_Q and its OFFSET
            follow from PHASE_EVENT or STOP_EVENT on.
        row: first of its rows in the ends of the step: its values and rates there, START_VALUE to
            END_RATE, follow from PHASE_ENDS or STOP_ENDS on.
        lane: number of the lane, 0 to 7.
        coefficients: scratch (COUNT,).
    """
    x, constants, ends = work
    before, after = ends[row + series.START_VALUE, lane], ends[row + series.END_VALUE, lane]
    rate_before, rate_after = ends[row + series.START_RATE, lane], ends[row + series.END_RATE, lane]
    crosses = before < 0.0 <= after
    peaks = before < 0.0 and after < 0.0 and rate_before > 0.0 and rate_after < 0.0
    dips = before >= 0.0 and after >= 0.0 and rate_before < 0.0 and rate_after > 0.0
    if not (crosses or peaks or dips):
        return math.inf
    # Coefficients of the event's value, a linear function of the state's series.
    of_a, of_b = constants[event + series.OF_A, lane], constants[event + series.OF_B, lane]
    of_p, of_q = constants[event + series.OF_P, lane], constants[event + series.OF_Q, lane]
    for k in range(COUNT):
        coefficients[k] = of_a * x[A + k, lane] + of_b * x[B + k, lane]
        coefficients[k] += of_p * x[P + k, lane] + of_q * x[Q + k, lane]
    coefficients[0] += constants[event + series.OFFSET, lane]
    low, high = 0.0, ends[series.STEP_SIZE, lane]
    # Between the ends: the crossing lies before a peak that is positive, or after a negative
    # trough.
    if not crosses:
        extremum = _sign_change(coefficients, True, low, high)
        is_negative = _polynomial(coefficients, False, extremum) < 0.0
        if (peaks and is_negative) or (dips and not is_negative):
            return math.inf  # it stays on its side of 0
        low, high = (low, extremum) if peaks else (extremum, high)
    return _sign_change(coefficients, False, low, high)


@kernel
def _sign_change(coefficients, slope, low, high):
    """Return where a polynomial, or its derivative if `slope` is true, changes sign.

    `low` and `high` are times [s] at which its signs differ, `coefficients` are ascending (COUNT,).
    By the Illinois method, regula falsi in which the value at an end that stays twice is halved.
    """
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
def _polynomial(coefficients, slope, t):
    """Return the value of a polynomial at t, or that of its derivative if `slope` is true.

    By Horner's scheme, from coefficients in ascending order (COUNT,).
    """
    total = 0.0
    for k in range(ORDER, 0, -1):
        total = total * t + (k * coefficients[k] if slope else coefficients[k])
    return total if slope else total * t + coefficients[0]
