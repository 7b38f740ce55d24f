"""Guidance of a steered snake: its mean heading, and goals by heading, waypoints or velocity.

ACCEPTANCE and SLOWEST may be tuned; figures in docs/snake_steering.md were made with them. Goals
may be added: a class here with `reset()` and `goal(motion) -> Goal`, which SteeringController
chooses in steering.py. What must stay, by test_steering: PeriodMean averages over exactly one
period, and the arc is that of pure pursuit (Coulter 1992).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from roboaccord.contract import Target

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
        and `whole` is whether the window holds a whole period. The mean of a turning body lags
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


ACCEPTANCE = 0.3  # m; a waypoint that near counts as reached
SLOWEST = 0.4  # part of the speed that is kept towards a waypoint at the side


@dataclass(frozen=True, slots=True)
class SteadyMotion:
    """Motion of a snake without its undulation.

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
    """Hold the heading of the start, and from a time on another one.

    Args:
        speed: [m/s].
        heading: [rad], or None for the heading of the start to the end.
        turn_time: when `heading` begins to hold [s].
    """

    def __init__(self, speed: float, heading: float | None, turn_time: float) -> None:
        self._speed, self._heading, self._turn_time = speed, heading, turn_time
        self.reset()

    def reset(self) -> None:
        """Forget the heading of the start."""
        self._start: float | None = None

    def goal(self, motion: SteadyMotion) -> Goal:
        """Return the heading in force, by the shorter turn."""
        if self._start is None:
            self._start = motion.heading
        if self._heading is None or motion.time < self._turn_time - 1e-9:
            return Goal(self._speed, self._start)
        return Goal(self._speed, motion.heading + wrapped(self._heading - motion.heading))


@dataclass(eq=False, repr=False)
class FollowWaypoints:
    """Point the centre of mass at one waypoint after the other, and stop at the last.

    Towards a waypoint at the side the snake slows down, for its turning circle shrinks with the
    speed. One inside that circle cannot be reached by turning; the snake then goes straight on
    until it is outside, and so never circles it.

    Args:
        speed: [m/s].
        waypoints: x, y of each [m].
        acceptance: distance at which a waypoint counts as reached [m].
        radius: of the turning circle at the least speed [m].
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
        """Return the bearing of the next waypoint, and the turn of the arc that leads to it.

        The arc begins along the heading (pure pursuit, Coulter, CMU-RI-TR-92-01, 1992): curvature
        2 sin(bearing) / distance. After the last waypoint the goal is to stop.
        """
        if self.reached < len(self._points) and self._waypoint(motion)[0] <= self.acceptance:
            self.reached += 1
        if self.reached == len(self._points):
            return Goal(0.0, motion.heading)
        distance, aside = self._waypoint(motion)
        speed = self.speed * max(SLOWEST, math.cos(aside))
        if distance < 2.0 * self.radius * abs(math.sin(aside)):
            return Goal(speed, motion.heading)
        return Goal(speed, motion.heading + aside, 2.0 * speed * math.sin(aside) / distance)

    def _waypoint(self, motion: SteadyMotion) -> tuple[float, float]:
        """Return distance [m] and bearing from the heading [rad] of the next waypoint."""
        x, y = self._points[self.reached]
        x, y = x - motion.x, y - motion.y
        return math.hypot(x, y), wrapped(math.atan2(y, x) - motion.heading)


class FollowTwist:
    """Follow commanded speed and turn rate; the heading set-point is the integral of the rate.

    Args:
        limit: of the turn rate [rad/s].
        lead: how far the set-point may run ahead of the heading [rad], where the snake cannot
            turn as fast as it is asked to.
    """

    def __init__(self, limit: float, lead: float = 0.5) -> None:
        self._limit, self._lead = limit, lead
        self.reset()

    def reset(self) -> None:
        """Forget the set-point; the next one starts at the heading."""
        self._time: float | None = None
        self._heading, self._rate = 0.0, 0.0

    def follow(self, motion: SteadyMotion, target: Target) -> Goal:
        """Return the goal under a target, of which linear x and angular z count."""
        speed = float(target.twist[0])
        if self._time is None or speed == 0.0:  # at rest a snake cannot turn
            self._heading = motion.heading
        else:
            self._heading += self._rate * (motion.time - self._time)
        self._rate = min(max(float(target.twist[5]), -self._limit), self._limit)
        least, most = motion.heading - self._lead, motion.heading + self._lead
        self._heading = min(max(self._heading, least), most)
        self._time = motion.time
        return Goal(speed, self._heading, self._rate if speed else 0.0)
