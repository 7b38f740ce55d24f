"""Open-loop repetition of the report's gait, by the times of its state-triggered evaluation.

The magnets and the motor act at times that are rounded to samples of a controller, whatever the
state is then. A gait is judged where the held link hangs straight down again. The clock either
starts again there, or runs on (figures 5 to 8 of the report).

`repeat` is the report's method and stays; so do the fields of Repetition, JSON keys of
`accord monkeybot gait`. test_gaits tests the report's numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from roboaccord.contract import AccordError, Array

from monkeybot.controllers import other_hand
from monkeybot.gaits.gait import distance, evaluate, full_starts, horizontal
from monkeybot.gaits.search import FINE, missed
from monkeybot.model.events import VERTICAL
from monkeybot.model.hybrid import LIMIT
from monkeybot.model.motion import Motion
from monkeybot.model.parameters import MonkeyBotParameters

CLOCKS = ("reset", "pure")


@dataclass(frozen=True)
class Repetition:
    """Results of n gaits; NaN from the gait on that never hung straight down.

    Args:
        error: of each gait, from the first start (n,).
        kinetic_energy: where the held link hangs straight down, at its end (n,) [J].
        height: of the hand that gripped, over the first one (n,) [m].
    """

    error: Array
    kinetic_energy: Array
    height: Array


def repeat(
    parameters: MonkeyBotParameters, rates: Array, torque: float, *, steps: int,
    sample: float = 0.001, clock: str = "reset", times: tuple[float, float] | None = None,
) -> Repetition:  # fmt: skip
    """Repeat the report's gait open-loop, by the times of its state-triggered evaluation.

    Args:
        parameters: of the robot.
        rates: at th1 = th2 = 0 (2,) [rad/s].
        torque: of the motor [N m].
        steps: number of gaits.
        sample: period of the controller, to which all times are rounded [s]; 0 rounds nothing.
        clock: `reset`: it starts again at the first sample at which the held link has passed the
            vertical; `pure`: it never does.
        times: until the hands change and of the motor [s], in place of those of the evaluation.

    Raises:
        AccordError: for a start that misses an event, or numbers that make no sense.
    """
    if steps < 1 or sample < 0 or clock not in CLOCKS:
        raise AccordError("steps must be positive, sample not negative, clock reset or pure")
    once = evaluate(horizontal(torque), parameters, rates, tolerance=FINE)
    if not np.isfinite(once.error[0]):
        raise AccordError(missed(rates))
    switch, motor = times or (float(once.switch_time[0]), float(once.motor_time[0]))
    period = float(once.times[0].sum())
    start = full_starts(rates)
    motion = Motion(parameters, start[0])
    error, kinetic, height = np.full((3, steps), np.nan)
    due = to_sample(switch, sample)  # when the hands change next
    for i in range(steps):
        motion.advance(due - motion.time)
        motion.hold(other_hand(motion.mode))
        height[i] = motion.held[5]
        motion.advance(to_sample(motor, sample), torque)
        latest = to_sample((i + 1) * period + switch, sample) if clock == "pure" else LIMIT + due
        if not motion.advance(latest - motion.time, until=VERTICAL):
            if clock == "reset":
                break
        else:
            error[i] = distance(start[:, :4], motion.held[None, :4])[0]
            kinetic[i] = motion.energies[0]
        restart = next_sample(motion.time, sample) + to_sample(switch, sample)
        due = latest if clock == "pure" else restart
    return Repetition(error, kinetic, height)


def to_sample(time: float, sample: float) -> float:
    """Return a time rounded to a whole number of samples."""
    return round(time / sample) * sample if sample else time


def next_sample(time: float, sample: float) -> float:
    """Return the first sample at a time or after it."""
    return math.ceil(time / sample - 1e-9) * sample if sample else time
