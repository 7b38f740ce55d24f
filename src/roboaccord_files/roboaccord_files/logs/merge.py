"""Merge the rows of a log into samples: one for each stamp, with a value in each column.

Rows may come in any order, and each may hold some of the columns only, as messages of several
drivers do. They are sorted by stamp, and rows of one stamp become one sample. A column that has
stamps of its own, as from a second driver or a topic of commands, is brought to the stamps of the
joint with the fewest: positions and rates by a cubic spline, and efforts by the value that is in
force in the middle of the step to the next sample. Nothing is smoothed.

MAX_GAP, LOST_SHARE and MIN_OWN_STAMPS may be tuned.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.state import Array

# Periods; between recorded values farther apart nothing is interpolated, as MAX_GAP of log.py.
MAX_GAP = 2.5
# Of a step; a command at its middle, but for rounding, is in force there: any from 0.5001 to 0.51
# would do.
STEP_MIDDLE = 0.501
# A column has stamps of its own if it lacks more than the share LOST_SHARE of the samples, and has
# at least MIN_OWN_STAMPS values at other stamps; else single values are missing. Recorders lose
# fewer than a tenth of the messages, and a cubic spline has four coefficients.
LOST_SHARE, MIN_OWN_STAMPS = 0.1, 4
Columns = Mapping[str, Array]  # by key, such as `q/elbow`


class Samples(NamedTuple):
    """Samples of a log: times (k,) [s], columns (k,) by key such as `q/elbow`, and notes."""

    time: Array
    columns: Columns
    notes: Sequence[str]

    def of(self, kind: str, joints: Sequence[str]) -> Array:
        """Return the columns of one kind for joints (k, n), NaN where there is none."""
        absent = np.full(len(self.time), np.nan)
        return np.column_stack([self.columns.get(f"{kind}/{joint}", absent) for joint in joints])


def merged(time: Array, columns: Columns, turning: Collection[str] = ()) -> Samples:
    """Return the samples of a run: its rows, one for each stamp.

    Args:
        time: of the rows (r,) [s], finite, in any order.
        columns: (r,) by `q/JOINT`, `qd/JOINT` and `effort/JOINT`, SI, NaN where a row has none.
        turning: joints whose angles may be wrapped to one turn.
    """
    stamps, by_key, notes = _by_stamp(time, columns)
    # Angles that were wrapped to one turn.
    for joint in turning:
        if jumps := _unwrap(by_key[f"q/{joint}"]):
            notes.append(f"{joint} was wrapped to a turn: unwrapped at {jumps} jumps")
    # The stamps of the samples: those of the joint with the most positions, or with the fewest if
    # joints have stamps of their own, so that nothing is made up between its samples.
    angles = [key for key in by_key if key.startswith("q/")]
    angles.sort(key=lambda key: int(np.isfinite(by_key[key]).sum()))
    kept = np.isfinite(by_key[angles[-1]])
    if any(_has_own_stamps(by_key[key], kept) for key in angles):
        kept = np.isfinite(by_key[angles[0]])
    samples = stamps[kept]
    resampled = [key for key in by_key if _has_own_stamps(by_key[key], kept)]
    for key, values in by_key.items():
        resample = _in_force if key.startswith("effort/") else _interpolated
        by_key[key] = resample(samples, stamps, values) if key in resampled else values[kept]
    method = "efforts are those in force in the middle of a step, others are interpolated"
    notes += [f"{', '.join(resampled)} have stamps of their own: {method}"] if resampled else []
    return Samples(samples, by_key, notes)


def _by_stamp(time: Array, columns: Columns) -> tuple[Array, dict[str, Array], list[str]]:
    """Return the different stamps in order (s,) [s], columns by stamp (s,), and notes.

    Of several rows with one stamp the first counts.

    Args:
        time, columns: as of `merged`.
    """
    stamps, stamp_of_row = np.unique(time, return_inverse=True)
    by_key, late, repeated = {}, 0, 0
    for key, values in columns.items():
        rows = np.flatnonzero(np.isfinite(values))
        late = max(late, int((time[rows] < np.maximum.accumulate(time[rows])).sum()))
        by_key[key] = np.full(len(stamps), np.nan)
        backwards = rows[::-1]  # so that the first row of a stamp is entered last
        by_key[key][stamp_of_row[backwards]] = values[backwards]
        repeated = max(repeated, len(rows) - int(np.isfinite(by_key[key]).sum()))
    notes = [f"{late} rows came late: sorted by time"] if late else []
    notes += [f"{repeated} rows have the stamp of one before: left out"] if repeated else []
    return stamps, by_key, notes


def _unwrap(values: Array) -> int:
    """Unwrap angles (k,) [rad] in place, and return the number of jumps.

    Angles whose range is more than one turn are left: they were not wrapped.
    """
    recorded = np.isfinite(values)
    angles = values[recorded]
    jumps = int((np.abs(np.diff(angles)) > np.pi).sum())
    if not jumps or np.ptp(angles) > 2.0 * np.pi * (1.0 + 1e-6):
        return 0
    values[recorded] = np.unwrap(angles)
    return jumps


def _has_own_stamps(values: Array, kept: NDArray[np.bool_]) -> bool:
    """Return whether a column has stamps of its own, and does not just lack a few values.

    Args:
        values: of the column at all stamps, NaN where it has none.
        kept: which stamps are those of the samples.
    """
    recorded = np.isfinite(values)
    missing, elsewhere = (kept & ~recorded).sum(), (recorded & ~kept).sum()
    return bool(missing > LOST_SHARE * kept.sum() and elsewhere >= MIN_OWN_STAMPS)


def _interpolated(samples: Array, stamps: Array, values: Array) -> Array:
    """Return a column at the samples' times by a cubic spline, NaN in gaps and outside it."""
    from scipy.interpolate import CubicSpline

    finite = np.isfinite(values)
    recorded = stamps[finite]
    after = np.clip(np.searchsorted(recorded, samples), 1, len(recorded) - 1)
    unknown = recorded[after] - recorded[after - 1] > MAX_GAP * np.median(np.diff(recorded))
    unknown |= (samples < recorded[0]) | (samples > recorded[-1])
    return np.where(unknown, np.nan, CubicSpline(recorded, values[finite])(samples))


def _in_force(samples: Array, stamps: Array, values: Array) -> Array:
    """Return for each sample the last value before the middle of the step that begins there."""
    recorded = np.flatnonzero(np.isfinite(values))
    middle = samples + STEP_MIDDLE * np.diff(samples, append=np.inf)
    last = np.searchsorted(stamps[recorded], middle, side="right") - 1
    return np.where(last < 0, np.nan, values[recorded][np.maximum(last, 0)])
