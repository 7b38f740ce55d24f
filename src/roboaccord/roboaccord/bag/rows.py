"""Decoded joint states and odometry made regular: padded, in order of time, interpolated.

Foreign bags may lack velocities or efforts, jump back in time, or have odometry less often than
joint states. What is assumed about them stays, and is logged (test_bag, test_foreign).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from roboaccord.cdr.codecs import read_joint_state
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array

_log = logging.getLogger(__name__)
BASE_NUMBERS = 13  # numbers of a row: position 3, orientation 4, twist 6


def decode_padded(joints: Sequence[str]) -> Callable[[bytes], tuple[float, Array, Array, Array]]:
    """Return a decoder of joint states in which missing velocities or efforts become zeros."""
    _log.warning("the joint states lack velocities or efforts; they are read as zero")

    def decode(data: bytes) -> tuple[float, Array, Array, Array]:
        time, names, *columns = read_joint_state(data)
        index = {name: i for i, name in enumerate(names)}
        if not set(joints) <= set(index) or len(columns[0]) != len(names):
            raise AccordError("the joint states change their joints within the bag")
        order = [index[name] for name in joints]
        full = [c[order] if len(c) == len(names) else np.zeros(len(joints)) for c in columns]
        return time, full[0], full[1], full[2]

    return decode


def since_reset(rows: Sequence[tuple[Any, ...]], bag: Path) -> list[tuple[Any, ...]]:
    """Return the rows since the last jump back in time, one for each time; `bag` is for the log.

    A time of 0 begins a run anew, even after another 0: the start was changed.
    """
    kept: list[tuple[Any, ...]] = []
    for row in rows:
        if kept and row[0] < kept[-1][0]:
            _log.warning("%s: time jumps back to %g s; what was before is left out", bag, row[0])
            kept.clear()
        kept = kept if row[0] else []
        if not kept or row[0] > kept[-1][0]:
            kept.append(row)
    return kept


def interpolate_base(time: Array, times: Array, values: Array) -> Array:
    """Return the base at times (m, 13), interpolated linearly from samples (k, 13).

    Args:
        time: times to interpolate at (m,) [s].
        times: of the samples (k,) [s].
        values: position, quaternion and twist (k, 13).
    """
    values = values.copy()
    turns = values[:, 3:7]
    # The sign of each quaternion is that of its neighbour; interpolated ones are normalised.
    flips = np.cumprod(np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0.0, -1.0, 1.0))
    turns[1:] *= flips[:, None]
    base = np.column_stack([np.interp(time, times, column) for column in values.T])
    exact = np.isin(time, times)
    norm = np.linalg.norm(base[~exact, 3:7], axis=1, keepdims=True)
    base[~exact, 3:7] /= np.where(norm > 0.0, norm, 1.0)
    return base
