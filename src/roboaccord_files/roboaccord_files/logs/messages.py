"""Joint states and numbers of topics, gathered to a table: a row each, from a bag or from text.

A further quantity of a message may be added as a column: `Messages.add` takes any names. Stamps are
whole nanoseconds up to the difference to the first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from roboaccord.cdr.codecs import TRUE
from roboaccord.contract.state import Array

from roboaccord_files.logs.table import Table

PARTS = ("q", "qd", "effort")  # of a joint state, in its order


class Messages:
    """Gather what messages state."""

    def __init__(self) -> None:
        self._stamps: list[int] = []
        self._received: list[int] = []
        self._cells: dict[tuple[str, ...], tuple[list[int], list[Sequence[float] | Array]]] = {}

    def add(
        self,
        stamp: int | None,
        received: int,
        names: tuple[str, ...],
        values: Sequence[float] | Array,
    ) -> None:
        """Take a message with its stamp, None where it has none, and when it came [ns]."""
        rows, cells = self._cells.setdefault(names, ([], []))
        rows.append(len(self._stamps))
        cells.append(values)
        self._stamps.append(-1 if stamp is None else stamp)
        self._received.append(received)

    def add_state(
        self,
        stamp: int,
        received: int,
        joints: Sequence[str],
        parts: Sequence[Sequence[float] | Array],
        topic: str = "",
    ) -> None:
        """Take a joint state: positions, rates and efforts, each for all joints or for none.

        Of a joint whose encoder has failed the true angle counts, where it is there.
        """
        whole = [(kind, each) for kind, each in zip(PARTS, parts) if len(each) == len(joints)]
        named = {
            f"{topic}{kind}/{joint.removesuffix(TRUE)}": value
            for kind, values in whole
            for joint, value in zip(joints, values)
        }
        self.add(stamp, received, tuple(named), [*named.values()])

    def table(self, notes: Sequence[str] = (), more: Sequence[str] = ()) -> Table:
        """Return the messages as a table, in the order in which they came."""
        stamps, received = np.array(self._stamps, np.int64), np.array(self._received, np.int64)
        stamped = stamps >= 0
        if (stamps[stamped] == stamps[stamped][:1]).all():
            notes, name = [*notes, "stamps are all the same: the times of receipt count"], "receipt"
            times = received
        else:
            name, times = "stamp", _on_one_clock(stamps, received, stamped)
        columns = {}
        for names, (rows, cells) in self._cells.items():
            for column, values in zip(names, np.array(cells, float).reshape(-1, len(names)).T):
                columns.setdefault(column, np.full(len(times), np.nan))[rows] = values
        first = int(times[0])
        columns = {f"{name} [s]": 1e-9 * (times - first), **columns}
        origins = {f"{name} [s]": 1e-9 * first}
        return Table(columns, origins, notes=notes, published=True, more=more)


def _on_one_clock(
    stamps: NDArray[np.int64], received: NDArray[np.int64], stamped: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return stamps [ns]; messages that have none get theirs from when they came."""
    if stamped.all():
        return stamps
    order = np.argsort(received[stamped], kind="stable")
    came, said = received[stamped][order], stamps[stamped][order]
    at = np.interp(received[~stamped] - came[0], came - came[0], said - said[0])
    found = stamps.copy()
    found[~stamped] = said[0] + np.round(at).astype(np.int64)
    return found
