"""Decoded joint states and odometry made regular: padded, in order of time, interpolated.

content.py reads recordings of ROS 2, and calls these functions. Recordings that others made may
lack velocities or efforts (`decode_padded`), jump back in time (`rows_since_reset`), or have the
odometry, that is, the motion of the base, less often than joint states (`interpolate_base`). What
is assumed about them stays, and is logged (test_bag, test_foreign).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from roboaccord.bag.resampling import with_continuous_signs
from roboaccord.cdr.codecs import read_joint_state
from roboaccord.contract import AccordError, Array

_log = logging.getLogger(__name__)
BASE_NUMBERS = 13  # numbers of a row: position 3, orientation 4, twist 6


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


def interpolate_base(grid: Array, times: Array, values: Array) -> Array:
    """Return the base at the times of a grid (m, 13), interpolated linearly from samples.

    Args:
        grid: times to interpolate at (m,) [s].
        times: of the samples (k,) [s].
        values: position, quaternion and twist of the samples (k, 13).
    """
    values = values.copy()
    values[:, 3:7] = with_continuous_signs(values[:, 3:7])
    base = np.column_stack([np.interp(grid, times, column) for column in values.T])
    # An interpolated quaternion is normalised.
    is_between = ~np.isin(grid, times)
    norm = np.linalg.norm(base[is_between, 3:7], axis=1, keepdims=True)
    base[is_between, 3:7] /= np.where(norm > 0.0, norm, 1.0)
    return base
