"""The pace of a run by the wall clock: when each control tick is due.

A simulation runs as fast as it can, unless a person watches or drives it. `Pace` then makes it
wait: called at each control tick, it waits until the next one is due. Pacing changes no figure,
hash or bag; SHORTEST_LOOK and LONGEST_DELAY may be tuned (test_pace).
"""

from __future__ import annotations

import logging
import time

_log = logging.getLogger(__name__)
# s: shortest time between two readings of the wall clock: a tick at 1 kHz, and no load.
SHORTEST_LOOK = 1e-3
# s: a shorter delay is caught up, which is hardly visible; a longer one moves the schedule.
LONGEST_DELAY = 0.2


class Pace:
    """Schedule of the control ticks by the wall clock; no tick is skipped.

    Args:
        period: control period [s].
        pace: simulated seconds in a second of wall time; 0 if every tick is due at once. It may be
            changed at any time.
    """

    def __init__(self, period: float, pace: float) -> None:
        self._period, self.pace = period, pace
        self._due = 0.0  # time of the monotonic clock at which the next tick is due [s]
        self._has_warned = False

    @property
    def interval(self) -> float:
        """Wall time between ticks [s]; 0 where every tick is due at once."""
        return self._period / self.pace if self.pace else 0.0

    @property
    def look_period(self) -> float:
        """Time between two checks whether a tick is due [s]; 0 where a tick is always due."""
        return max(self.interval, SHORTEST_LOOK) if self.pace else 0.0

    def restart(self) -> None:
        """Start the schedule now: the next tick is due after one interval."""
        self._due = time.monotonic() + self.interval

    def due(self) -> bool:
        """Return whether the next tick is due."""
        return not self.pace or time.monotonic() >= self._due

    def wait(self) -> None:
        """Wait until the next tick is due, and move the schedule to the one after it."""
        if self.pace:
            time.sleep(max(self._due - time.monotonic(), 0.0))
        self.advance()

    def advance(self) -> None:
        """Move the schedule to the next tick; warn once if the simulation cannot keep up."""
        if not self.pace:
            return
        self._due += self.interval
        delay = time.monotonic() - self._due
        if delay > LONGEST_DELAY:
            self._due += delay
            if not self._has_warned:
                _log.warning("the simulation falls behind the wall clock; no step is left out")
            self._has_warned = True
