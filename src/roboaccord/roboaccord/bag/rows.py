"""Rows of decoded joint states and odometry, made regular: padded, ordered by time, interpolated.

What is assumed of foreign bags here (zeros for missing values, a slower base) is fixed by test_bag
and test_foreign: assume more only with a line in the log.
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
BASE_NUMBERS = 13  # numbers of position, orientation and twist


def decode_padded(joints: Sequence[str]) -> Callable[[bytes], tuple[float, Array, Array, Array]]:
    """Return a decoder for publishers that omit velocities or efforts, which become zeros."""
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
    """Return the rows after the last jump back in time, one for each time."""
    kept: list[tuple[Any, ...]] = []
    for row in rows:
        if kept and row[0] < kept[-1][0]:
            _log.warning("%s: time jumps back to %g s; what was before is left out", bag, row[0])
            kept.clear()
        if not kept or row[0] > kept[-1][0]:
            kept.append(row)
    return kept


def interpolate_base(time: Array, times: Array, values: Array) -> Array:
    """Return the base at times (m,) from samples (k, 13): linear, with unit quaternions."""
    values = values.copy()
    turns = values[:, 3:7]
    flips = np.cumprod(np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0.0, -1.0, 1.0))
    turns[1:] *= flips[:, None]
    base = np.column_stack([np.interp(time, times, column) for column in values.T])
    exact = np.isin(time, times)
    norm = np.linalg.norm(base[~exact, 3:7], axis=1, keepdims=True)
    base[~exact, 3:7] /= np.where(norm > 0.0, norm, 1.0)
    return base
