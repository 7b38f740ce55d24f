"""Times of a log in seconds, and the runs that they show.

WINDOW, LASTING and MOST may be tuned: how far messages may come late, and what a new run is. Times
are differences to the first number of their column, taken before they are floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array

from roboaccord_files.logs.columns import FACTORS, Column, unit_of

EPOCHS = {"s": 1e9, "ms": 1e12, "us": 1e15, "ns": 1e18}  # of times since 1970, from 2001 to 2286
WINDOW, SHARE = 1.0, 0.25  # s, and of the log: rows may come that much late
LASTING = 10  # rows on end before WINDOW: a run begins anew
MOST = 1000  # runs of a file
COARSE = 1e-9  # s, of the last digit of a float
EVEN = 0.75  # of the last digit of a float, by which stamps may be off an even clock


def seconds(values: NDArray[Any], column: Column) -> tuple[Array, str, float]:
    """Return times since the first number of a column (k,) [s], its unit, and its last digit [s].

    Args:
        values: floats, integers or decimals (k,), subtracted as such.
        column: which they are.
    """
    first = values[np.isfinite(values.astype(float))][0]
    size = abs(float(first))
    epoch = next((unit for unit, least in EPOCHS.items() if least <= size < 10 * least), "")
    unit = column.unit or unit_of(column.name) or epoch
    factor = column.scale * FACTORS.get(unit, 1.0)
    digit = factor * float(np.spacing(size)) if values.dtype.kind == "f" else 0.0
    return factor * (values - first).astype(float), unit, digit


def runs(time: Array) -> list[slice]:
    """Return the runs of a log: a new one begins where time jumps back by seconds, and stays there.

    Rows that come late by less than WINDOW, or alone, are of the run around them.

    Args:
        time: (k,) [s], finite, in the order of the file.

    Raises:
        AccordError: if there are too many.
    """
    window, slices, start = min(WINDOW, SHARE * np.ptp(time)), list[slice](), 0
    while start < len(time):
        top = np.maximum.accumulate(time[start:])
        late = np.flatnonzero(time[start + 1 :] < top[:-1] - window) + 1
        late = late[late <= len(top) - LASTING]
        ends = (i for i in late if (time[start + i :][:LASTING] < top[i - 1] - window).all())
        end = int(next(ends, len(top)))
        slices, start = [*slices, slice(start, start + end)], start + end
        if len(slices) > MOST:
            raise AccordError(f"time jumps back more than {MOST} times")
    return slices


def chosen_run(time: Array, number: int, fewest: int) -> tuple[NDArray[np.intp], list[str]]:
    """Return the rows of a run of a log, and a note where there are several.

    Args:
        time: (k,) in the order of the file, NaN where a row has none [s].
        number: of the run, from 1; 0 for the last that has enough rows.
        fewest: rows that are enough.

    Raises:
        AccordError: if there is no such run.
    """
    rows = np.flatnonzero(np.isfinite(time))
    by_run = [rows[run] for run in runs(time[rows])]
    if number > len(by_run):
        raise AccordError(f"--run {number}: there are {len(by_run)} runs")
    enough = [i for i, texts in enumerate(by_run) if len(texts) >= fewest]
    at = number - 1 if number else max(enough, default=len(by_run) - 1)
    if len(by_run) == 1:
        return rows, []
    texts = [f"{i}: {len(r)} rows over {np.ptp(time[r]):.4g} s" for i, r in enumerate(by_run, 1)]
    note = f"{len(by_run)} runs, {'; '.join(texts)}; run {at + 1} is read, --run N another"
    return by_run[at], [note]


def evened(time: Array, rounding: float) -> Array:
    """Return stamps (k,) [s] as of an even clock, where they are off it by their own rounding.

    Floats of times since 1970 are whole multiples of 0.24 us.

    Args:
        time: increasing.
        rounding: of the floats whose differences they are [s].
    """
    if len(time) < 3 or rounding < COARSE:
        return time
    count = np.round((time - time[0]) / np.median(np.diff(time)))
    even = np.polynomial.Polynomial.fit(count, time, 1)(count)
    return np.asarray(even if np.abs(even - time).max() <= EVEN * rounding else time)
