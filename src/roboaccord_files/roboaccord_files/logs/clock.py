"""Convert the times of a log to seconds since its start, and divide it into runs.

Times may be in any unit, and count from 1970: the unit is that of the column's name, or follows
from the size of such numbers. The first time is subtracted before the numbers become floats, so
that no digits are lost. A file may hold several runs: time jumps back where a new one begins, which
must be told from messages that merely arrive late.

MAX_LATE_TIME, MAX_LATE_SHARE, RUN_ROWS and MAX_RUNS may be tuned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract import AccordError, Array

from roboaccord_files.logs.columns import FACTORS, Column, unit_of

# Smallest time since 1970 in each unit: 10^9 s is in 2001, ten times as much in 2286.
EPOCHS = {"s": 1e9, "ms": 1e12, "us": 1e15, "ns": 1e18}
# s, and share of the log's duration; a row may be late by the smaller. ROS queues 10 messages by
# default, 1 s at 10 Hz; a new run jumps back by its whole duration, 4 times the share.
MAX_LATE_TIME, MAX_LATE_SHARE = 1.0, 0.25
# Rows; a new run begins where so many in a row are earlier than that (the same 10 messages).
RUN_ROWS = 10
MAX_RUNS = 1000  # runs; a file with more is refused; each takes a pass through the rest of the file
# s; floats whose last digit is smaller are exact enough as they are. Stamps of ROS are in ns.
COARSE_DIGIT = 1e-9
# Of the last digit of a float; largest deviation of stamps from those of an even clock. Rounding is
# 0.5 of it, and the fitted line is off by half of that at most.
EVEN_ROUNDING = 0.75


def seconds(values: NDArray[Any], column: Column) -> tuple[Array, str, float]:
    """Return times since the first number of a column (k,) [s], its unit, and its resolution [s].

    The resolution is the last digit of the floats as they were written; 0 for integers and
    decimals.

    Args:
        values: floats, integers or decimals (k,), which are subtracted as such.
        column: from which they are.
    """
    first = values[np.isfinite(values.astype(float))][0]
    size = abs(float(first))
    epoch = next((unit for unit, start in EPOCHS.items() if start <= size < 10 * start), "")
    unit = column.unit or unit_of(column.name) or epoch
    factor = column.scale * FACTORS.get(unit, 1.0)
    digit = factor * float(np.spacing(size)) if values.dtype.kind == "f" else 0.0
    return factor * (values - first).astype(float), unit, digit


def runs(time: Array) -> list[slice]:
    """Return the runs of a log: a new one begins where time jumps back, and stays back.

    Rows that are late by less than MAX_LATE_TIME, or fewer than RUN_ROWS in a row, belong to
    the run around them.

    Args:
        time: (k,) [s], finite, in the order of the file.

    Raises:
        AccordError: if there are more than MAX_RUNS runs.
    """
    window = min(MAX_LATE_TIME, MAX_LATE_SHARE * np.ptp(time))
    slices = list[slice]()
    start = 0
    while start < len(time):
        # The run ends before the first row from which on RUN_ROWS rows are all before the
        # latest time so far.
        latest = np.maximum.accumulate(time[start:])
        late = np.flatnonzero(time[start + 1 :] < latest[:-1] - window) + 1
        late = late[late <= len(latest) - RUN_ROWS]
        ends = (i for i in late if (time[start + i :][:RUN_ROWS] < latest[i - 1] - window).all())
        end = int(next(ends, len(latest)))
        slices.append(slice(start, start + end))
        start += end
        if len(slices) > MAX_RUNS:
            raise AccordError(f"time jumps back more than {MAX_RUNS} times")
    return slices


def chosen_run(time: Array, number: int, fewest: int) -> tuple[NDArray[np.intp], list[str]]:
    """Return the rows of one run of a log, and a note if there are several runs.

    Args:
        time: (k,) in the order of the file, NaN where a row has none [s].
        number: of the run, from 1; 0 for the last one with at least `fewest` rows.
        fewest: number of rows.

    Raises:
        AccordError: if there is no run of that number.
    """
    rows = np.flatnonzero(np.isfinite(time))
    by_run = [rows[run] for run in runs(time[rows])]
    if number > len(by_run):
        raise AccordError(f"--run {number}: there are {len(by_run)} runs")
    long_enough = [i for i, run in enumerate(by_run) if len(run) >= fewest]
    chosen = number - 1 if number else max(long_enough, default=len(by_run) - 1)
    if len(by_run) == 1:
        return rows, []
    texts = [
        f"{i}: {len(run)} rows over {np.ptp(time[run]):.4g} s" for i, run in enumerate(by_run, 1)
    ]
    note = f"{len(by_run)} runs, {'; '.join(texts)}; run {chosen + 1} is read, --run N another"
    return by_run[chosen], [note]


def evened(time: Array, rounding: float) -> Array:
    """Return evenly spaced stamps (k,) [s] if the recorded ones are even but for their rounding.

    A float of seconds since 1970, for example, is a multiple of 0.24 us. The even clock is the
    straight line through the stamps by their number.

    Args:
        time: increasing (k,) [s].
        rounding: last digit of the floats that were recorded [s].
    """
    if len(time) < 3 or rounding < COARSE_DIGIT:
        return time
    count = np.round((time - time[0]) / np.median(np.diff(time)))
    even = np.polynomial.Polynomial.fit(count, time, 1)(count)
    return np.asarray(even if np.abs(even - time).max() <= EVEN_ROUNDING * rounding else time)
