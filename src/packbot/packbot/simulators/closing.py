"""Time within a step at which a gap closes, also if it opens again before the end of the step.

A gap is the distance of two hulls less their margin [m], or of a joint from its limit [rad]; it is
a function of the state, and the integration step provides the state at any fraction, 0 to 1, of its
length. The stepper (stepping.py) ends its step where `first_closing` says.

A gap that is negative at the end of a step has closed; the time is found by regula falsi. A gap
that falls at the start and rises at the end may have been closed in between. If its tangents at
both ends allow that, it is sampled, and its lowest point is found.

The constants may be tuned: test_packbot_events compares times with closed forms.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from roboaccord.contract import Array
from roboaccord.numerics import Step

Gaps = Callable[[Array], Array]  # gaps (m,) [m, rad] of a state
Pair = tuple[float, float]  # values at the start and at the end of the step
NO_CLOSING = 2.0  # stands for the fraction if no gap closes in the step, which ends at 1
# Number of parts of a step at whose ends a gap is sampled: a step within the tolerance is a smooth
# curve with one dip as a rule. In `collapse` 2 and 32 change nothing (measured).
SAMPLES = 8
# Fraction of a step; error of the lowest point, 1e-11 m of a gap at 100 m/s^2 and 4 ms, a hundredth
# of the tolerance of gaps
LOWEST_POINT_ACCURACY = 1e-4
ITERATIONS = 60  # bound of the iterations of regula falsi; more than the 53 of bisection
# Error of the gap at a root, over the tolerance of gaps: a tenth of the half tolerance by which a
# closed gap is below 0
ROOT_ACCURACY = 0.05


def first_closing(
    step: Step, gaps: Gaps, ends: tuple[Array, Array], rates: tuple[Array, Array], tolerance: float
) -> float:
    """Return the fraction of a step at which the first gap closes, NO_CLOSING if none does.

    A gap has closed when it is half a tolerance below 0; one that starts below 0, when it is as
    much below its start, but at most a tolerance below 0.

    Args:
        step: the step.
        gaps: function that returns the gaps (m,) of a state.
        ends: gaps at the start and at the end of the step (m,).
        rates: rates of the gaps at both ends (m,).
        tolerance: accuracy of closed gaps [m, rad].
    """
    # A gap that starts below 0 gets no deeper than the tolerance, with room for the root's error.
    starts = np.minimum(ends[0], 0.0)
    deeper = np.maximum(starts - 0.5 * tolerance, -0.9 * tolerance)
    targets = np.minimum(deeper, starts - ROOT_ACCURACY * tolerance)
    before, after = ends[0] - targets, ends[1] - targets
    fraction = NO_CLOSING
    dips = (rates[0] < 0.0) & (rates[1] > 0.0)
    for i in np.flatnonzero((after < 0.0) | dips).tolist():
        end = 1.0
        if after[i] >= 0.0:
            end = _dip(step, gaps, i, (before[i], after[i]), (rates[0][i], rates[1][i]), targets[i])
        if end <= 1.0:
            fraction = min(fraction, _closing(step, gaps, i, end, targets[i], tolerance))
    return fraction


def _dip(step: Step, gaps: Gaps, i: int, ends: Pair, rates: Pair, target: float) -> float:
    """Return a fraction of a step at which a gap is below its target, NO_CLOSING if it never is.

    Args:
        step, gaps: as in `first_closing`.
        i: index of the gap.
        ends: gap less its target at both ends.
        rates: rates of the gap at both ends.
        target: value at which the gap counts as closed.
    """
    # A convex gap lies above its tangents; if these cross above the target, it does not close.
    fall, climb = step.size * rates[0], step.size * rates[1]
    if ends[0] + fall * (ends[1] - ends[0] - climb) / (fall - climb) > 0.0:
        return NO_CLOSING

    def above(fraction: float) -> float:
        """Return the gap less its target at a fraction of the step."""
        return float(gaps(step.at(fraction))[i] - target)

    samples = [ends[0]]
    for k in range(1, SAMPLES):
        samples.append(above(k / SAMPLES))
        if samples[k] < 0.0:
            return k / SAMPLES
    k = int(np.argmin([*samples, ends[1]]))
    bounds = max(k - 1, 0) / SAMPLES, min(k + 1, SAMPLES) / SAMPLES
    options = {"xatol": LOWEST_POINT_ACCURACY}
    lowest = scipy.optimize.minimize_scalar(above, bounds=bounds, method="bounded", options=options)
    return float(lowest.x) if lowest.fun < 0.0 else NO_CLOSING


def _closing(step: Step, gaps: Gaps, i: int, end: float, target: float, tolerance: float) -> float:
    """Return where a gap crosses its target, between the start of a step and the fraction `end`.

    By the Illinois variant of regula falsi, which halves the value at an end that stays twice.
    """
    low, high = 0.0, end
    last_moved = 0  # 1 if the lower end moved last, -1 if the upper one did
    above, below = gaps(step.start)[i] - target, gaps(step.at(end))[i] - target
    for _ in range(ITERATIONS):
        fraction = (low * below - high * above) / (below - above)
        gap = gaps(step.at(fraction))[i] - target
        if abs(gap) < ROOT_ACCURACY * tolerance:
            return float(fraction)
        if gap > 0.0:
            low, above = fraction, gap
            below *= 0.5 if last_moved == 1 else 1.0
            last_moved = 1
        else:
            high, below = fraction, gap
            above *= 0.5 if last_moved == -1 else 1.0
            last_moved = -1
    return low
