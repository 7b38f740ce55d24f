"""Make a table of ROS messages, one row a message: joint states and plain numbers.

Messages come from a bag or from the text of `ros2 topic echo`. A message with a header has a stamp;
one without (such as a Float64) gets a stamp that is interpolated from its time of receipt. Stamps
stay whole nanoseconds. Another type of message becomes a row by a function like `joint_state`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from roboaccord.cdr.codecs import TRUE
from roboaccord.contract.state import Array

from roboaccord_files.logs.table import Table

PARTS = ("q", "qd", "effort")  # position, velocity and effort, in the order of a JointState
Parts = Sequence[Sequence[float] | Array]


class Row(NamedTuple):
    """A message as a row of the table.

    Args:
        topic: on which it was sent.
        stamp: of its header [ns]; None if it has no header.
        received: time of receipt [ns].
        values: its numbers, by name of the column.
    """

    topic: str
    stamp: int | None
    received: int
    values: Mapping[str, float]


def joint_state(topic: str, stamp: int, received: int, names: Sequence[str], parts: Parts) -> Row:
    """Return a joint state as a row, with columns such as `q/elbow`.

    Positions, rates and efforts are taken each if the message has them for all joints. A name with
    the suffix TRUE holds the true angle of a joint whose encoder has failed; it replaces the
    encoder's.
    """
    values = dict[str, float]()
    for kind, part in zip(PARTS, parts):
        if len(part) == len(names):
            values |= zip((f"{kind}/{name.removesuffix(TRUE)}" for name in names), part)
    return Row(topic, stamp, received, values)


def table_of(rows: Sequence[Row], notes: Sequence[str] = (), further: Sequence[str] = ()) -> Table:
    """Return messages as a table, a row each, in their order.

    A message without a stamp gets one by linear interpolation: where its receipt lies between those
    of two stamped messages, its stamp lies between theirs. If all stamps are equal (as a driver
    without a clock sends them), the times of receipt are used for all messages.
    """
    received = np.array([row.received for row in rows], np.int64)
    has_stamp = np.array([row.stamp is not None for row in rows], bool)
    stamps, time_column = np.array([row.stamp or 0 for row in rows], np.int64), "stamp [ns]"
    if np.ptp(stamps[has_stamp]) == 0:
        notes = [*notes, "all stamps are the same: times of receipt count"]
        stamps, time_column = received, "receipt [ns]"
    elif not has_stamp.all():
        # Stamped messages in the order of their receipt.
        order = np.flatnonzero(has_stamp)[np.argsort(received[has_stamp], kind="stable")]
        receipts, sent = received[order], stamps[order]
        # For each message without a stamp: the last stamped one before it, and how far it lies on
        # the way to the next, from 0 to 1.
        unstamped = received[~has_stamp]
        before = np.searchsorted(receipts, unstamped, "right") - 1
        before = np.clip(before, 0, len(receipts) - 2)
        fraction = (unstamped - receipts[before]) / np.maximum(np.diff(receipts)[before], 1)
        # Between stamps that jump back, where a new run begins, the earlier stamp is kept.
        advance = fraction.clip(0.0, 1.0) * np.diff(sent)[before].clip(0)
        stamps[~has_stamp] = sent[before] + np.round(advance).astype(np.int64)
    names = dict.fromkeys(name for row in rows for name in row.values)
    columns = {name: np.array([row.values.get(name, np.nan) for row in rows]) for name in names}
    return Table({time_column: stamps, **columns}, notes, published=True, further=further)
