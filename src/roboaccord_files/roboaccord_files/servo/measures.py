"""Measure responses: overshoot, settling, damping ratio, and whether a servo is unstable.

The motion of a joint that is held by no other is linear, so its positions satisfy a recursion
y[k] = c1 y[k-1] + c2 y[k-2] + ... of as many terms as there are poles. `poles_of` fits it to a
response (Prony's method), and its roots are the poles z of a control tick.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from roboaccord.contract import Array

BAND = 0.02  # of the step; a response has settled once it stays within it
PRECISION = 1.01  # ratio of the stiffnesses between which the limit of an engine is found
DECADE, DECADES = 10.0, 6  # steps of the search where no limit is expected
FLOOR = 1e-4  # of a motion; what is smaller is the round-off of single precision at rest
SLACK = 1e-4  # a pole this far beyond 1 is unstable: single precision finds poles so well


def overshoot(response: Array, step: float) -> float:
    """Return how far a response goes beyond a step, relative to the step."""
    return max(float((response / step).max()) - 1.0, 0.0)


def settling(response: Array, step: float, period: float) -> float | None:
    """Return the time after which a response stays within BAND [s]; None if it never does."""
    outside = np.flatnonzero(np.abs(response / step - 1.0) > BAND)
    last = int(outside[-1]) + 1 if len(outside) else 0
    return last * period if last < len(response) else None


def rms(first: Array, second: Array) -> float:
    """Return the rms of the difference of two responses; infinite where one has ended early."""
    if len(first) != len(second):
        return float("inf")
    return float(np.sqrt(np.mean((first - second) ** 2)))


def poles_of(deviation: Array, order: int) -> Array:
    """Return the poles z of a response, the largest first.

    Args:
        deviation: positions relative to the final one, from the first tick on (k,).
        order: number of poles.
    """
    y = np.asarray(deviation) / (np.abs(deviation).max() or 1.0)
    y = np.where(np.abs(y) < FLOOR, 0.0, y)
    columns = np.column_stack([y[order - i : len(y) - i] for i in range(1, order + 1)])
    factors = np.linalg.lstsq(columns, y[order:], rcond=1e-12)[0]
    roots = np.roots([1.0, *-factors])
    return np.asarray(roots[np.argsort(-np.abs(roots))])


def damping_ratio(poles: Array) -> float | None:
    """Return the damping ratio of the two slowest poles; None where there are no two."""
    slowest = poles[:2].astype(complex)
    if len(slowest) < 2 or not np.abs(slowest).all():
        return None
    s = np.log(slowest)
    return float(-s.sum().real / (2.0 * np.sqrt(abs(s[0] * s[1]))))


def limit_of(unstable: Callable[[float], bool], guess: float | None) -> float | None:
    """Return the factor of the stiffness at which an engine becomes unstable.

    Args:
        unstable: whether it is at a factor, by a short run.
        guess: where it is expected; None where it is not.

    Returns:
        The factor within PRECISION, or None where there is none up to 10^DECADES.
    """
    ratio, low = (1.1, guess / 1.05) if guess else (DECADE, 1.0)
    while low > DECADE**-DECADES and unstable(low):
        low /= ratio
    high = low * ratio
    while not unstable(high):
        low, high = high, high * ratio
        ratio = max(ratio, 1.5 if guess else DECADE)
        if high > DECADE**DECADES * (guess or 1.0):
            return None
    while high / low > PRECISION:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if unstable(middle) else (middle, high)
    return float(np.sqrt(low * high))
