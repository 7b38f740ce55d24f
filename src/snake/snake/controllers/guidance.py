"""Guidance of a steered snake: the speed, heading and turn rate that it should have.

A `Goal` is a speed, a heading and a turn rate, which controllers/steering.py follows. Three classes
make goals: HoldHeading and FollowWaypoints as a scenario asks, and FollowTwist from a commanded
velocity (`cmd_vel`). Towards a waypoint the snake takes the arc of pure pursuit (Coulter,
CMU-RI-TR-92-01, 1992).

ACCEPTANCE, SLOWEST and LEAD may be tuned; the figures in docs/snake_steering.md were made with
them. A goal is added as a class with `reset()` and `goal(motion) -> Goal`, which SteeringController
chooses.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from roboaccord.contract import Target

from snake.controllers.period_mean import wrapped

# m: a waypoint nearer than this counts as reached. Measured in `waypoints`: with 0.3 and 0.6 all
# four are reached, with 0.1 the snake misses the second.
ACCEPTANCE = 0.3
# Smallest fraction of the speed, for a waypoint at the side or behind; the turning circle shrinks
# with it. Measured: 0.2 to 0.8 reach all waypoints of the slalom (in 12.0 to 10.8 s) and of the
# square in docs/snake_steering.md (17.3 to 13.6 s), so any of these would do.
SLOWEST = 0.4
# rad: by how much the wanted heading may lead the actual one under a commanded twist. Without a
# limit it would run away while the snake cannot turn as fast as commanded.
LEAD = 0.5
TIME_TOLERANCE = 1e-9  # s: in comparisons of times, far above round-off and below a tick


@dataclass(frozen=True, slots=True)
class SteadyMotion:
    """Motion of the snake without its undulation, as `PeriodMean` gives it.

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
        self._start_heading: float | None = None

    def goal(self, motion: SteadyMotion) -> Goal:
        """Return the goal at present; a new heading is approached by the shorter turn."""
        if self._start_heading is None:
            self._start_heading = motion.heading
        if self._heading is None or motion.time < self._turn_time - TIME_TOLERANCE:
            return Goal(self._speed, self._start_heading)
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
        pursuit), so the turn rate is the speed times that.
        """
        has_next = self.reached < len(self._points)
        if has_next and self._distance_and_bearing(motion)[0] <= self.acceptance:
            self.reached += 1
        if self.reached == len(self._points):
            return Goal(0.0, motion.heading)
        distance, bearing = self._distance_and_bearing(motion)
        speed = self.speed * max(SLOWEST, math.cos(bearing))
        if distance < 2.0 * self.radius * abs(math.sin(bearing)):
            return Goal(speed, motion.heading)
        return Goal(speed, motion.heading + bearing, 2.0 * speed * math.sin(bearing) / distance)

    def _distance_and_bearing(self, motion: SteadyMotion) -> tuple[float, float]:
        """Return distance [m] and bearing, relative to the heading [rad], of the next waypoint."""
        x, y = self._points[self.reached]
        ahead_x, ahead_y = x - motion.x, y - motion.y
        bearing = wrapped(math.atan2(ahead_y, ahead_x) - motion.heading)
        return math.hypot(ahead_x, ahead_y), bearing


class FollowTwist:
    """Follow a commanded speed and turn rate; the wanted heading is the integral of the rate.

    Args:
        limit: of the turn rate [rad/s].
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self.reset()

    def reset(self) -> None:
        """Forget the wanted heading; the next one starts at the actual heading."""
        self._time: float | None = None  # of the last tick [s]
        self._heading, self._rate = 0.0, 0.0  # wanted heading [rad] and its rate [rad/s]

    def follow(self, motion: SteadyMotion, target: Target) -> Goal:
        """Return the goal under a commanded velocity, by its linear x and angular z."""
        speed = float(target.twist[0])
        if self._time is None or speed == 0.0:  # at rest a snake cannot turn
            self._heading = motion.heading
        else:
            self._heading += self._rate * (motion.time - self._time)
        self._rate = min(max(float(target.twist[5]), -self._limit), self._limit)
        lowest, highest = motion.heading - LEAD, motion.heading + LEAD
        self._heading = min(max(self._heading, lowest), highest)
        self._time = motion.time
        return Goal(speed, self._heading, self._rate if speed else 0.0)
