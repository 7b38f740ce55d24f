"""One recording seen at the times of another: what is held, what moves, and what jumps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.state import Array
from roboaccord.numerics.rotations import quaternion_product

SLACK = 1e-9  # s; the resolution of a time stamp
JUMP = 3.0  # times as steep as the intervals beside: more than any rate that is sampled finely
FLAT = 1e-6  # of the largest rate: smaller changes are no jumps
BEND = 0.125  # of a rate's change in an interval: by how much its mean may miss the chord's
LEAST = 1e-4  # of the largest rate: a miss that is none
Known = NDArray[np.bool_]


def common_grid(one: Array, other: Array, start: float, stop: float) -> tuple[Array, int, int]:
    """Return the times at which to compare [s]; how many only one has, of these and of the rest.

    Where one has a sample at every time of the other they are the other's: nothing need be
    interpolated. Else they are the times of both, equal ones once.
    """
    inside = [t[(t >= start - SLACK) & (t <= stop + SLACK)] for t in (one, other)]
    times = np.union1d(*inside)
    times = times[np.diff(times, prepend=-np.inf) > SLACK]
    fewer, more = sorted(inside, key=len)
    alone = 2 * len(times) - len(fewer) - len(more)
    nested = len(fewer) and len(more) == len(times)
    return (fewer, 0, alone) if nested and alone else (times, alone, 0)


class Resampling:
    """See a recording at the times of a grid, all of which it covers.

    Args:
        times: of the recording (k,) [s].
        grid: where it is wanted (m,) [s].
        period: for how long before its sample a value is held at most [s]: the control period,
            where a recording may have left out ticks.
        events: times at which something hit, gripped or came to its stop [s].
    """

    def __init__(self, times: Array, grid: Array, period: float, events: Sequence[float]) -> None:
        self._times = times
        self._at = np.minimum(np.searchsorted(times, grid - SLACK), len(times) - 1)
        self._exact = np.abs(times[self._at] - grid) <= SLACK
        self._before = np.where(self._exact, self._at, np.maximum(self._at - 1, 0))
        size = np.where(self._exact, 1.0, times[self._at] - times[self._before])
        self._size = size[:, None]
        self._part = np.where(self._exact, 1.0, (grid - times[self._before]) / size)
        self._ruled = self._exact | (times[self._at] - grid < period - SLACK)
        self._struck = np.zeros(len(times) + 2, dtype=bool)
        for event in events:  # one at a sample is in the intervals before and after it
            first, last = np.searchsorted(times, [event - SLACK, event + SLACK])
            self._struck[first : last + 1] = True

    def held(self, values: Array) -> tuple[Array, Known]:
        """Return values that belong to the interval that ends at their sample, and where known."""
        return values[self._at], self._ruled

    def moving(self, values: Array, rates: Array) -> Array:
        """Return values (m, n) of (k, n): by a cubic where the rates (k, n) fit, else linearly."""
        bulge, fits = self._bulge(values, rates)
        return self._linear(values) + np.where(fits, bulge, 0.0)

    def rates(self, values: Array) -> tuple[Array, Known]:
        """Return rates (k,) interpolated linearly, and where known: not next to a jump."""
        jumps = self._struck[: len(values)] | find_jumps(self._times, values)
        return self._linear(values[:, None])[:, 0], self._exact | ~jumps[self._at]

    def turning(self, orientation: Array, spin: Array) -> Array:
        """Return quaternions (m, 4) between samples (k, 4), on the shortest way.

        By a cubic where the angular velocities in the body's axes (k, 3) fit, else at a uniform
        rate (slerp).
        """
        same = np.einsum("ij,ij->i", orientation[1:], orientation[:-1]) >= 0.0
        orientation = orientation * np.cumprod(np.append(1.0, np.where(same, 1.0, -1.0)))[:, None]
        one, other = orientation[self._before], orientation[self._at]
        half = np.arctan2(np.linalg.norm(one - other, axis=1), np.linalg.norm(one + other, axis=1))
        part = self._part[:, None]
        angle = 2.0 * half[:, None]
        flat = angle < 1e-6  # below which chord and arc are the same to round-off
        sine = np.where(flat, 1.0, np.sin(angle))
        left = np.where(flat, 1.0 - part, np.sin((1.0 - part) * angle) / sine)
        right = np.where(flat, part, np.sin(part * angle) / sine)
        level = np.where(self._exact[:, None], other, left * one + right * other)
        turned = 0.5 * quaternion_product(orientation.T, np.vstack([spin.T, 0.0 * spin[:, 0]])).T
        bulge, fits = self._bulge(orientation, turned)
        cubic = self._linear(orientation) + bulge
        return np.where(fits, cubic / np.linalg.norm(cubic, axis=1, keepdims=True), level)

    def _linear(self, values: Array) -> Array:
        """Return values (m, n) of (k, n) on the straight lines between samples."""
        before, after = values[self._before], values[self._at]
        part = self._part[:, None]
        return np.where(self._exact[:, None], after, (1.0 - part) * before + part * after)

    def _bulge(self, values: Array, rates: Array) -> tuple[Array, Known]:
        """Return what Hermite's cubic adds to a line (m, n), and where the rates fit (m, 1).

        They do not where they were not recorded, or something hit: then the mean of the rates at
        both ends is not that of the interval.
        """
        size, part = self._size, self._part[:, None]
        change = rates[self._at] - rates[self._before]
        mean = 0.5 * (rates[self._at] + rates[self._before])
        miss = mean - (values[self._at] - values[self._before]) / size
        bulge = part * (1.0 - part) * size * ((1.0 - 2.0 * part) * miss - 0.5 * change)
        most = BEND * _length(change) + LEAST * _length(rates).max(initial=0.0)
        return bulge, ~self._exact[:, None] & (_length(miss) <= most)


def _length(vectors: Array) -> Array:
    return np.asarray(np.linalg.norm(vectors, axis=1, keepdims=True))


def find_jumps(times: Array, values: Array) -> Known:
    """Return in which intervals a rate (k,) jumps (k,): that which ends at each sample.

    A jump is far steeper than the intervals on both of its sides, or at an end than the two beside;
    where a force begins to act, the interval after it is as steep.
    """
    change = np.abs(np.diff(values))
    slope = change / np.diff(times)
    padded = np.concatenate([slope[2:3], slope, slope[-3:-2]])
    beside = np.maximum(padded[:-2], padded[2:]) if len(slope) > 2 else np.full(len(slope), np.inf)
    large = change > FLAT * np.abs(values).max(initial=0.0)
    return np.append(False, large & (slope > JUMP * beside))
