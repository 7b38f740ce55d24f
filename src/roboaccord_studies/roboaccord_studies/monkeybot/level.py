"""Horizontal clocked gaits of one robot: which periods are stable, and which is the best?

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. In a clocked gait the torque is constant and hands
change by the clock. For each period there is a torque with which the robot keeps its height.
`level_gaits` follows such a gait to longer and to shorter periods. `Level` finds the most stable of
them and the range of stable periods around it: stable is a gait whose spectral radius, the size of
its largest Floquet multiplier, is below 1. `clocked_gait` follows the shipped gait to a given
period, to the last digit.

PERIOD_STEP, MOST_PERIODS, MAX_RADIUS and ORBIT_STEP may be tuned; finer steps take longer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract import AccordError, Quantity

from roboaccord_studies.monkeybot.clocked import Setting, Step, follow_to, shipped_step
from roboaccord_studies.monkeybot.kinds import CLOCKED
from roboaccord_studies.monkeybot.orbits import Orbit, find_orbit, shipped_gait

PERIOD_STEP = 0.00115  # step between periods, relative to the first: 1 ms for the report's robot
# Largest number of periods in each direction from the first: 9 % to either side, beyond all stable
# ranges (cli/design.CUTS).
MOST_PERIODS = 80
# Spectral radius beyond which a family is not followed farther. Any from 1.2 to 2 would do: it
# bounds the time. From a gait that is as unstable itself, it is followed up to RADIUS_RISE more.
MAX_RADIUS, RADIUS_RISE = 1.6, 0.1
# s: step of the period in `clocked_gait`, small enough for Newton's method: from 0.001 to 0.016 the
# gaits at 0.89, 0.9535 and 0.97 s are the same.
ORBIT_STEP = 0.002

Width = Annotated[float, Quantity("1", "of the stable periods", form=".2f", shown="%")]


@dataclass(frozen=True)
class Level:
    """The horizontal clocked gaits of one robot over the period.

    Args:
        steps: the gaits, in order of rising period.
        largest: spectral radius up to which a gait counts as stable, at most 1.
    """

    steps: tuple[Step, ...]
    largest: float = 1.0

    @property
    def best(self) -> Step:
        """The gait with the smallest spectral radius."""
        return min(self.steps, key=lambda step: step.radius)

    @property
    def stable(self) -> Annotated[tuple[float, float], Quantity("s", form=".4f")]:
        """Shortest and longest period of the stable gaits around the best; NaN without any.

        All gaits in between have a spectral radius below `largest`.
        """
        radii, largest = [step.radius for step in self.steps], self.largest
        if min(radii) >= largest:
            return math.nan, math.nan
        low = high = int(np.argmin(radii))
        while low > 0 and radii[low - 1] < largest:
            low -= 1
        while high < len(radii) - 1 and radii[high + 1] < largest:
            high += 1
        return self._edge(low, low - 1), self._edge(high, high + 1)

    @property
    def width(self) -> Width:
        """Width of the range of stable periods over its middle; 0 without any."""
        low, high = self.stable
        return 0.0 if math.isnan(low) else 2.0 * (high - low) / (high + low)

    def _edge(self, inside: int, outside: int) -> float:
        """Return the period between two gaits at which the spectral radius is `largest` [s].

        By linear interpolation; if there is no gait outside, that of the last gait.

        Args:
            inside, outside: indices of the last stable gait and of its neighbour.
        """
        stable = self.steps[inside]
        if not 0 <= outside < len(self.steps):
            return stable.period
        unstable = self.steps[outside]
        share = (self.largest - stable.radius) / (unstable.radius - stable.radius)
        return stable.period + share * (unstable.period - stable.period)


def level_gaits(parameters: MonkeyBotParameters, step: Step, largest: float = 1.0) -> Level:
    """Return the horizontal gaits of a robot, followed from one to longer and shorter periods.

    Args:
        parameters: of the robot.
        step: a horizontal gait of the robot.
        largest: spectral radius up to which a gait counts as stable.
    """
    down = _follow_periods(parameters, step, -PERIOD_STEP * step.period)
    up = _follow_periods(parameters, step, PERIOD_STEP * step.period)
    return Level((*reversed(down), step, *up), largest)


def shipped_level(parameters: MonkeyBotParameters, largest: float = 1.0) -> Level:
    """Return the horizontal gaits around the shipped one; stable are radii below `largest`."""
    return level_gaits(parameters, shipped_step(parameters), largest)


def _follow_periods(parameters: MonkeyBotParameters, step: Step, period_step: float) -> list[Step]:
    """Return the gaits in one direction along the period, in steps of `period_step` [s].

    It ends if a gait cannot be followed, or is far from stable.
    """
    steps: list[Step] = []
    last = step
    for k in range(1, MOST_PERIODS + 1):
        next_step = follow_to(last, Setting(parameters, step.period + k * period_step))
        if next_step is None or next_step.radius > max(MAX_RADIUS, step.radius + RADIUS_RISE):
            break
        steps.append(next_step)
        last = next_step
    return steps


def clocked_gait(parameters: MonkeyBotParameters, period: float) -> Orbit:
    """Return the horizontal clocked gait with a given period [s].

    It is followed from the period of the shipped gait to this one.

    Raises:
        AccordError: if the family ends before.
    """
    if not (math.isfinite(period) and 0.5 <= period <= 1.5):
        raise AccordError(f"period is {period:g} s, and must be between 0.5 and 1.5 s")
    orbit = shipped_gait("clocked", parameters)
    previous = None
    start = orbit.controls["period"]
    count = math.ceil(abs(period - start) / ORBIT_STEP)
    for next_period in np.linspace(start, period, 1 + count)[1:].tolist():
        torque, guess = orbit.controls["torque"], orbit.start
        if previous is not None:  # both are extrapolated
            torque += torque - previous.controls["torque"]
            guess = 2.0 * guess - previous.start
        try:
            controls = {"period": next_period, "torque": torque}
            next_orbit = find_orbit(CLOCKED, parameters, controls, guess)
        except AccordError:
            raise AccordError(
                f"the branch of horizontal clocked gaits was followed to a period of "
                f"{orbit.period:.4g} s, not to {period:g} s"
            ) from None
        previous, orbit = orbit, next_orbit
    return orbit
