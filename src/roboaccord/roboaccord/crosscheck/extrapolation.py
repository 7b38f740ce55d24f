"""Extrapolation of errors to a physics step of 0, and the bound on the remainder there.

Levels that run an engine at several physics steps ask: does the error vanish with the step? In goes
the error at each step, out comes a `Remainder`: the error at a step of 0, and a bound on it.

With runs at h, h/2 and h/4 and a scheme of order p, x(h) = x_0 + a h^p + O(h^(p+1)). Two runs give
an estimate of x_0 up to the next order [Richardson 1911]. Three runs give two estimates, whose
difference is more than twice the error of the finer one: it bounds what time stepping explains. The
remainder is the finer estimate of the error, and must be within that bound.

That holds in the asymptotic range, where the next order is small against the first. The runs show
whether they are there: the difference of the estimates over that of the coarser two runs, as norms
over all coordinates, is the share of the next order [Roache 1998; Eca and Hoekstra 2014]. The
difference of one coordinate may be small by chance, the norm over all is not. An excess over the
bound is therefore certain only if it also exceeds that share of the coordinate's own change.

Errors are arrays of k samples (times or control periods) and c coordinates. SAFETY,
ASYMPTOTIC_SHARE, LOOKAHEAD_SHARE, RISING_ORDER and MAX_ORDER_DEFICIT may be tuned. They decide what
is outside at every level that compares physics steps: after a change run `make sound` (false
alarms) and `make planted` (missed errors).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from roboaccord.contract.outcome import Code, Finding, Reason, because
from roboaccord.contract.state import Array
from roboaccord.numerics.ranking import first_largest

# Factor of the bound on the difference of the two estimates. If the next power of h is q, that
# difference is 2^q - 1 times the finer one's error: 3 times for q = 2, as of order 1, more for any
# higher order, and still half of it for q = 0.6, so that the bound holds for any next power.
SAFETY = 2.0
# Share of a run by which the bound looks ahead: the bound at a time is the largest one up to so
# much later, because the difference of the estimates passes through 0. By choice: a larger share
# excuses errors by later ones; `make sound` shows whether it is too small.
LOOKAHEAD_SHARE = 0.05
STEPS = 3  # number of physics steps that two estimates need
# Share of the next order up to which errors count as in the asymptotic range: half the step
# halves it, too, so that the finer runs are then within a quarter.
ASYMPTOTIC_SHARE = 0.5
# Difference of the orders of both pairs of steps from which on the order is still rising: as
# tolerances.order.
RISING_ORDER = 0.1
# Distance below the scheme's order up to which an order may still rise to it: errors farther
# below are nearer to those of a scheme of the order before.
MAX_ORDER_DEFICIT = 0.75


@dataclass(frozen=True)
class Remainder:
    """Error extrapolated to a step of 0, of the coordinate that exceeds its bound most.

    Args:
        size: of the remainder, in the unit of the coordinate.
        bound: what time stepping, round-off and the reference's error explain of it.
        coordinate: index.
        sample: index of the first sample at which the bound is exceeded, or of the largest ratio.
        asymptotic: whether an excess is certain; also True where there is none.
    """

    size: float
    bound: float
    coordinate: int
    sample: int
    asymptotic: bool = True


def few_steps() -> Reason:
    """Return the reason that there are too few physics steps for a verdict."""
    return because(Code.FEW_STEPS, steps=STEPS)


def coarse_steps(step: float, *reasons: Reason, smaller: bool = True) -> Finding:
    """Return a finding of `not judged`: the physics steps are too large to decide.

    Args:
        step: the smallest physics step [s].
        reasons: what differs.
        smaller: whether a smaller step would decide.
    """
    return Finding.not_judged(*reasons, because(Code.COARSE, step=step), smaller=smaller)


def extrapolate(coarser: Array, finer: Array, order: int) -> Array:
    """Return the estimate at a step of 0 from errors at a step and at half of it.

    With factor f = 2^p it is (f finer - coarser) / (f - 1) [Richardson 1911].
    """
    factor = 2.0**order
    return np.asarray((factor * finer - coarser) / (factor - 1.0))


def estimates(errors: Sequence[Array], order: int) -> tuple[Array, Array]:
    """Return the estimates at a step of 0: from the first two and the last two of three errors."""
    large, half, small = errors[-STEPS:]
    return extrapolate(large, half, order), extrapolate(half, small, order)


def remainder_over_time(errors: Sequence[Array], order: int, floor: Array) -> Remainder:
    """Return the remainder of errors (k, c) that grow with time, by their running maximum.

    The difference of the estimates passes through 0 now and then, so a remainder is compared with
    the largest difference up to `LOOKAHEAD_SHARE` of the run later.

    Args:
        errors: of the k samples and c coordinates, from the largest step to the smallest.
        order: of the scheme.
        floor: errors that are not due to time stepping (k, c).
    """
    # Running maxima of the remainder, of the difference of both estimates, and of the change from
    # the largest step to its half, extrapolated to a step of 0.
    coarser, finer = estimates(errors, order)
    large, half, _ = errors[-STEPS:]
    remainders = np.maximum.accumulate(np.abs(finer), axis=0)
    spread = np.maximum.accumulate(np.abs(finer - coarser), axis=0)
    changes = np.maximum.accumulate(np.abs(half - large), axis=0) / (2.0**order - 1.0)
    # Index of the sample up to which the bound of each sample looks ahead (k,).
    count = len(spread)
    later = np.minimum(np.arange(count) + max(1, round(LOOKAHEAD_SHARE * count)), count - 1)
    largest, ratios = _largest_excess(remainders, spread[later], changes[later], floor)
    exceeded = np.flatnonzero(ratios[:, largest.coordinate] > 1.0)
    return replace(largest, sample=int(exceeded[0])) if exceeded.size else largest


def remainder_of_samples(errors: Sequence[Array], order: int, floor: Array) -> Remainder:
    """Return the remainder of errors (k, c) of independent samples, by root mean squares.

    Args:
        errors: of the k samples and c coordinates, from the largest step to the smallest.
        order: of the scheme.
        floor: errors that are not due to time stepping, as a root mean square (c,).
    """
    coarser, finer = estimates(errors, order)
    large, half, _ = errors[-STEPS:]
    remainders = _rms_over_samples(finer)
    spread = _rms_over_samples(finer - coarser)
    changes = _rms_over_samples((half - large) / (2.0**order - 1.0))
    largest, _ = _largest_excess(remainders, spread, changes, floor)
    return replace(largest, sample=first_largest(np.abs(finer[:, largest.coordinate])))


def _rms_over_samples(values: Array) -> Array:
    """Return the root mean square of values (k, c) over their samples (1, c)."""
    return np.asarray(np.sqrt(np.mean(values**2, axis=0, keepdims=True)))


def _largest_excess(
    remainders: Array, spread: Array, changes: Array, floor: Array
) -> tuple[Remainder, Array]:
    """Return the remainder that exceeds its bound most, and the ratios to the bounds (k, c).

    If any excess is certain, only those count: in the asymptotic range, and beyond its share.

    Args:
        remainders: errors at a step of 0 (k, c).
        spread: difference of the two estimates (k, c).
        changes: difference of the coarser two runs, as an error at a step of 0 (k, c).
        floor: errors that are not due to time stepping (k, c).
    """
    # Bound by the difference of the estimates, and share of the next order in it (k,).
    bound = SAFETY * spread + floor
    excess = np.linalg.norm(np.maximum(spread - SAFETY * floor, 0.0), axis=1)
    next_order = excess / np.maximum(np.linalg.norm(changes, axis=1), np.finfo(float).tiny)
    # An excess is certain in the asymptotic range, and beyond the share of the own change.
    by_share = SAFETY * next_order[:, None] * changes + floor
    certain = (next_order[:, None] <= ASYMPTOTIC_SHARE) & (remainders > np.maximum(bound, by_share))
    # The largest ratio of remainder to bound, of certain excesses if there are any.
    ratios = remainders / np.maximum(bound, np.finfo(float).tiny)
    if certain.any():
        ratios = np.where(certain, ratios, 0.0)
    sample, coordinate = map(int, np.unravel_index(first_largest(ratios), ratios.shape))
    size = float(remainders[sample, coordinate])
    allowed = float(bound[sample, coordinate])
    return Remainder(size, allowed, coordinate, sample, certain.any() or size <= allowed), ratios


def has_settled(errors: Sequence[Array], order: int) -> bool:
    """Return whether errors fall with one power of the step, which need not be the scheme's.

    Either the errors themselves do; or the differences of the runs fall with the scheme's power,
    beside a constant remainder. A power that still rises towards the scheme's has not settled.

    Args:
        errors: at three steps, from the largest to the smallest.
        order: of the scheme.
    """
    # Observed orders of both pairs of steps.
    large, half, small = errors[-STEPS:]
    large_norm, half_norm, small_norm = map(_positive_norm, (large, half, small))
    coarser_order = float(np.log2(large_norm / half_norm))
    finer_order = float(np.log2(half_norm / small_norm))
    if finer_order > max(coarser_order + RISING_ORDER, order - MAX_ORDER_DEFICIT):
        return False
    if _falls_by(2.0**order, large - half, half - small):
        return True
    factor = float(np.sqrt(large_norm / small_norm))
    return _falls_by(factor, large, half) and _falls_by(factor, half, small)


def _positive_norm(errors: Array) -> float:
    """Return the norm of errors, but not 0, for it is divided by."""
    return max(float(np.linalg.norm(errors)), np.finfo(float).tiny)


def _falls_by(factor: float, coarser: Array, finer: Array) -> bool:
    """Return whether errors fall by a factor between two steps, up to ASYMPTOTIC_SHARE of them."""
    deviation = np.linalg.norm(coarser - factor * finer)
    return bool(deviation <= ASYMPTOTIC_SHARE * np.linalg.norm(coarser))


def observed_order(steps: Sequence[float], errors: Sequence[float], floor: float) -> float | None:
    """Return the slope of log error over log step, of errors above a floor.

    Args:
        steps: physics steps [s].
        errors: one for each step.
        floor: errors up to it are omitted.

    Returns:
        None with fewer than two errors above the floor.
    """
    above = [(step, error) for step, error in zip(steps, errors, strict=True) if error > floor]
    if len(above) < 2:
        return None
    log_step, log_error = np.log(above).T
    return float(np.polyfit(log_step, log_error, 1)[0])


def rms(values: Array) -> float:
    """Return the root mean square of all values; 0 of none."""
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0
