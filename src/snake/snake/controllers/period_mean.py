"""Heading and velocity of the snake without the undulation of its gait.

The body of a snake undulates, so the heading of a single link says little. `PeriodMean` removes the
undulation from heading and velocity, by a mean over the last period of the gait. It receives the
motion tick by tick; a tick is the controller's period. Tests: test_steering.
"""

import math
from collections import deque
from typing import NamedTuple

FULL_TURN = 2.0 * math.pi  # rad


def wrapped(angle: float) -> float:
    """Return an angle plus the multiple of 2 pi that brings it into -pi to pi [rad]."""
    return math.remainder(angle, FULL_TURN)


class TickIntegrals(NamedTuple):
    """Integrals over the motion from the start to a tick, with time and position of the tick.

    Attributes:
        phase_path: path of the gait's phase, counted positive forward and backward [rad].
        time: [s].
        heading: integral of the heading over time [rad s].
        expected_turn: integral of the expected turn over time [rad s].
        x, y: centre of mass [m].
    """

    phase_path: float
    time: float
    heading: float
    expected_turn: float
    x: float
    y: float


class PeriodMean:
    """Average heading and velocity over exactly the last period of the gait.

    A period is the time in which the phase of the gait has moved by 2 pi, forward or backward.
    Over it the undulation averages out, also while the frequency changes. In the first period, and
    if a period lasts longer than `longest`, the window of the mean is shorter than a period.

    Args:
        longest: window of the mean [s].

    Attributes:
        heading: mean over the window, continuous: it does not jump by 2 pi [rad].
        heading_now: the same without the lag of half a period that a mean has while the body
            turns [rad]; the formula is in `add`.
        velocity: mean velocity of the centre of mass (vx, vy) [m/s].
        spans_period: whether the window spans a whole period.
    """

    def __init__(self, longest: float = 10.0) -> None:
        self._longest = longest
        self.reset()

    def reset(self) -> None:
        """Forget the motion."""
        self._window: deque[TickIntegrals] = deque()
        # At the last tick: phase of the gait, heading and expected turn [rad].
        self._last_phase = self._last_heading = self._last_turn = 0.0
        self.heading = self.heading_now = 0.0
        self.velocity = (0.0, 0.0)
        self.spans_period = False

    def add(
        self, time: float, phase: float, heading: float, x: float, y: float, turn: float = 0.0
    ) -> None:
        """Add the motion of a tick to the window, and update the means.

        The mean heading of a turning body lags by half a period. `heading_now` is the mean without
        that lag, because what is averaged is the deviation from the expected turn:

            heading_now = turn + mean(heading - turn)

        Args:
            time: [s].
            phase: of the gait [rad].
            heading: mean of the links' headings, which may jump by 2 pi [rad].
            x, y: centre of mass [m].
            turn: how far the body is expected to have turned since the start [rad].
        """
        window = self._window
        if not window:
            window.append(TickIntegrals(0.0, time, 0.0, 0.0, x, y))
            self._last_phase, self._last_heading, self._last_turn = phase, heading, turn
            self.heading = self.heading_now = heading
            return
        # Integrals since the start, by the trapezoidal rule.
        heading = self._last_heading + wrapped(heading - self._last_heading)
        before = window[-1]
        step = time - before.time
        path = before.phase_path + abs(phase - self._last_phase)
        heading_integral = before.heading + 0.5 * (heading + self._last_heading) * step
        turn_integral = before.expected_turn + 0.5 * (turn + self._last_turn) * step
        self._last_phase, self._last_heading, self._last_turn = phase, heading, turn
        window.append(TickIntegrals(path, time, heading_integral, turn_integral, x, y))
        # Means over the window: differences of the integrals at its ends, over its length.
        start = self._window_start(path - FULL_TURN, time - self._longest)
        elapsed = time - start.time
        if elapsed > 0:
            self.heading = (heading_integral - start.heading) / elapsed
            self.heading_now = self.heading + turn - (turn_integral - start.expected_turn) / elapsed
            self.velocity = ((x - start.x) / elapsed, (y - start.y) / elapsed)

    def _window_start(self, path: float, time: float) -> TickIntegrals:
        """Return the start of the window, interpolated between two ticks; drop older ticks.

        Args:
            path: of the phase, a period ago [rad].
            time: earliest start of the window [s].
        """
        window = self._window
        while len(window) > 2 and (window[1].phase_path <= path or window[1].time <= time):
            window.popleft()
        before, after = window[0], window[1]
        self.spans_period = before.phase_path <= path
        if not self.spans_period or after.phase_path == before.phase_path:
            return before
        fraction = min((path - before.phase_path) / (after.phase_path - before.phase_path), 1.0)
        # All fields alike, from `before` to `after`.
        return TickIntegrals(*(a + fraction * (b - a) for a, b in zip(before, after, strict=True)))

    def speed(self) -> float:
        """Return the component of the mean velocity along the mean heading [m/s]."""
        vx, vy = self.velocity
        return vx * math.cos(self.heading) + vy * math.sin(self.heading)
