"""Richardson extrapolation to a physics step of 0, and the bound on its remainder.

With runs at h, h/2 and h/4 and a scheme of order p, x(h) = x_0 + a h^p + O(h^(p+1)), two runs give
x_0 but for the next order [Richardson 1911]. The two estimates that three runs give differ by more
than twice what the finer of them errs by, so their difference bounds what time stepping explains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roboaccord.contract.state import Array

SAFETY = 2.0  # on the difference of the two estimates
AHEAD = 0.05  # of a run
STEPS = 3  # physics steps that it takes


@dataclass(frozen=True)
class Remainder:
    """Hold the remainder at a step of 0 of the coordinate that exceeds its bound most.

    Args:
        size: of what is left.
        bound: of what time stepping, round-off and the reference explain.
        coordinate: index.
        sample: index of the first sample at which the bound is exceeded, or of the largest ratio.
    """

    size: float
    bound: float
    coordinate: int
    sample: int

    @property
    def within(self) -> bool:
        """True if the time step explains the error."""
        return self.size <= self.bound


def extrapolate(coarse: Array, fine: Array, order: int) -> Array:
    """Return the estimate at a step of 0 from errors at a step and at half of it."""
    factor = 2.0**order
    return np.asarray((factor * fine - coarse) / (factor - 1.0))


def estimates(errors: Sequence[Array], order: int) -> tuple[Array, Array]:
    """Return the estimates from the first two and the last two of three errors."""
    first, second, third = errors[-STEPS:]
    return extrapolate(first, second, order), extrapolate(second, third, order)


def remainder_over_time(errors: Sequence[Array], order: int, floor: Array) -> Remainder:
    """Return the remainder of errors (k, c) that grow with time, by their running maximum.

    The difference of the estimates passes through 0 now and then. So what it bounds is held against
    its largest value up to `AHEAD` of the run later.

    Args:
        errors: of the k samples and c coordinates, from the largest step to the smallest.
        order: of the scheme.
        floor: what is not time stepping (k, c).
    """
    first, last = estimates(errors, order)
    left = np.maximum.accumulate(np.abs(last), axis=0)
    apart = np.maximum.accumulate(np.abs(last - first), axis=0)
    count = len(apart)
    later = np.minimum(np.arange(count) + max(1, round(AHEAD * count)), count - 1)
    bound = SAFETY * apart[later] + floor
    ratio = left / np.maximum(bound, np.finfo(float).tiny)
    sample, coordinate = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
    over = np.flatnonzero(ratio[:, coordinate] > 1.0)
    at = int(over[0]) if over.size else int(sample)
    return Remainder(
        float(left[sample, coordinate]), float(bound[sample, coordinate]), int(coordinate), at
    )


def remainder_of_samples(errors: Sequence[Array], order: int, floor: Array) -> Remainder:
    """Return the remainder of errors (k, c) of independent samples, by root mean squares.

    Args:
        errors: of the k samples and c coordinates, from the largest step to the smallest.
        order: of the scheme.
        floor: what is not time stepping, as a root mean square (c,).
    """
    first, last = estimates(errors, order)
    left = np.sqrt(np.mean(last**2, axis=0))
    bound = SAFETY * np.sqrt(np.mean((last - first) ** 2, axis=0)) + floor
    ratio = left / np.maximum(bound, np.finfo(float).tiny)
    worst = int(np.argmax(ratio))
    return Remainder(
        float(left[worst]), float(bound[worst]), worst, int(np.argmax(np.abs(last[:, worst])))
    )


def observed_order(steps: Sequence[float], errors: Sequence[float], floor: float) -> float | None:
    """Return the slope of log error over log step of what exceeds the floor; None below two."""
    above = [(h, e) for h, e in zip(steps, errors, strict=True) if e > floor]
    if len(above) < 2:
        return None
    log_step, log_error = np.log(above).T
    return float(np.polyfit(log_step, log_error, 1)[0])
