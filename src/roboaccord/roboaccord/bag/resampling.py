"""Signals of one recording at the times of another.

Two recordings of a motion are compared at common times (compare.py); where one has no sample, its
signals are interpolated by `Resampling`. How depends on the signal: efforts and switches are
constant in the interval up to their sample (`piecewise_constant`), positions and orientations
follow a cubic through the samples with the recorded rates, Hermite's (`cubic`, `orientations`), and
rates are linear except where they jump (`linear_rates`), as at an impact. A jump is found in the
recording (`find_jumps`), or an event of either run lies in the interval. The result does not depend
on the order of two recordings (test_resample).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.state import Array
from roboaccord.numerics.rotations import quaternion_product

SLACK = 1e-9  # s: the resolution of a time stamp
# Slope of a jump over that of its neighbours, at least. A sine of more than five samples a period
# never is so steep: of 5.1, the interval around its zero is 1 / cos(2 pi / 5.1) = 3 times as steep.
JUMP_STEEPNESS = 3.0
# Share of the largest rate that a jump changes at least: if a smaller change is taken as linear,
# the error is less than that.
SMALLEST_JUMP = 1e-6
# Share of the change of rates in an interval by which their mean may miss the slope. A jump at
# the share s of the interval misses by |s - 1/2| of it, smooth rates v by h v'' / (12 v').
LARGEST_SHARE_OF_CHANGE = 0.125
# Share of the largest rate that their mean may miss the slope by in any case, as where v' is 0: a
# sine of 180 samples a period misses by (2 pi / 180)^2 / 12 = 1e-4 there.
LARGEST_SHARE_OF_RATE = 1e-4
SMALL_ANGLE = 1e-6  # rad: for smaller angles chord and arc are equal up to round-off
Mask = NDArray[np.bool_]  # for each time, whether a value is known


class Resampling:
    """Interpolates signals of a recording at the times of a grid, all of which it covers.

    Args:
        times: of the recording (k,) [s].
        grid: times to interpolate at (m,) [s].
        period: control period [s]: the longest interval before a sample in which its value is
            known to have been in force, because a recording may lack ticks.
        events: times at which something hit, gripped or reached its stop [s].
    """

    def __init__(self, times: Array, grid: Array, period: float, events: Sequence[float]) -> None:
        self._times = times
        # For each time of the grid (m,): index of the sample at or after it, whether it is that
        # sample's time, and index of the sample before.
        self._after = np.minimum(np.searchsorted(times, grid - SLACK), len(times) - 1)
        self._is_sample = np.abs(times[self._after] - grid) <= SLACK
        self._before = np.where(self._is_sample, self._after, np.maximum(self._after - 1, 0))
        # Length of the interval between the two samples [s], and the share of it that has passed.
        interval = np.where(self._is_sample, 1.0, times[self._after] - times[self._before])
        share = np.where(self._is_sample, 1.0, (grid - times[self._before]) / interval)
        self._interval, self._share = interval[:, None], share[:, None]  # (m, 1)
        self._is_in_force = self._is_sample | (times[self._after] - grid < period - SLACK)
        # For each sample, whether an event lies in the interval before it.
        self._has_event = np.zeros(len(times) + 2, dtype=bool)
        for event in events:  # an event at a sample counts for the intervals on both sides
            first, last = np.searchsorted(times, [event - SLACK, event + SLACK])
            self._has_event[first : last + 1] = True

    def piecewise_constant(self, values: Array) -> tuple[Array, Mask]:
        """Return values (k,), constant up to their sample, on the grid (m,); and where known."""
        return values[self._after], self._is_in_force

    def cubic(self, values: Array, rates: Array) -> Array:
        """Return values (k, n) interpolated by cubics where the rates (k, n) fit, else linearly."""
        correction, fits = self._cubic_correction(values, rates)
        return self._linear(values) + np.where(fits, correction, 0.0)

    def linear_rates(self, values: Array) -> tuple[Array, Mask]:
        """Return rates (k,) interpolated linearly (m,), and where they are known: not at a jump."""
        jumps = self._has_event[: len(values)] | find_jumps(self._times, values)
        return self._linear(values[:, None])[:, 0], self._is_sample | ~jumps[self._after]

    def orientations(self, quaternions: Array, spin: Array) -> Array:
        """Return quaternions (m, 4) between samples (k, 4), on the shortest path.

        They follow a cubic where the angular velocities in the body's axes (k, 3) fit, and
        otherwise turn at a uniform rate (slerp).
        """
        quaternions = with_continuous_signs(quaternions)
        # Cubic: the rate of a quaternion is q (w, 0) / 2.
        spin_quaternions = np.vstack([spin.T, 0.0 * spin[:, 0]])
        rates = 0.5 * quaternion_product(quaternions.T, spin_quaternions).T
        correction, fits = self._cubic_correction(quaternions, rates)
        cubic = self._linear(quaternions) + correction
        cubic /= np.linalg.norm(cubic, axis=1, keepdims=True)
        return np.where(fits, cubic, self._slerp(quaternions))

    def _slerp(self, quaternions: Array) -> Array:
        """Return quaternions (m, 4) that turn uniformly between samples (k, 4).

        q = (sin((1 - s) a) q1 + sin(s a) q2) / sin a, with the angle a between q1 and q2 and the
        share s of the interval [Shoemake 1985].
        """
        first, second, share = quaternions[self._before], quaternions[self._after], self._share
        angle = 2.0 * np.arctan2(_norms(first - second), _norms(first + second))  # (m, 1) [rad]
        is_small = angle < SMALL_ANGLE
        sine = np.where(is_small, 1.0, np.sin(angle))
        first_weight = np.where(is_small, 1.0 - share, np.sin((1.0 - share) * angle) / sine)
        second_weight = np.where(is_small, share, np.sin(share * angle) / sine)
        between = first_weight * first + second_weight * second
        return np.where(self._is_sample[:, None], second, between)

    def _linear(self, values: Array) -> Array:
        """Return values (k, n) interpolated linearly (m, n)."""
        before, after, share = values[self._before], values[self._after], self._share
        return np.where(self._is_sample[:, None], after, (1.0 - share) * before + share * after)

    def _cubic_correction(self, values: Array, rates: Array) -> tuple[Array, Mask]:
        """Return what Hermite's cubic adds to a straight line (m, n), and where rates fit (m, 1).

        With the share s of the interval h, the change d of the rate and the difference e of the
        mean of both rates from the slope, it is s (1 - s) h ((1 - 2 s) e - d / 2). Rates do not fit
        where e is large: they were not recorded, or something hit.
        """
        h, s = self._interval, self._share
        d = rates[self._after] - rates[self._before]
        mean = 0.5 * (rates[self._after] + rates[self._before])
        e = mean - (values[self._after] - values[self._before]) / h
        correction = s * (1.0 - s) * h * ((1.0 - 2.0 * s) * e - 0.5 * d)
        allowed = LARGEST_SHARE_OF_CHANGE * _norms(d)
        allowed = allowed + LARGEST_SHARE_OF_RATE * _norms(rates).max(initial=0.0)
        return correction, ~self._is_sample[:, None] & (_norms(e) <= allowed)


def _norms(vectors: Array) -> Array:
    """Return the norms (k, 1) of vectors (k, n)."""
    return np.asarray(np.linalg.norm(vectors, axis=1, keepdims=True))


def with_continuous_signs(quaternions: Array) -> Array:
    """Return quaternions (k, 4), each with the sign that is nearer to the previous one.

    The quaternions q and -q are the same rotation.
    """
    products = np.einsum("ij,ij->i", quaternions[1:], quaternions[:-1])
    signs = np.cumprod(np.append(1.0, np.where(products < 0.0, -1.0, 1.0)))
    return np.asarray(quaternions * signs[:, None])


def find_jumps(times: Array, values: Array) -> Mask:
    """Return for each sample whether a rate (k,) jumps in the interval before it (k,).

    A jump is JUMP_STEEPNESS times steeper than the intervals on both sides; at an end, than the
    next two. Where a force begins to act, the next interval is as steep: that is no jump.
    """
    change = np.abs(np.diff(values))
    slope = change / np.diff(times)
    neighbour_slope = np.full(len(slope), np.inf)
    if len(slope) > 2:
        padded = np.concatenate([slope[2:3], slope, slope[-3:-2]])
        neighbour_slope = np.maximum(padded[:-2], padded[2:])
    is_large = change > SMALLEST_JUMP * np.abs(values).max(initial=0.0)
    return np.append(False, is_large & (slope > JUMP_STEEPNESS * neighbour_slope))
