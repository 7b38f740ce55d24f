"""Signals of one recording at the times of another, by the way in which each signal changes.

JUMP, FLAT, BEND and LEAST decide where a signal is interpolated, and may be tuned (test_resample
tries them). A value is held, a position or a turn follows a cubic by its rates, a rate is linear
but for jumps. The result must not depend on the order of two recordings.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.state import Array
from roboaccord.numerics.rotations import quaternion_product

SLACK = 1e-9  # s: the resolution of a time stamp
JUMP = 3.0  # times as steep as the neighbouring intervals: more than any finely sampled rate
FLAT = 1e-6  # of the largest rate: smaller changes are not jumps
BEND = 0.125  # of a rate's change in an interval: largest difference of its mean from the slope
LEAST = 1e-4  # of the largest rate: a difference below is none
Known = NDArray[np.bool_]


class Resampling:
    """A recording at the times of a grid, all of which it covers.

    Args:
        times: of the recording (k,) [s].
        grid: times to interpolate at (m,) [s].
        period: longest time for which a value is held before its sample [s]: the control period,
            since a recording may lack ticks.
        events: times at which something hit, gripped or reached its stop [s].
    """

    def __init__(self, times: Array, grid: Array, period: float, events: Sequence[float]) -> None:
        self._times = times
        self._at = np.minimum(np.searchsorted(times, grid - SLACK), len(times) - 1)
        self._exact = np.abs(times[self._at] - grid) <= SLACK
        self._before = np.where(self._exact, self._at, np.maximum(self._at - 1, 0))
        size = np.where(self._exact, 1.0, times[self._at] - times[self._before])
        self._size = size[:, None]
        self._share = np.where(self._exact, 1.0, (grid - times[self._before]) / size)
        self._within = self._exact | (times[self._at] - grid < period - SLACK)
        self._hit = np.zeros(len(times) + 2, dtype=bool)
        for event in events:  # at a sample it belongs to the intervals before and after
            first, last = np.searchsorted(times, [event - SLACK, event + SLACK])
            self._hit[first : last + 1] = True

    def held(self, values: Array) -> tuple[Array, Known]:
        """Return values that hold in the interval up to their sample (m,), and where known (m,)."""
        return values[self._at], self._within

    def moving(self, values: Array, rates: Array) -> Array:
        """Return values (m, n) of (k, n): by a cubic where the rates (k, n) fit, else linearly."""
        bulge, fits = self._bulge(values, rates)
        return self._linear(values) + np.where(fits, bulge, 0.0)

    def rates(self, values: Array) -> tuple[Array, Known]:
        """Return rates of samples (k,) interpolated linearly, and where known: not at a jump."""
        jumps = self._hit[: len(values)] | find_jumps(self._times, values)
        return self._linear(values[:, None])[:, 0], self._exact | ~jumps[self._at]

    def turning(self, orientation: Array, spin: Array) -> Array:
        """Return quaternions (m, 4) between samples (k, 4), on the shortest path.

        By a cubic where the angular velocities in the body's axes (k, 3) fit, else at a uniform
        rate (slerp).
        """
        same = np.einsum("ij,ij->i", orientation[1:], orientation[:-1]) >= 0.0
        orientation = orientation * np.cumprod(np.append(1.0, np.where(same, 1.0, -1.0)))[:, None]
        one, other = orientation[self._before], orientation[self._at]
        half = np.arctan2(np.linalg.norm(one - other, axis=1), np.linalg.norm(one + other, axis=1))
        share = self._share[:, None]
        angle = 2.0 * half[:, None]
        flat = angle < 1e-6  # rad: chord and arc are then equal up to round-off
        sine = np.where(flat, 1.0, np.sin(angle))
        from_one = np.where(flat, 1.0 - share, np.sin((1.0 - share) * angle) / sine)
        from_other = np.where(flat, share, np.sin(share * angle) / sine)
        level = np.where(self._exact[:, None], other, from_one * one + from_other * other)
        turned = 0.5 * quaternion_product(orientation.T, np.vstack([spin.T, 0.0 * spin[:, 0]])).T
        bulge, fits = self._bulge(orientation, turned)
        cubic = self._linear(orientation) + bulge
        return np.where(fits, cubic / np.linalg.norm(cubic, axis=1, keepdims=True), level)

    def _linear(self, values: Array) -> Array:
        """Return values (m, n) of (k, n) on the straight lines between samples."""
        before, after = values[self._before], values[self._at]
        share = self._share[:, None]
        return np.where(self._exact[:, None], after, (1.0 - share) * before + share * after)

    def _bulge(self, values: Array, rates: Array) -> tuple[Array, Known]:
        """Return what Hermite's cubic adds to a line (m, n), and where the rates fit (m, 1).

        Rates do not fit where they were not recorded, or something hit: then the mean of the rates
        at both ends is not the mean rate of the interval.
        """
        size, share = self._size, self._share[:, None]
        change = rates[self._at] - rates[self._before]
        mean = 0.5 * (rates[self._at] + rates[self._before])
        miss = mean - (values[self._at] - values[self._before]) / size
        bulge = share * (1.0 - share) * size * ((1.0 - 2.0 * share) * miss - 0.5 * change)
        most = BEND * _length(change) + LEAST * _length(rates).max(initial=0.0)
        return bulge, ~self._exact[:, None] & (_length(miss) <= most)


def _length(vectors: Array) -> Array:
    return np.asarray(np.linalg.norm(vectors, axis=1, keepdims=True))


def find_jumps(times: Array, values: Array) -> Known:
    """Return for each sample whether a rate (k,) jumps in the interval before it (k,).

    A jump is far steeper than the intervals on both sides, or at an end than the next two. Where a
    force begins to act, the interval after it is as steep, and nothing jumps.
    """
    change = np.abs(np.diff(values))
    slope = change / np.diff(times)
    padded = np.concatenate([slope[2:3], slope, slope[-3:-2]])
    beside = np.maximum(padded[:-2], padded[2:]) if len(slope) > 2 else np.full(len(slope), np.inf)
    large = change > FLAT * np.abs(values).max(initial=0.0)
    return np.append(False, large & (slope > JUMP * beside))
