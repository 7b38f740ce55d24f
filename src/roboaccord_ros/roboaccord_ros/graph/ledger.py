"""Bookkeeping of messages per control period: detection of losses."""

from __future__ import annotations

from roboaccord_ros.graph import names as graph

IN_STEP = (graph.ODOMETRY, graph.EFFORTS, graph.STATES)


class Ledger:
    """Keep the last stamp of each topic [ns], and count the gaps.

    Args:
        period: control period [ns].
    """

    def __init__(self, period: int) -> None:
        self._period = period
        self._stamps = dict.fromkeys(IN_STEP, -period)
        self.lost = 0

    @property
    def now(self) -> int:
        """The time of the last joint states."""
        return max(self._stamps[graph.STATES], 0)

    def note(self, name: str, stamp: int) -> None:
        """Take the stamp of a message; a jump back is a reset, and no loss."""
        last = self._stamps[name]
        self._stamps[name] = stamp
        if stamp > last + self._period:
            self.lost += (stamp - last) // self._period - 1

    def complete(self, end: int) -> bool:
        """Return whether both halves of the state at `end` came."""
        return min(self._stamps[graph.ODOMETRY], self._stamps[graph.STATES]) >= end
