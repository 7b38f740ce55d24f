"""Bookkeeping of messages per control period: what is lost, comes again or out of order."""

from __future__ import annotations

from roboaccord_ros.graph import names as graph

IN_STEP = (graph.ODOMETRY, graph.EFFORTS, graph.STATES)


class Ledger:
    """Keep the last stamp of each topic [ns], and count what is wrong with them.

    Args:
        period: control period [ns].

    Attributes:
        lost: messages that were not there, in gaps of the stamps.
        repeated: messages with the stamp of the one before.
        disordered: messages with an earlier stamp, which is not that of a reset.
    """

    def __init__(self, period: int) -> None:
        self._period = period
        self._stamps = dict.fromkeys(IN_STEP, -period)
        self.lost = self.repeated = self.disordered = 0

    @property
    def now(self) -> int:
        """The time of the last joint states."""
        return max(self._stamps[graph.STATES], 0)

    def note(self, name: str, stamp: int) -> bool:
        """Take the stamp of a message, and return whether it is the next one.

        A jump back to the start is a reset, and no loss.
        """
        last = self._stamps[name]
        if stamp == last:
            self.repeated += 1
            return False
        if self._period < stamp < last:
            self.disordered += 1
            return False
        self._stamps[name] = stamp
        if stamp > last + self._period:
            self.lost += (stamp - last) // self._period - 1
        return True

    def summary(self) -> str:
        """Return what went wrong in words; "" where nothing did."""
        counts = {"lost": self.lost, "came twice": self.repeated, "out of order": self.disordered}
        return ", ".join(f"{count} {word}" for word, count in counts.items() if count)

    def complete(self, end: int) -> bool:
        """Return whether both halves of the state at `end` came."""
        return min(self._stamps[graph.ODOMETRY], self._stamps[graph.STATES]) >= end
