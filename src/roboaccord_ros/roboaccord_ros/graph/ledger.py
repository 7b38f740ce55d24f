"""Ledger of a recorded run: which messages are lost, repeated or out of order.

test_disorder guards what is counted.
"""

from __future__ import annotations

from roboaccord_ros.graph import names as graph

# Topics with a message for each state, in the order in which outlet.py publishes them.
IN_STEP = (graph.ODOMETRY, graph.EFFORTS, graph.STATES)


class Ledger:
    """Last stamps of the topics of each state [ns], and counts of messages that break their order.

    Args:
        period: control period [ns].

    Attributes:
        lost: messages that are missing, from gaps of the stamps.
        repeated: messages with the stamp of the one before.
        disordered: messages with an earlier stamp that is no reset.
    """

    def __init__(self, period: int) -> None:
        self._period = period
        self._stamps = dict.fromkeys(IN_STEP, -period)
        self.lost = self.repeated = self.disordered = 0

    @property
    def now(self) -> int:
        """Stamp of the last joint states [ns], 0 before the first."""
        return max(self._stamps[graph.STATES], 0)

    def note(self, name: str, stamp: int) -> bool:
        """Take the stamp of a message, and return whether it is the next one.

        A jump back to the start is a reset, not a loss.
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
        """Return the counts in words, "" if all are 0."""
        counts = {"lost": self.lost, "came twice": self.repeated, "out of order": self.disordered}
        return ", ".join(f"{count} {word}" for word, count in counts.items() if count)

    def complete(self, end: int) -> bool:
        """Return whether odometry and joint states up to the stamp `end` [ns] have come."""
        return min(self._stamps[graph.ODOMETRY], self._stamps[graph.STATES]) >= end
