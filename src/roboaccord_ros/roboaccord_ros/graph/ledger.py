"""Ledger of a recorded run: counts messages that are lost, repeated or out of order.

The recorder adds each message by its stamp, the time of the state that it belongs to. Each control
period has one message on each topic of IN_STEP, so a gap or a jump in the stamps shows what is
missing. test_disorder guards what is counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from roboaccord_ros.graph import names as graph

# Topics with a message for each state, or with one for each free body of each state.
IN_STEP = (graph.ODOMETRY, graph.EFFORTS, graph.STATES, graph.BODIES)


class Ledger:
    """The last stamp of each topic of IN_STEP, and the counts of messages that break the order.

    Args:
        period: control period [ns].
        bodies: names of the free bodies, each of which counts as a topic, `bodies/NAME`.

    Attributes:
        period: the argument.
        lost: number of missing messages, by the gaps between stamps.
        repeated: number of messages with the stamp of the one before, other than 0.
        disordered: number of messages with an earlier stamp, resets excepted.
    """

    def __init__(self, period: int, bodies: Sequence[str] = ()) -> None:
        self.period = period
        topics = [*IN_STEP[:-1], *(f"{graph.BODIES}/{name}" for name in bodies)]
        self._stamps = dict.fromkeys(topics, -period)
        self.lost = self.repeated = self.disordered = 0

    @property
    def now(self) -> int:
        """Stamp of the last joint states [ns], 0 before the first."""
        return max(self._stamps[graph.STATES], 0)

    def add(self, name: str, stamp: int) -> bool:
        """Count a message by its stamp [ns]; return False if it is repeated or too early.

        A jump back to the first period is a reset of the simulation, not disorder; so is 0 again,
        where the start was changed.
        """
        if name not in self._stamps:  # a body of somebody else
            return False
        last = self._stamps[name]
        if stamp == last > 0:
            self.repeated += 1
            return False
        if self.period < stamp < last:
            self.disordered += 1
            return False
        self._stamps[name] = stamp
        if stamp > last + self.period:
            self.lost += (stamp - last) // self.period - 1
        return True

    def summary(self) -> str:
        """Return the counts in words, "" if all are 0."""
        counts = {"lost": self.lost, "came twice": self.repeated, "out of order": self.disordered}
        return ", ".join(f"{count} {word}" for word, count in counts.items() if count)

    def has_states_until(self, end: int) -> bool:
        """Return whether odometry, joint states and bodies up to the stamp `end` [ns] have come."""
        return min(stamp for name, stamp in self._stamps.items() if name != graph.EFFORTS) >= end
