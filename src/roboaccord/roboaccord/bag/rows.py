"""Decoded joint states and odometry made regular: padded, in order of time, interpolated.

content.py reads recordings of ROS 2, and calls these functions. Recordings that others made may
lack velocities or efforts (`decode_padded`), jump back in time (`rows_since_reset`), or have the
odometry, that is, the motion of the base, less often than joint states (`motions_at`, `rows_at`).
What is assumed about them stays, and is logged (test_bag, test_foreign).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from roboaccord.bag.resampling import with_continuous_signs
from roboaccord.cdr.codecs import read_joint_state
from roboaccord.contract import AccordError, Array

_log = logging.getLogger(__name__)
MAX_NUMBER = 1e75  # largest number in a state: a product of four such numbers, 1e300, is finite


def decode_padded(data: bytes, joints: Sequence[str]) -> tuple[float, Array, Array, Array]:
    """Return time [s], q, qd and efforts (n,) in a joint state; missing values become zeros.

    Raises:
        AccordError: if the message lacks one of the joints or its position.
    """
    time, names, *columns = read_joint_state(data)
    if not set(joints) <= set(names) or len(columns[0]) != len(names):
        raise AccordError("the joint states change their joints within the bag")
    index = {name: i for i, name in enumerate(names)}
    order = [index[name] for name in joints]
    zeros = np.zeros(len(joints))
    q, qd, effort = (c[order] if len(c) == len(names) else zeros for c in columns)
    return time, q, qd, effort


def rows_since_reset(rows: Sequence[tuple[Any, ...]], bag: Path) -> list[tuple[Any, ...]]:
    """Return the rows since the last jump back in time, only the first one for each time.

    A time of 0 begins a run anew, even after another 0: the start was changed.

    Args:
        rows: decoded messages, each a tuple that begins with its time [s].
        bag: named in the log.
    """
    kept: list[tuple[Any, ...]] = []
    for row in rows:
        if kept and row[0] < kept[-1][0]:
            _log.warning("%s: time jumps back to %g s; what was before is left out", bag, row[0])
            kept.clear()
        if row[0] == 0.0:
            kept.clear()
        if not kept or row[0] > kept[-1][0]:
            kept.append(row)
    return kept


def rows_at(grid: Array, times: Array, values: Array) -> Array:
    """Return the base, or a body, at the times of a grid within those of its samples (m, 13).

    It is interpolated linearly where the samples have other times.

    Args:
        grid: times to interpolate at (m,) [s].
        times: of the samples (k,) [s].
        values: position, quaternion and twist of the samples (k, 13).
    """
    is_within = (times >= grid[0]) & (times <= grid[-1])  # samples may go on after the grid
    if np.array_equal(grid, times[is_within]):
        return np.asarray(values[is_within])
    values = values.copy()
    values[:, 3:7] = with_continuous_signs(values[:, 3:7])
    base = np.column_stack([np.interp(grid, times, column) for column in values.T])
    # An interpolated quaternion is normalised.
    is_between = ~np.isin(grid, times)
    norm = np.linalg.norm(base[is_between, 3:7], axis=1, keepdims=True)
    base[is_between, 3:7] /= np.where(norm > 0.0, norm, 1.0)
    return base


def motions_at(
    state_times: Array, rows_by_name: Mapping[str, Sequence[tuple[float, Array]]], bag: Path
) -> tuple[slice, dict[str, Array]]:
    """Return which states the messages of base and bodies cover, and motions (m, 13) by name.

    Args:
        state_times: of the states (k,) [s].
        rows_by_name: time [s] and motion (13,) of each message, by name of what moves.
        bag: named in errors and the log.

    Returns:
        all states, and no motion, where there are no messages or none at the time of a state.

    Raises:
        AccordError: if a number is not finite or too large.
    """
    samples = dict[str, tuple[Array, Array]]()
    start, stop = 0, len(state_times)
    for name in sorted(filter(rows_by_name.get, rows_by_name)):
        times, values = map(np.array, zip(*rows_since_reset(rows_by_name[name], bag), strict=True))
        check_finite(times, values, f"poses or twists of {name}", bag)
        start = max(start, int(np.searchsorted(state_times, times[0])))
        stop = min(stop, int(np.searchsorted(state_times, times[-1], side="right")))
        samples[name] = times, values
    if start >= stop:
        return slice(None), {}
    covered = slice(start, stop)
    return covered, {name: rows_at(state_times[covered], *pair) for name, pair in samples.items()}


def check_finite(time: Array, values: Array, quantity: str, bag: Path) -> None:
    """Refuse values (k, m) of a quantity that are not finite, or larger than MAX_NUMBER.

    Larger ones would overflow when they are multiplied.

    Raises:
        AccordError: naming the first time.
    """
    is_bad = ~(np.abs(values) < MAX_NUMBER).all(axis=1)
    if is_bad.any():
        first = int(is_bad.argmax())
        reason = f"beyond {MAX_NUMBER:g}" if np.isfinite(values[first]).all() else "not finite"
        raise AccordError(f"{bag}: {quantity} are {reason} at t = {time[first]:g} s")
