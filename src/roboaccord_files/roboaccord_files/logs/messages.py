"""Joint states and numbers of topics, from a bag or from text, as a table: a row each.

Other messages become rows by a function like `joint_state`. Stamps stay whole nanoseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from roboaccord.cdr.codecs import TRUE
from roboaccord.contract.state import Array

from roboaccord_files.logs.table import Table

PARTS = ("q", "qd", "effort")  # of a joint state, in its order
Parts = Sequence[Sequence[float] | Array]


class Row(NamedTuple):
    """A message: topic, stamp (None without header), time of receipt [ns], numbers by column."""

    topic: str
    stamp: int | None
    received: int
    values: Mapping[str, float]


def joint_state(topic: str, stamp: int, received: int, names: Sequence[str], parts: Parts) -> Row:
    """Return a joint state: positions, rates and efforts, each for all joints or for none.

    Of a joint whose encoder has failed the true angle counts, where it is there.
    """
    whole = [(k, each) for k, each in zip(PARTS, parts) if len(each) == len(names)]
    values = {f"{k}/{n.removesuffix(TRUE)}": v for k, each in whole for n, v in zip(names, each)}
    return Row(topic, stamp, received, values)


def table_of(rows: Sequence[Row], notes: Sequence[str] = (), more: Sequence[str] = ()) -> Table:
    """Return messages as a table, in their order.

    Those without a stamp get theirs from when they came among the others; where all stamps are the
    same, the times of receipt count.
    """
    received = np.array([row.received for row in rows], np.int64)
    stamped = np.array([row.stamp is not None for row in rows], bool)
    stamps, name = np.array([row.stamp or 0 for row in rows], np.int64), "stamp [ns]"
    if np.ptp(stamps[stamped]) == 0:
        notes, name = [*notes, "all stamps are the same: times of receipt count"], "receipt [ns]"
        stamps = received
    elif not stamped.all():
        order = np.flatnonzero(stamped)[np.argsort(received[stamped], kind="stable")]
        came, sent = received[order], stamps[order]
        last = np.clip(np.searchsorted(came, received[~stamped], "right") - 1, 0, len(came) - 2)
        share = (received[~stamped] - came[last]) / np.maximum(np.diff(came)[last], 1)
        ahead = share.clip(0.0, 1.0) * np.diff(sent)[last].clip(0)  # none where a run begins anew
        stamps[~stamped] = sent[last] + np.round(ahead).astype(np.int64)
    names = dict.fromkeys(name for row in rows for name in row.values)
    columns = {each: np.array([row.values.get(each, np.nan) for row in rows]) for each in names}
    return Table({name: stamps, **columns}, notes, published=True, more=more)
