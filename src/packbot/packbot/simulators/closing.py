"""Where in a time step a gap closes, also one that opens again before its end.

SAMPLES and LOWEST, how gaps are searched, may be tuned: test_packbot_events compares them with
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
LOWEST = 1e-4  # of a step: to which the lowest gap is found; at 100 m/s^2 and 4 ms 1e-11 m off


def first_closing(
    step: Step, gaps: Gaps, ends: tuple[Array, Array], rates: tuple[Array, Array], tolerance: float
) -> float:
    """Return the fraction of a step at which the first gap closes, 2 if none does.

    Closed means half a tolerance below 0, or below where it was.

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
    for _ in range(60):
        fraction = (low * below - high * above) / (below - above)
        here = gaps(step.at(fraction))[i] - target
        if abs(here) < 0.05 * tolerance:
            return float(fraction)
        if here > 0.0:
            low, above = fraction, here
            below *= 0.5 if side == 1 else 1.0
            side = 1
        else:
            high, below = fraction, here
            above *= 0.5 if side == -1 else 1.0
            side = -1
    return low
