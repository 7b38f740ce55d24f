"""The pace of a run by the wall clock.

FINEST and SLACK only pace: no figure, hash or bag depends on them, and they may be tuned
(test_pace).
"""

from __future__ import annotations

import logging
import time

_log = logging.getLogger(__name__)
FINEST = 1e-3  # s between looks at the wall clock
SLACK = 0.2  # s of delay that is made up for; a longer one moves the schedule


class Pace:
    """Schedule of the control ticks by the wall clock; no tick is skipped.

    Args:
        period: control period [s].
        pace: simulated seconds a second of wall time; 0: every tick is due at once. It may be
            changed at any time.
    """

    def __init__(self, period: float, pace: float) -> None:
        self._period, self.pace = period, pace
        self._due = 0.0
        self._warned = False

    @property
    def interval(self) -> float:
        """Wall time between ticks [s]; 0 where every tick is due at once."""
        return self._period / self.pace if self.pace else 0.0

    @property
    def look_period(self) -> float:
        """How often to look whether a tick is due [s]; 0 where it always is."""
        return max(self.interval, FINEST) if self.pace else 0.0

    def restart(self) -> None:
        """Count from now on."""
        self._due = time.monotonic() + self.interval

    def due(self) -> bool:
        """Return whether the next tick may be taken."""
        return not self.pace or time.monotonic() >= self._due

    def wait(self) -> None:
        """Wait until the next tick is due, and take it."""
        if self.pace:
            time.sleep(max(self._due - time.monotonic(), 0.0))
        self.advance()

    def advance(self) -> None:
        """Note that a tick is taken, and warn once if ticks are due faster than that can be."""
        if not self.pace:
            return
        self._due += self.interval
        late = time.monotonic() - self._due
        if late > SLACK:
            self._due += late
            if not self._warned:
                _log.warning("the simulation falls behind the wall clock; no step is left out")
            self._warned = True
