"""Rows of a log to samples: sorted by stamp, those of one stamp together, other clocks brought in.

What comes at stamps of its own, as from a second driver or a topic of commands, is brought to the
stamps of the joint that has fewest: positions by a cubic spline, efforts as they are in force in
the middle of a step. FARTHEST, LOST and FEW may be tuned. Nothing is smoothed: what has the same
stamp is taken as it is (test_log_readers.py permutes and splits messages).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.state import Array

FARTHEST = 2.5  # periods between samples, from which nothing is interpolated
MIDDLE = 0.501  # of a step: what comes in its middle, to rounding, is in force
LOST, FEW = 0.1, 4  # of the samples that lack a value, and values between them


class Samples(NamedTuple):
    """Times (k,) [s], columns (k,) by key, and notes."""

    time: Array
    columns: Mapping[str, Array]
    notes: Sequence[str]

    def of(self, kind: str, joints: Sequence[str]) -> Array:
        """Return the columns of joints (k, n), NaN for those that there are not."""
        none = np.full(len(self.time), np.nan)
        return np.column_stack([self.columns.get(f"{kind}/{joint}", none) for joint in joints])


def merged(time: Array, columns: Mapping[str, Array], turning: Collection[str] = ()) -> Samples:
    """Return the samples of a run.

    Args:
        time: of rows (r,) [s], finite, in any order.
        columns: (r,) by `q/JOINT`, `qd/JOINT` and `effort/JOINT`, SI, NaN where a row has none.
        turning: joints whose angles may be wrapped to one turn.
    """
    notes = []
    stamps, rows_of = np.unique(time, return_inverse=True)
    by_key, late, twice = {}, 0, 0
    for key, values in columns.items():
        rows = np.flatnonzero(np.isfinite(values))
        late = max(late, int((time[rows] < np.maximum.accumulate(time[rows])).sum()))
        by_key[key] = np.full(len(stamps), np.nan)
        by_key[key][rows_of[rows[::-1]]] = values[rows[::-1]]  # the first of a stamp counts
        twice = max(twice, len(rows) - int(np.isfinite(by_key[key]).sum()))
    notes += [f"{late} rows came late: sorted by time"] if late else []
    notes += [f"{twice} rows have the stamp of one before: left out"] if twice else []
    turns = {joint: _unwrap(by_key[f"q/{joint}"]) for joint in turning}
    notes += [f"{j} was wrapped to a turn: unwrapped at {n} jumps" for j, n in turns.items() if n]
    angles = [key for key in by_key if key.startswith("q/")]
    angles.sort(key=lambda key: int(np.isfinite(by_key[key]).sum()))
    kept = np.isfinite(by_key[angles[-1]])
    if any(_of_other_rows(by_key[key], kept) for key in angles):
        kept = np.isfinite(by_key[angles[0]])  # nothing is made up between its samples
    samples, brought = stamps[kept], [key for key in by_key if _of_other_rows(by_key[key], kept)]
    for key, values in by_key.items():
        bring = _held if key.startswith("effort/") else _interpolated
        by_key[key] = bring(samples, stamps, values) if key in brought else values[kept]
    what = "efforts are those in force in the middle of a step, others are interpolated"
    notes += [f"{', '.join(brought)} have stamps of their own: {what}"] if brought else []
    return Samples(samples, by_key, notes)


def _unwrap(values: Array) -> int:
    """Unwrap angles (k,) [rad] in place where they jump within one turn; return how often."""
    there = np.isfinite(values)
    angles = values[there]
    jumps = int((np.abs(np.diff(angles)) > np.pi).sum())
    if not jumps or np.ptp(angles) > 2.0 * np.pi * (1.0 + 1e-6):
        return 0
    values[there] = np.unwrap(angles)
    return jumps


def _of_other_rows(values: Array, kept: NDArray[np.bool_]) -> bool:
    """Return whether values that samples lack are in rows between them, and not lost in a few."""
    there = np.isfinite(values)
    lack, beside = (kept & ~there).sum(), (there & ~kept).sum()
    return bool(lack > LOST * kept.sum() and beside >= FEW)


def _interpolated(samples: Array, stamps: Array, values: Array) -> Array:
    from scipy.interpolate import CubicSpline

    there = np.isfinite(values)
    recorded = stamps[there]
    after = np.clip(np.searchsorted(recorded, samples), 1, len(recorded) - 1)
    wide = recorded[after] - recorded[after - 1] > FARTHEST * np.median(np.diff(recorded))
    wide |= (samples < recorded[0]) | (samples > recorded[-1])
    return np.where(wide, np.nan, CubicSpline(recorded, values[there])(samples))


def _held(samples: Array, stamps: Array, values: Array) -> Array:
    """Return at each sample the last value up to the middle of the step that begins there."""
    there = np.flatnonzero(np.isfinite(values))
    middle = samples + MIDDLE * np.diff(samples, append=np.inf)
    last = np.searchsorted(stamps[there], middle, side="right") - 1
    return np.where(last < 0, np.nan, values[there][np.maximum(last, 0)])
