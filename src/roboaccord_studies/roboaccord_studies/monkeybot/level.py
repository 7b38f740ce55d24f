"""Horizontal clocked gaits over the period: the best, and how far they are stable.

`level_gaits` follows a gait to longer and to shorter periods, its torque being the one that keeps
the height; `Level` knows the best of them and the range of stable periods about it. `clocked_gait`
follows the shipped gait to a given period, to the last digit.

PERIOD_STEP, MOST_PERIODS, GIVE_UP and ORBIT_STEP may be tuned: finer is slower. The range of the
report's robot must stay (test_stability_maps). `stable` and `width` are printed and drawn by
`stability` and `design`.
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

PERIOD_STEP = 0.00115  # of a period: 1 ms for the report's robot, as fine as its range is sampled
MOST_PERIODS = 80  # that are tried in each direction from the first
GIVE_UP = 1.6  # radius beyond which a branch is left
ORBIT_STEP = 0.002  # s: of the period along a branch, small enough for Newton's method to follow


@dataclass(frozen=True)
class Level:
    """The horizontal clocked gaits of one robot over the period.

    Args:
        steps: the gaits, by rising period.
        largest: spectral radius up to which they count as stable, at most 1.
    """

    steps: tuple[Step, ...]
    largest: float = 1.0

    @property
    def best(self) -> Step:
        """The gait with the smallest spectral radius."""
        return min(self.steps, key=lambda step: step.radius)

    @property
    def stable(self) -> Annotated[tuple[float, float], Quantity("s", form=".4f")]:
        """First and last period of the stable gaits about the best; NaN without any.

        None between them has a spectral radius beyond `largest`.
        """
        radii, largest = [step.radius for step in self.steps], self.largest
        if min(radii) >= largest:
            return math.nan, math.nan
        at = int(np.argmin(radii))
        low = high = at
        while low > 0 and radii[low - 1] < largest:
            low -= 1
        while high < len(radii) - 1 and radii[high + 1] < largest:
            high += 1
        return self._edge(low, low - 1), self._edge(high, high + 1)

    @property
    def width(
        self,
    ) -> Annotated[float, Quantity("1", "of the stable periods", form=".2f", shown="%")]:
        """Range of stable periods over their middle; 0 without any."""
        low, high = self.stable
        return 0.0 if math.isnan(low) else 2.0 * (high - low) / (high + low)

    def _edge(self, inside: int, outside: int) -> float:
        """Return the period between two gaits where the radius is `largest`, or of the last one."""
        stable = self.steps[inside]
        if not 0 <= outside < len(self.steps):
            return stable.period
        unstable = self.steps[outside]
        share = (self.largest - stable.radius) / (unstable.radius - stable.radius)
        return stable.period + share * (unstable.period - stable.period)


def level_gaits(parameters: MonkeyBotParameters, step: Step, largest: float = 1.0) -> Level:
    """Return the horizontal gaits of a robot, continued from one to longer and shorter periods.

    Args:
        parameters: of the robot.
        step: a gait of it.
        largest: spectral radius up to which they count as stable.
    """
    down, up = (_walk(parameters, step, sign * PERIOD_STEP * step.period) for sign in (-1, 1))
    return Level((*reversed(down), step, *up), largest)


def shipped_level(parameters: MonkeyBotParameters, largest: float = 1.0) -> Level:
    """Return the horizontal gaits about the shipped one; arguments as of `level_gaits`."""
    return level_gaits(parameters, shipped_step(parameters), largest)


def _walk(parameters: MonkeyBotParameters, step: Step, by: float) -> list[Step]:
    """Return the gaits in one direction along the period, until far from stability."""
    steps: list[Step] = []
    last = step
    for k in range(1, MOST_PERIODS + 1):
        next_step = follow_to(last, Setting(parameters, step.period + k * by))
        if next_step is None or next_step.radius > max(GIVE_UP, step.radius + 0.1):
            break
        steps.append(next_step)
        last = next_step
    return steps


def clocked_gait(parameters: MonkeyBotParameters, period: float) -> Orbit:
    """Return the horizontal gait of constant torque with a period [s].

    It is followed from the shipped one's period to this one.

    Raises:
        AccordError: where the branch ends before.
    """
    if not (math.isfinite(period) and 0.5 <= period <= 1.5):
        raise AccordError(f"period is {period:g} s, and must be between 0.5 and 1.5 s")
    orbit = shipped_gait("clocked", parameters)
    before = None
    start = orbit.controls["period"]
    for at in np.linspace(start, period, 1 + math.ceil(abs(period - start) / ORBIT_STEP))[1:]:
        torque, guess = orbit.controls["torque"], orbit.start
        if before is not None:
            torque += torque - before.controls["torque"]
            guess = 2.0 * guess - before.start
        try:
            closed = find_orbit(CLOCKED, parameters, {"period": float(at), "torque": torque}, guess)
        except AccordError:
            raise AccordError(
                f"the branch of horizontal clocked gaits was followed to a period of "
                f"{orbit.period:.4g} s, not to {period:g} s"
            ) from None
        before, orbit = orbit, closed
    return orbit
