"""Guidance of a steered snake: its mean heading, and goals by heading, waypoints or velocity.

`PeriodMean` takes the undulation out of heading and velocity, by a mean over the last period of the
gait. A goal is a speed, a heading and a turn rate. HoldHeading and FollowWaypoints are the goals of
a scenario, and FollowTwist follows a commanded velocity (`cmd_vel`). Towards a waypoint the snake
takes the arc of pure pursuit (Coulter, CMU-RI-TR-92-01, 1992).

ACCEPTANCE and SLOWEST may be tuned; the figures in docs/snake_steering.md were made with them. A
goal is added as a class with `reset()` and `goal(motion) -> Goal`, which SteeringController
chooses. That the mean is over exactly one period is tested by test_steering.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from roboaccord.contract import Target

TURN = 2.0 * math.pi  # rad
ACCEPTANCE = 0.3  # m: a waypoint that near counts as reached; our choice
SLOWEST = 0.4  # part of the speed that is kept towards a waypoint at the side; our choice
DUE = 1e-9  # s: a time within this of its set-point has come, whatever the round-off


def wrapped(angle: float) -> float:
    """Return an angle in -pi to pi [rad]."""
    return math.remainder(angle, TURN)


class Passed(NamedTuple):
    """What `PeriodMean` remembers of a tick: sums since the start, and the place.

    Attributes:
        travel: of the gait's phase, forward and backward [rad].
        time: [s].
        heading: integral of the heading [rad s].
        turned: integral of the expected turn [rad s].
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

    A period is the time in which the phase of the gait has moved by 2 pi, forward or backward, so
    that the undulation drops out, also while the frequency changes. In the first period, and
    where a period would be longer than `longest`, the mean is over less.

    Args:
        longest: of a window [s].

    Attributes:
        heading: continuous mean over the period [rad].
        present: the same without the lag of a turning body [rad]; see `add`.
        velocity: of the centre of mass (vx, vy) [m/s].
        whole: whether the window spans a whole period.
    """

    def __init__(self, longest: float = 10.0) -> None:
        self._longest = longest
        self.reset()

    def reset(self) -> None:
        """Forget the motion."""
        self._window: deque[Passed] = deque()
        # At the last tick: phase of the gait, heading and expected turn [rad].
        self._phase = self._last = self._turned = 0.0
        self.heading = self.present = 0.0
        self.velocity, self.whole = (0.0, 0.0), False

    def add(
        self, time: float, phase: float, heading: float, x: float, y: float, turned: float = 0.0
    ) -> None:
        """Take the mean heading of the links [rad], which may jump by 2 pi, and the centre [m].

        The mean of a turning body lags by half a period. If the turn is expected to have been
        `turned` since the start [rad], `present` is the mean heading without that lag:

            present = turned + mean(heading - turned)
        """
        window = self._window
        if not window:
            window.append(Passed(0.0, time, 0.0, 0.0, x, y))
            self._phase, self._last, self._turned = phase, heading, turned
            self.heading = self.present = heading
            return
        heading = self._last + wrapped(heading - self._last)
        before = window[-1]
        travel = before.travel + abs(phase - self._phase)
        area = before.heading + 0.5 * (heading + self._last) * (time - before.time)
        expected = before.turned + 0.5 * (turned + self._turned) * (time - before.time)
        self._phase, self._last, self._turned = phase, heading, turned
        window.append(Passed(travel, time, area, expected, x, y))
        start = self._start(travel - TURN, time - self._longest)
        elapsed = time - start.time
        if elapsed > 0:
            self.heading = (area - start.heading) / elapsed
            self.present = self.heading + turned - (expected - start.turned) / elapsed
            self.velocity = ((x - start.x) / elapsed, (y - start.y) / elapsed)

    def _start(self, travel: float, time: float) -> Passed:
        """Drop ticks older than the window; return its start, interpolated between two ticks."""
        window = self._window
        while len(window) > 2 and (window[1].travel <= travel or window[1].time <= time):
            window.popleft()
        old, new = window[0], window[1]
        self.whole = old.travel <= travel
        if not self.whole or new.travel == old.travel:
            return old
        share = min((travel - old.travel) / (new.travel - old.travel), 1.0)
        return Passed(*(a + share * (b - a) for a, b in zip(old, new, strict=True)))

    def speed(self) -> float:
        """Return the mean velocity along the mean heading [m/s]."""
        vx, vy = self.velocity
        return vx * math.cos(self.heading) + vy * math.sin(self.heading)


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
        if self._heading is None or motion.time < self._turn_time - DUE:
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
