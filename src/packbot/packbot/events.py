"""When, in a step, a gap closes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from roboaccord.state import Array

from packbot.integrator import Step

Gaps = Callable[[Array], Array]
SAMPLES = 8  # of a step in which a gap may close and open again


def first_closing(step: Step, gaps: Gaps, rates: tuple[Array, Array], tolerance: float) -> float:
    """Return the part of a step at which the first of some gaps is closed, 2 if none is.

    Closed means half a tolerance below 0, or below where it was.

    Args:
        step: to look at.
        gaps: gives the gaps (m,) in a state.
        rates: of the gaps at its start and end (m,).
        tolerance: of the gaps.
    """
    start = gaps(step.start)
    targets = np.minimum(start, 0.0) - 0.5 * tolerance
    before, after = start - targets, gaps(step.end) - targets
    part = 2.0
    for i in np.flatnonzero(after < 0.0):
        ends = (0.0, before[i]), (1.0, after[i])
        part = min(part, _closing(step, lambda x, i=i: gaps(x)[i] - targets[i], *ends, tolerance))
    dips = (after >= 0.0) & (rates[0] < 0.0) & (rates[1] > 0.0)
    for i in np.flatnonzero(dips):
        # Where both tangents cross is not above where the gap is least, if it bends upwards.
        fall, climb = step.size * rates[0][i], step.size * rates[1][i]
        if before[i] + fall * (after[i] - before[i] - climb) / (fall - climb) > 0.0:
            continue
        for k in range(1, SAMPLES):
            there = gaps(step.at(k / SAMPLES))[i] - targets[i]
            if there < 0.0:
                ends = (0.0, before[i]), (k / SAMPLES, there)
                found = _closing(step, lambda x, i=i: gaps(x)[i] - targets[i], *ends, tolerance)
                part = min(part, found)
                break
    return part


def _closing(
    step: Step,
    gap: Callable[[Array], float],
    low: tuple[float, float],
    high: tuple[float, float],
    tolerance: float,
) -> float:
    """Return where a gap crosses 0, between parts where it is above and below.

    By the Illinois variant of regula falsi.
    """
    (a, above), (b, below) = low, high
    side = 0
    for _ in range(60):
        part = (a * below - b * above) / (below - above)
        here = gap(step.at(part))
        if abs(here) < 0.05 * tolerance:
            return part
        if here > 0.0:
            a, above = part, here
            below *= 0.5 if side == 1 else 1.0
            side = 1
        else:
            b, below = part, here
            above *= 0.5 if side == -1 else 1.0
            side = -1
    return a
