"""Where a steered snake should go: by heading, by waypoints or by commanded velocity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from roboaccord.state import Target

from snake.heading import wrapped

ACCEPTANCE = 0.3  # m; a waypoint that near counts as reached


@dataclass(frozen=True, slots=True)
class Motion:
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
    """Hold what steering is asked for: speed [m/s], heading [rad] and turn rate [rad/s]."""

    speed: float
    heading: float
    turn_rate: float = 0.0


class Guidance(Protocol):
    """Turn a motion into a goal."""

    def reset(self) -> None:
        """Forget the run."""

    def goal(self, motion: Motion) -> Goal:
        """Return the goal for now."""


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

    def goal(self, motion: Motion) -> Goal:
        """Return the heading in force, the shorter way round."""
        if self._start is None:
            self._start = motion.heading
        if self._heading is None or motion.time < self._turn_time - 1e-9:
            return Goal(self._speed, self._start)
        return Goal(self._speed, motion.heading + wrapped(self._heading - motion.heading))


class FollowWaypoints:
    """Point the centre of mass at one waypoint after the other, and stop at the last.

    Args:
        speed: [m/s].
        waypoints: x, y of each [m].
        acceptance: distance at which a waypoint counts as reached [m].
    """

    def __init__(
        self, speed: float, waypoints: Sequence[Sequence[float]], acceptance: float
    ) -> None:
        if acceptance <= 0 or any(len(point) != 2 for point in waypoints):
            raise ValueError("waypoints are pairs x, y in m, and acceptance is positive")
        self._speed, self._acceptance = speed, acceptance
        self._points = [(float(x), float(y)) for x, y in waypoints]
        self.reset()

    def reset(self) -> None:
        """Begin with the first waypoint."""
        self.reached = 0

    def goal(self, motion: Motion) -> Goal:
        """Return the bearing of the next waypoint; no speed after the last."""
        if self.reached < len(self._points):
            x, y = self._points[self.reached]
            if math.hypot(x - motion.x, y - motion.y) <= self._acceptance:
                self.reached += 1
        if self.reached == len(self._points):
            return Goal(0.0, motion.heading)
        x, y = self._points[self.reached]
        bearing = math.atan2(y - motion.y, x - motion.x)
        return Goal(self._speed, motion.heading + wrapped(bearing - motion.heading))


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

    def follow(self, motion: Motion, target: Target) -> Goal:
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
