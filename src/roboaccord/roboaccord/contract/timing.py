"""Whole numbers of steps, and times of control ticks."""

from __future__ import annotations

import math

from roboaccord.contract.errors import AccordError

NANOSECONDS = 1_000_000_000
MOST = 1_000_000_000  # steps: at 1 ms more than eleven days


def count_steps(duration: float, step: float, what: str) -> int:
    """Return how many times `step` fits in `duration`.

    Raises:
        AccordError: if it does not fit a whole number of times, at least once.
    """
    if not (math.isfinite(duration) and step > 0 and duration <= MOST * step):
        raise AccordError(f"{what}: {duration:g} s over {step:g} s is no number of steps")
    count = round(duration / step)
    if count < 1 or abs(count * step - duration) > 1e-9 * max(duration, step):
        raise AccordError(f"{what}: {duration:g} s is no whole multiple of {step:g} s")
    return count


def tick_time(tick: int, period_ns: int) -> float:
    """Return the time of a control tick [s], exactly as a ROS time stamp gives it back."""
    return tick * period_ns / NANOSECONDS
