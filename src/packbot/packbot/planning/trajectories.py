"""Trajectory along a path of straight lines in joint space, within limits of speed and effort.

`in_time` turns the corners of a path, which a planner found (rrt.py, failed_planner.py), into a
`TimedPath`, which controllers track.

The arm stops in each corner of the path. On each line, the fraction s of the way goes from 0 to 1.
Its speed rises by a smooth step (Hermite's 3 x^2 - 2 x^3), stays constant, and falls in the same
way, so that accelerations are continuous. A line whose efforts exceed the limits is slowed down
until they do not.

The constants may be tuned; RESERVE must leave some effort to feedback.
test_packbot_planning differentiates the profile, and checks the limits between the samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.scenario import Setup

from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS

# s; shortest time in which the speed rises, and falls: accelerations are then at most 3 / s times
# the speed limits, 1.5 rad/s^2 of the shoulder; SLOWING_FACTOR prolongs it for want of effort
RAMP = 0.5
# Fraction of the effort limits that a motion may use; feedback has the rest. By choice: the rest is
# ten times the dry friction that may be unknown, 1 % of the limits (docs/packbot_failures.md).
RESERVE = 0.9
# Number of times on a line at which efforts are computed: six in a ramp of RAMP for a line of 5 s.
SAMPLES = 60
# Factor on the times of a line that needs too much effort: it then takes at most 10 % longer than
# it has to.
SLOWING_FACTOR = 1.1


@dataclass(frozen=True)
class TimedPath:
    """A path with its times.

    Args:
        corners: corners of the path (k + 1, 7) [rad].
        cruise: largest rate of s on each line (k,) [1/s].
        ramp: time in which this rate is reached (k,) [s].
    """

    corners: Array
    cruise: Array
    ramp: Array

    @cached_property
    def times(self) -> Array:
        """Times at which the corners are reached (k + 1,) [s]."""
        return np.concatenate([[0.0], np.cumsum(1.0 / self.cruise + self.ramp)])

    @property
    def duration(self) -> float:
        """Time at which the last corner is reached [s]."""
        return float(self.times[-1])

    def at(self, time: float) -> tuple[Array, Array, Array]:
        """Return angles, rates and accelerations (7,) [rad, s] at a time [s].

        After the end, the arm rests in the last corner.
        """
        times = self.times
        i = int(np.searchsorted(times, time, side="right")) - 1
        if i >= len(self.cruise):
            rest = np.zeros(self.corners.shape[1])
            return self.corners[-1], rest, rest
        line = self.corners[i + 1] - self.corners[i]
        s, rate, change = _profile(time - times[i], float(self.cruise[i]), float(self.ramp[i]))
        return self.corners[i] + s * line, rate * line, change * line


def in_time(setup: Setup, corners: Array, speed: float = 1.0) -> TimedPath:
    """Return the trajectory along a path within the speed and effort limits.

    Efforts are those of rigid bodies (RNEA) and of viscous and Coulomb friction.

    Args:
        setup: robot and scenario.
        corners: corners of the path (k + 1, 7) [rad].
        speed: fraction of the speed limits that is used.

    Raises:
        AccordError: if gravity alone needs more than the joints can give.
    """
    if not 0.0 < speed <= 1.0:
        raise AccordError(f"speed is {speed:g}, and must be above 0, up to 1")
    p, arm = setup.parameters, Arm.of(setup)
    limits = speed * p.of_joints("speed_limit")
    cruises, ramps = [], []
    for a, b in pairwise(corners):
        cruise = 1.0 / max(float((np.abs(b - a) / limits).max()), RAMP)
        ramp = RAMP
        while not _is_affordable(setup, arm, a, b, cruise, ramp):
            cruise, ramp = cruise / SLOWING_FACTOR, ramp * SLOWING_FACTOR
        cruises.append(cruise)
        ramps.append(ramp)
    return TimedPath(np.asarray(corners), np.array(cruises), np.array(ramps))


def _profile(time: float, cruise: float, ramp: float) -> tuple[float, float, float]:
    """Return s and its first two derivatives at a time [s] after a corner.

    Args:
        time: [s].
        cruise: largest rate of s [1/s].
        ramp: time in which this rate is reached [s].
    """
    duration = 1.0 / cruise + ramp
    from_end = min(time, duration - time)  # time from the nearer end [s]
    if from_end >= ramp:
        return cruise * (time - 0.5 * ramp), cruise, 0.0
    # In a ramp: the integral, the value and the derivative of the smooth step.
    x = from_end / ramp
    s = cruise * ramp * x * x * x * (1.0 - 0.5 * x)
    rate = cruise * x * x * (3.0 - 2.0 * x)
    change = cruise / ramp * 6.0 * x * (1.0 - x)
    return (s, rate, change) if time == from_end else (1.0 - s, rate, -change)


def _is_affordable(setup: Setup, arm: Arm, a: Array, b: Array, cruise: float, ramp: float) -> bool:
    """Return whether the efforts along a line from a to b (7,) [rad] are within the limits.

    Args:
        setup: robot and scenario.
        arm: its dynamics.
        a, b: ends of the line (7,) [rad].
        cruise, ramp: of the line, as in `_profile`.

    Raises:
        AccordError: if it takes too much to hold the arm still.
    """
    p = setup.parameters
    limits = RESERVE * p.of_joints("effort_limit")
    viscous, coulomb = p.of_joints("viscous"), p.of_joints("coulomb")
    no_rates, line = np.zeros(len(a)), b - a
    for time in np.linspace(0.0, 1.0 / cruise + ramp, SAMPLES):
        s, speed, change = _profile(float(time), cruise, ramp)
        q, qd = a + s * line, speed * line
        still = np.abs(arm.bias(q, no_rates)) + coulomb
        if (still > limits).any():
            i = int((still / limits).argmax())
            needed = f"holding still along the path takes {still[i]:.1f} N m of {JOINTS[i]}"
            raise AccordError(f"{needed}, but only {limits[i]:g} N m are available for it")
        effort = arm.efforts(q, qd, change * line) + viscous * qd + coulomb * np.sign(qd)
        if (np.abs(effort) > limits).any():
            return False
    return True
