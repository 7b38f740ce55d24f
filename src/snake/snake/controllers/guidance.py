"""Guidance of a steered snake: where it heads, and where it should head.

The body of a snake undulates, so the heading of a single link says little. `PeriodMean` removes the
undulation from heading and velocity, by a mean over the last period of the gait.

A `Goal` is a speed, a heading and a turn rate, which controllers/steering.py follows. Three classes
make goals: HoldHeading and FollowWaypoints as a scenario asks, and FollowTwist from a commanded
velocity (`cmd_vel`). Towards a waypoint the snake takes the arc of pure pursuit (Coulter,
CMU-RI-TR-92-01, 1992).

ACCEPTANCE and SLOWEST may be tuned; the figures in docs/snake_steering.md were made with them. A
goal is added as a class with `reset()` and `goal(motion) -> Goal`, which SteeringController
chooses.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from roboaccord.contract import Target

TURN = 2.0 * math.pi  # rad
# m: a waypoint nearer than this counts as reached. Measured in `waypoints`: with 0.3 and 0.6 all
# four are reached, with 0.1 the snake misses the second.
ACCEPTANCE = 0.3
# Smallest fraction of the speed, for a waypoint at the side or behind; the turning circle shrinks
# with it. Measured: 0.2 to 0.8 reach all waypoints of the slalom (in 12.0 to 10.8 s) and of the
# square in docs/snake_steering.md (17.3 to 13.6 s), so any of these would do.
SLOWEST = 0.4
DUE = 1e-9  # s: tolerance in comparisons of times, far above round-off and below a tick


def wrapped(angle: float) -> float:
    """Return an angle plus the multiple of 2 pi that brings it into -pi to pi [rad]."""
    return math.remainder(angle, TURN)


class Passed(NamedTuple):
    """What `PeriodMean` stores of a tick: integrals since the start, and the position.

    Attributes:
        travel: path of the gait's phase, counted positive forward and backward [rad].
        time: [s].
        heading: integral of the heading over time [rad s].
        turned: integral of the expected turn over time [rad s].
        x, y: centre of mass [m].
    """

    travel: float
    time: float
    heading: float
    turned: float
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
        present: the same without the lag of a turning body [rad]; see `add`.
        velocity: mean velocity of the centre of mass (vx, vy) [m/s].
        whole: whether the window spans a whole period.
    """

    def __init__(self, longest: float = 10.0) -> None:
        self._longest = longest
        self.reset()

    def reset(self) -> None:
        """Forget the motion."""
        self._window: deque[Passed] = deque()
        # At the last tick: phase of the gait, heading and expected turn [rad].
        self._phase = self._last_heading = self._turned = 0.0
        self.heading = self.present = 0.0
        self.velocity, self.whole = (0.0, 0.0), False

    def add(
        self, time: float, phase: float, heading: float, x: float, y: float, turned: float = 0.0
    ) -> None:
        """Add the motion of a tick to the window, and update the means.

        The mean heading of a turning body lags by half a period. `present` is the mean without
        that lag, because what is averaged is the deviation from the expected turn:

            present = turned + mean(heading - turned)

        Args:
            time: [s].
            phase: of the gait [rad].
            heading: mean of the links' headings, which may jump by 2 pi [rad].
            x, y: centre of mass [m].
            turned: how far the body is expected to have turned since the start [rad].
        """
        window = self._window
        if not window:
            window.append(Passed(0.0, time, 0.0, 0.0, x, y))
            self._phase, self._last_heading, self._turned = phase, heading, turned
            self.heading = self.present = heading
            return
        # Integrals since the start, by the trapezoidal rule.
        heading = self._last_heading + wrapped(heading - self._last_heading)
        before = window[-1]
        travel = before.travel + abs(phase - self._phase)
        area = before.heading + 0.5 * (heading + self._last_heading) * (time - before.time)
        expected = before.turned + 0.5 * (turned + self._turned) * (time - before.time)
        self._phase, self._last_heading, self._turned = phase, heading, turned
        window.append(Passed(travel, time, area, expected, x, y))
        # Means over the window: differences of the integrals at its ends, over its length.
        start = self._start(travel - TURN, time - self._longest)
        elapsed = time - start.time
        if elapsed > 0:
            self.heading = (area - start.heading) / elapsed
            self.present = self.heading + turned - (expected - start.turned) / elapsed
            self.velocity = ((x - start.x) / elapsed, (y - start.y) / elapsed)

    def _start(self, travel: float, time: float) -> Passed:
        """Return the start of the window, interpolated between two ticks; drop older ticks.

        Args:
            travel: of the phase, a period ago [rad].
            time: earliest start of the window [s].
        """
        window = self._window
        while len(window) > 2 and (window[1].travel <= travel or window[1].time <= time):
            window.popleft()
        before, after = window[0], window[1]
        self.whole = before.travel <= travel
        if not self.whole or after.travel == before.travel:
            return before
        fraction = min((travel - before.travel) / (after.travel - before.travel), 1.0)
        return Passed(*(a + fraction * (b - a) for a, b in zip(before, after, strict=True)))

    def speed(self) -> float:
        """Return the component of the mean velocity along the mean heading [m/s]."""
        vx, vy = self.velocity
        return vx * math.cos(self.heading) + vy * math.sin(self.heading)


