"""One recording seen at the times of another: what is held, what moves, and what jumps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.state import Array

SLACK = 1e-9  # s; the resolution of a time stamp
JUMP = 3.0  # times as steep as the intervals beside: more than any rate that is sampled finely
FLAT = 1e-6  # of the largest rate: smaller changes are no jumps
Known = NDArray[np.bool_]


def common_grid(one: Array, other: Array, start: float, stop: float) -> Array:
    """Return all times of both recordings from start to stop [s], equal ones once."""
    times = np.union1d(one, other)
    times = times[(times >= start - SLACK) & (times <= stop + SLACK)]
    return np.asarray(times[np.diff(times, prepend=-np.inf) > SLACK])


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
        self._part = np.where(self._exact, 1.0, (grid - times[self._before]) / size)
        self._ruled = self._exact | (times[self._at] - grid < period - SLACK)
        self._struck = np.zeros(len(times) + 2, dtype=bool)
        for event in events:  # one at a sample is in the intervals before and after it
            first, last = np.searchsorted(times, [event - SLACK, event + SLACK])
            self._struck[first : last + 1] = True

    def held(self, values: Array) -> tuple[Array, Known]:
        """Return values that belong to the interval that ends at their sample, and where known."""
        return values[self._at], self._ruled

    def moving(self, values: Array) -> tuple[Array, Known]:
        """Return values (k,) interpolated linearly, and that all are known."""
        before, after = values[self._before], values[self._at]
        mixed = (1.0 - self._part) * before + self._part * after
        return np.where(self._exact, after, mixed), np.ones(len(mixed), dtype=bool)

    def rates(self, values: Array) -> tuple[Array, Known]:
        """Return rates (k,) interpolated linearly, and where known: not next to a jump."""
        jumps = self._struck[: len(values)] | find_jumps(self._times, values)
        return self.moving(values)[0], self._exact | ~jumps[self._at]

    def turning(self, orientation: Array) -> Array:
        """Return quaternions (m, 4) on the shortest way between the samples (k, 4) (slerp)."""
        one, other = orientation[self._before], orientation[self._at]
        cosine = np.einsum("ij,ij->i", one, other)
        other = np.where(cosine < 0.0, -1.0, 1.0)[:, None] * other
        half = np.arctan2(np.linalg.norm(one - other, axis=1), np.linalg.norm(one + other, axis=1))
        part = self._part[:, None]
        angle = 2.0 * half[:, None]
        flat = angle < 1e-6  # below which chord and arc are the same to round-off
        sine = np.where(flat, 1.0, np.sin(angle))
        left = np.where(flat, 1.0 - part, np.sin((1.0 - part) * angle) / sine)
        right = np.where(flat, part, np.sin(part * angle) / sine)
        return np.where(self._exact[:, None], orientation[self._at], left * one + right * other)


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
