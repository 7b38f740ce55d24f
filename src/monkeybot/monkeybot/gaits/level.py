"""Horizontal clocked gaits of one robot over the period: the best, and how far they are stable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from roboaccord.contract.results import Quantity

from monkeybot.gaits.clocked import Setting, Step, follow, shipped_step
from monkeybot.model.parameters import MonkeyBotParameters

PERIOD_STEP = 0.00115  # of a period: 1 ms for the report's robot, as fine as its range is sampled
MOST = 80  # periods that are looked at, each way from the first
GIVE_UP = 1.6  # radius beyond which a branch is left


@dataclass(frozen=True)
class Level:
    """Hold the horizontal clocked gaits of one robot over the period.

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
        here = self.steps[inside]
        if not 0 <= outside < len(self.steps):
            return here.period
        there = self.steps[outside]
        part = (self.largest - here.radius) / (there.radius - here.radius)
        return here.period + part * (there.period - here.period)


def level_gaits(parameters: MonkeyBotParameters, step: Step, largest: float = 1.0) -> Level:
    """Return the horizontal gaits of a robot, followed over the period both ways from one.

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
    """Return the gaits one way along the period, until far from stability."""
    steps: list[Step] = []
    at = step
    for k in range(1, MOST + 1):
        period = step.period + k * by
        here = at

        def course(part: float, here: Step = here, period: float = period) -> Setting:
            return Setting(parameters, here.period + part * (period - here.period))

        found = follow(here, course, 1)
        if found is None or found.radius > max(GIVE_UP, step.radius + 0.1):
            break
        steps.append(found)
        at = found
    return steps