@dataclass(frozen=True, slots=True)
class SteadyMotion:
    """Motion of the snake without its undulation.

    Args:
        time: [s].
        heading: mean heading over a period [rad], continuous.
        x, y: centre of mass [m].
    """

    time: float
    heading: float
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Goal:
    """Set-points of steering: speed [m/s], heading [rad] and turn rate [rad/s]."""

    speed: float
    heading: float
    turn_rate: float = 0.0


class HoldHeading:
    """Hold the heading of the start, and from `turn_time` on the given heading.

    Args:
        speed: [m/s].
        heading: wanted from `turn_time` on [rad]; None holds the heading of the start to the end.
        turn_time: [s].
    """

    def __init__(self, speed: float, heading: float | None, turn_time: float) -> None:
        self._speed, self._heading, self._turn_time = speed, heading, turn_time
        self.reset()

    def reset(self) -> None:
        """Forget the heading of the start."""
        self._start: float | None = None

    def goal(self, motion: SteadyMotion) -> Goal:
        """Return the goal at present; a new heading is approached by the shorter turn."""
        if self._start is None:
            self._start = motion.heading
        if self._heading is None or motion.time < self._turn_time - DUE:
            return Goal(self._speed, self._start)
        return Goal(self._speed, motion.heading + wrapped(self._heading - motion.heading))


@dataclass(eq=False, repr=False)
class FollowWaypoints:
    """Point the centre of mass at one waypoint after the other, and stop at the last.

    Towards a waypoint at the side the snake slows down, since its turning circle shrinks with the
    speed. A waypoint inside that circle cannot be reached by turning, and the snake would circle
    it for ever; so it goes straight ahead until the waypoint is outside.

    Args:
        speed: [m/s].
        waypoints: x, y of each [m].
        acceptance: distance at which a waypoint counts as reached [m].
        radius: of the turning circle at the lowest speed [m].
    """

    speed: float
    waypoints: Sequence[Sequence[float]]
    acceptance: float
    radius: float

    def __post_init__(self) -> None:
        if any(len(point) != 2 for point in self.waypoints):
            raise ValueError("waypoints are pairs x, y in m")
        if self.speed <= 0 or self.acceptance <= 0:
            raise ValueError("speed and acceptance must be positive for waypoints")
        self._points = [(float(x), float(y)) for x, y in self.waypoints]
        self.reset()

    def reset(self) -> None:
        """Begin with the first waypoint."""
        self.reached = 0

    def goal(self, motion: SteadyMotion) -> Goal:
        """Return the goal that leads to the next waypoint on an arc; after the last one, to stop.

        The arc begins along the heading and has the curvature 2 sin(bearing) / distance (pure
        pursuit, Coulter, CMU-RI-TR-92-01, 1992), so the turn rate is the speed times that.
        """
        if self.reached < len(self._points) and self._waypoint(motion)[0] <= self.acceptance:
            self.reached += 1
        if self.reached == len(self._points):
            return Goal(0.0, motion.heading)
        distance, bearing = self._waypoint(motion)
        speed = self.speed * max(SLOWEST, math.cos(bearing))
        if distance < 2.0 * self.radius * abs(math.sin(bearing)):
            return Goal(speed, motion.heading)
        return Goal(speed, motion.heading + bearing, 2.0 * speed * math.sin(bearing) / distance)

    def _waypoint(self, motion: SteadyMotion) -> tuple[float, float]:
        """Return distance [m] and bearing, relative to the heading [rad], of the next waypoint."""
        x, y = self._points[self.reached]
        x, y = x - motion.x, y - motion.y
        return math.hypot(x, y), wrapped(math.atan2(y, x) - motion.heading)


class FollowTwist:
    """Follow a commanded speed and turn rate; the wanted heading is the integral of the rate.

    Args:
        limit: of the turn rate [rad/s].
        lead: largest difference between wanted and actual heading [rad]; it matters where the
            snake cannot turn as fast as commanded.
    """

    def __init__(self, limit: float, lead: float = 0.5) -> None:
        self._limit, self._lead = limit, lead
        self.reset()

    def reset(self) -> None:
        """Forget the wanted heading; the next one starts at the actual heading."""
        self._time: float | None = None
        self._heading, self._rate = 0.0, 0.0

    def follow(self, motion: SteadyMotion, target: Target) -> Goal:
        """Return the goal under a commanded velocity, by its linear x and angular z."""
        speed = float(target.twist[0])
        if self._time is None or speed == 0.0:  # at rest a snake cannot turn
            self._heading = motion.heading
        else:
            self._heading += self._rate * (motion.time - self._time)
        self._rate = min(max(float(target.twist[5]), -self._limit), self._limit)
        lowest, highest = motion.heading - self._lead, motion.heading + self._lead
        self._heading = min(max(self._heading, lowest), highest)
        self._time = motion.time
        return Goal(speed, self._heading, self._rate if speed else 0.0)
