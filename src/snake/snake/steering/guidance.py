"""Guidance of a steered snake: by heading, waypoints or commanded velocity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from roboaccord.contract import Target

from snake.steering.heading import wrapped

ACCEPTANCE = 0.3  # m; a waypoint that near counts as reached
SLOWEST = 0.4  # part of the speed that is kept towards a waypoint at the side


@dataclass(frozen=True, slots=True)
class SteadyMotion:
    """Hold the motion of a snake without its undulation.

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
    """Hold the set-points of steering: speed [m/s], heading [rad] and turn rate [rad/s]."""

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
        """Return the heading in force, the shorter way round."""
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
        if self.reached < len(self._points) and self._way(motion)[0] <= self.acceptance:
            self.reached += 1
        if self.reached == len(self._points):
            return Goal(0.0, motion.heading)
        distance, aside = self._way(motion)
        speed = self.speed * max(SLOWEST, math.cos(aside))
        if distance < 2.0 * self.radius * abs(math.sin(aside)):
            return Goal(speed, motion.heading)
        return Goal(speed, motion.heading + aside, 2.0 * speed * math.sin(aside) / distance)

    def _way(self, motion: SteadyMotion) -> tuple[float, float]:
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
