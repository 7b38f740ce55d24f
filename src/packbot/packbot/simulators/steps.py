"""Stiff steps for friction that explicit ones cannot follow, and the time at which a gap closes.

Dry friction about rest is a damper of k / e, and a light link relaxes in microseconds by it. The
W-method ROS34PW2 (Rang and Angermann, BIT 45, 2005) is of order 3 whatever matrix stands for the
Jacobian, and L-stable where that has the stiff part: so friction alone is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from roboaccord.contract import Array
from roboaccord.numerics import GROW, SAFETY, SHRINK, Slope, Step

EXPLICIT = 3.3  # rate times step size up to which Dormand and Prince's steps are stable
SHORTER = 4.0  # so many times would they have to be, where these here, of lower order, are better
GAMMA = 0.435866521508459
ALPHA = (
    np.array([0.87173304301691801]),
    np.array([0.84457060015369423, -0.11299064236484185]),
    np.array([0.0, 0.0, 1.0]),
)
COUPLING = (
    np.array([-0.87173304301691801]),
    np.array([-0.90338057013044082, 0.054180672388095326]),
    np.array([0.24212380706095346, -1.2232505839045147, 0.54526025533510214]),
)
WEIGHTS = np.array([0.24212380706095346, -1.2232505839045147, 1.545260255335102, GAMMA])
EMBEDDED = np.array([0.37810903145819369, -0.096042292212423178, 0.5, 0.2179332607542295])


@dataclass(frozen=True)
class StiffStep(Step):
    """Hold one linearly implicit step, with Hermite's cubic as dense output."""

    def at(self, part: float) -> Array:
        """Return the state (n,) at a fraction, 0 to 1, of the step."""
        rest, change = 1.0 - part, self.end - self.start
        bend = self.size * self.slopes[0] - change
        tail = change - self.size * self.slopes[-1]
        return np.asarray(self.start + part * (change + rest * (rest * bend + part * tail)))

    @property
    def next_size(self) -> float:
        """The step size to continue or to retry with [s]."""
        if not np.isfinite(self.error):
            return SHRINK * self.size
        factor: float = SAFETY * max(self.error, 1e-10) ** (-1.0 / 3.0)
        return self.size * min(GROW, max(SHRINK, factor))


def take_stiff_step(
    slope: Slope, start: Array, first: Array, jacobian: Array, size: float, tolerance: float
) -> StiffStep:
    """Take a linearly implicit step.

    Args:
        slope: gives the slope (n,) of a state (n,).
        start: state (n,).
        first: its slope.
        jacobian: the stiff part of the derivative of the slope (n, n).
        size: [s].
        tolerance: of each step, relative and absolute.
    """
    inverse = np.linalg.inv(np.eye(len(start)) - GAMMA * size * jacobian)
    stages = np.empty((4, len(start)))
    stages[0] = inverse @ first
    for i, (weights, coupling) in enumerate(zip(ALPHA, COUPLING, strict=True), start=1):
        f = slope(start + size * (weights @ stages[:i]))
        stages[i] = inverse @ (f + size * (jacobian @ (coupling @ stages[:i])))
    end = start + size * (WEIGHTS @ stages)
    slopes = np.vstack([first, stages, slope(end)])
    scale = tolerance * (1.0 + np.maximum(np.abs(start), np.abs(end)))
    error = size * ((WEIGHTS - EMBEDDED) @ stages) / scale
    return StiffStep(start, end, slopes, size, float(np.sqrt(error @ error / len(error))))


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
    part = 2.0
    dips = (rates[0] < 0.0) & (rates[1] > 0.0)
    for i in np.flatnonzero((after < 0.0) | dips).tolist():
        end = 1.0
        if after[i] >= 0.0:
            end = _dip(step, gaps, i, (before[i], after[i]), (rates[0][i], rates[1][i]), targets[i])
        if end <= 1.0:
            part = min(part, _closing(step, gaps, i, end, targets[i], tolerance))
    return part


def _dip(step: Step, gaps: Gaps, i: int, ends: Pair, rates: Pair, target: float) -> float:
    """Return a fraction of a step where a gap that closes and reopens is below its target, or 2."""
    # Where the tangents cross is not above the gap, if it bends upwards.
    fall, climb = step.size * rates[0], step.size * rates[1]
    if ends[0] + fall * (ends[1] - ends[0] - climb) / (fall - climb) > 0.0:
        return 2.0

    def above(part: float) -> float:
        return float(gaps(step.at(part))[i] - target)

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
    """Return where a gap crosses its target, between the start of a step and the part `end`.

    By the Illinois variant of regula falsi.
    """
    low, high, side = 0.0, end, 0
    above, below = gaps(step.start)[i] - target, gaps(step.at(end))[i] - target
    for _ in range(60):
        part = (low * below - high * above) / (below - above)
        here = gaps(step.at(part))[i] - target
        if abs(here) < 0.05 * tolerance:
            return float(part)
        if here > 0.0:
            low, above = part, here
            below *= 0.5 if side == 1 else 1.0
            side = 1
        else:
            high, below = part, here
            above *= 0.5 if side == -1 else 1.0
            side = -1
    return low
