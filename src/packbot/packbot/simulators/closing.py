"""Where in a time step a gap closes, also one that opens again before its end.

A gap that is negative at the end of a step has closed; its root is found by regula falsi. A gap
that falls at the start and rises at the end may have closed in between: if its tangents allow that,
it is sampled, and its lowest point is found.

SAMPLES, LOWEST and the bounds of iterations may be tuned: test_packbot_events compares times with
closed forms.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from roboaccord.contract import Array
from roboaccord.numerics import Step

Gaps = Callable[[Array], Array]
Pair = tuple[float, float]
SAMPLES = 8  # of a step in which a gap may close and open again
LOWEST = 1e-4  # of a step: error of the lowest point; at 100 m/s^2 and 4 ms 1e-11 m of the gap
ITERATIONS = 60  # of regula falsi at most; few are needed
EXACT = 0.05  # of the tolerance of gaps: error of a root


def first_closing(
    step: Step, gaps: Gaps, ends: tuple[Array, Array], rates: tuple[Array, Array], tolerance: float
) -> float:
    """Return the fraction of a step at which the first gap closes, 2 if none does.

    A gap has closed when it is half a tolerance below 0, or below its start if that is lower.

    Args:
        step: to look at.
        gaps: gives the gaps (m,) in a state.
        ends: gaps at its start and end (m,).
        rates: of the gaps there (m,).
        tolerance: of the gaps.
    """
    targets = np.minimum(ends[0], 0.0) - 0.5 * tolerance
    before, after = ends[0] - targets, ends[1] - targets
    fraction = 2.0
    dips = (rates[0] < 0.0) & (rates[1] > 0.0)
    for i in np.flatnonzero((after < 0.0) | dips).tolist():
        end = 1.0
        if after[i] >= 0.0:
            end = _dip(step, gaps, i, (before[i], after[i]), (rates[0][i], rates[1][i]), targets[i])
        if end <= 1.0:
            fraction = min(fraction, _closing(step, gaps, i, end, targets[i], tolerance))
    return fraction


def _dip(step: Step, gaps: Gaps, i: int, ends: Pair, rates: Pair, target: float) -> float:
    """Return a fraction of a step where a gap that closes and reopens is below its target, or 2."""
    # Where the tangents cross is not above the gap, if it bends upwards.
    fall, climb = step.size * rates[0], step.size * rates[1]
    if ends[0] + fall * (ends[1] - ends[0] - climb) / (fall - climb) > 0.0:
        return 2.0

    def above(fraction: float) -> float:
        return float(gaps(step.at(fraction))[i] - target)

    samples = [ends[0]]
    for k in range(1, SAMPLES):
        samples.append(above(k / SAMPLES))
        if samples[k] < 0.0:
            return k / SAMPLES
    k = int(np.argmin([*samples, ends[1]]))
    bounds = max(k - 1, 0) / SAMPLES, min(k + 1, SAMPLES) / SAMPLES
    lowest = scipy.optimize.minimize_scalar(
        above, bounds=bounds, method="bounded", options={"xatol": LOWEST}
    )
    return float(lowest.x) if lowest.fun < 0.0 else 2.0


def _closing(step: Step, gaps: Gaps, i: int, end: float, target: float, tolerance: float) -> float:
    """Return where a gap crosses its target, between the start of a step and the fraction `end`.

    By the Illinois variant of regula falsi.
    """
    low, high, side = 0.0, end, 0
    above, below = gaps(step.start)[i] - target, gaps(step.at(end))[i] - target
    for _ in range(ITERATIONS):
        fraction = (low * below - high * above) / (below - above)
        gap = gaps(step.at(fraction))[i] - target
        if abs(gap) < EXACT * tolerance:
            return float(fraction)
        if gap > 0.0:
            low, above = fraction, gap
            below *= 0.5 if side == 1 else 1.0
            side = 1
        else:
            high, below = fraction, gap
            above *= 0.5 if side == -1 else 1.0
            side = -1
    return low
