"""Heading and velocity of a snake, averaged over one period of the gait."""

from __future__ import annotations

import math
from collections import deque

TURN = 2.0 * math.pi


def wrapped(angle: float) -> float:
    """Return an angle in -pi to pi [rad]."""
    return math.remainder(angle, TURN)


class PeriodMean:
    """Average heading and velocity over exactly the last period of the gait.

    A period is the time in which the phase of the gait has moved by 2 pi, forward or backward, so
    that the undulation drops out, also while the frequency changes. In the first period, and
    where a period would be longer than `longest`, the mean is over less.

    Args:
        longest: of a window [s].
    """

    def __init__(self, longest: float = 10.0) -> None:
        self._longest = longest
        self.reset()

    def reset(self) -> None:
        """Forget the motion."""
        # Rows of travelled phase [rad], time [s], integrals of the heading and of the expected
        # turn [rad s], x and y [m].
        self._rows: deque[tuple[float, ...]] = deque()
        self._phase = self._last = self._turned = 0.0
        self.heading = self.present = 0.0
        self.velocity, self.whole = (0.0, 0.0), False

    def add(
        self, time: float, phase: float, heading: float, x: float, y: float, turned: float = 0.0
    ) -> None:
        """Take the mean heading of the links [rad], which may jump by 2 pi, and the centre [m].

        Then `heading` [rad] is the continuous mean over the period, `velocity` [m/s] the centre's,
        and `whole` tells whether the window holds a whole period. The mean of a turning body lags
        by half a period. If the turn is expected to have been `turned` since the start [rad],
        `present` is the mean heading without that lag:

            present = turned + mean(heading - turned)
        """
        rows = self._rows
        if not rows:
            rows.append((0.0, time, 0.0, 0.0, x, y))
            self._phase, self._last, self._turned = phase, heading, turned
            self.heading = self.present = heading
            return
        heading = self._last + wrapped(heading - self._last)
        travel, before, area, expected, _, _ = rows[-1]
        travel += abs(phase - self._phase)
        area += 0.5 * (heading + self._last) * (time - before)
        expected += 0.5 * (turned + self._turned) * (time - before)
        self._phase, self._last, self._turned = phase, heading, turned
        rows.append((travel, time, area, expected, x, y))
        start = self._start(travel - TURN, time - self._longest)
        elapsed = time - start[1]
        if elapsed > 0:
            self.heading = (area - start[2]) / elapsed
            self.present = self.heading + turned - (expected - start[3]) / elapsed
            self.velocity = ((x - start[4]) / elapsed, (y - start[5]) / elapsed)

    def _start(self, travel: float, time: float) -> tuple[float, ...]:
        """Drop what is older than the window, and return the row at which it begins."""
        rows = self._rows
        while len(rows) > 2 and (rows[1][0] <= travel or rows[1][1] <= time):
            rows.popleft()
        old, new = rows[0], rows[1]
        self.whole = old[0] <= travel
        if not self.whole or new[0] == old[0]:
            return old
        part = min((travel - old[0]) / (new[0] - old[0]), 1.0)
        return tuple(a + part * (b - a) for a, b in zip(old, new, strict=True))

    def speed(self) -> float:
        """Return the mean velocity along the mean heading [m/s]."""
        vx, vy = self.velocity
        return vx * math.cos(self.heading) + vy * math.sin(self.heading)
