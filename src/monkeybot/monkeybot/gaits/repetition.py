"""Open-loop repetition of the report's gait: does it stay near its start without feedback?

One evaluation of the gait with events gives the times at which hands change and the motor stops.
Then the gait is repeated with magnets and motor at these times, rounded to the samples of a
controller, whatever the state is. The error of each gait is measured when the held link hangs
straight down again. The clock either starts again there, or runs on (figures 5 to 8 of the report).

`repeat` is the report's method and stays; so do the fields of Repetition, for `accord monkeybot
gait` prints them as JSON keys.
"""

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

CLOCKS = ("reset", "pure")  # values of `clock` in `repeat`


@dataclass(frozen=True)
class Repetition:
    """Results of n gaits; NaN for a gait in which the held link never hung straight down.

    Args:
        error: `distance` of the end of each gait from the first start (n,).
        kinetic_energy: at the end of each gait (n,) [J].
        height: of the hand that gripped in each gait, above the first hand (n,) [m].
    """

    error: Array
    kinetic_energy: Array
    height: Array


def repeat(
    parameters: MonkeyBotParameters,
    rates: Array,
    torque: float,
    *,
    steps: int,
    sample: float = 0.001,
    clock: str = "reset",
    times: tuple[float, float] | None = None,
) -> Repetition:
    """Repeat the report's gait open-loop, by the times of its state-triggered evaluation.

    Args:
        parameters: of the robot.
        rates: at th1 = th2 = 0 (2,) [rad/s].
        torque: of the motor [N m].
        steps: number of gaits.
        sample: period of the controller, to which all times are rounded [s]; 0: not rounded.
        clock: `reset`: the clock starts again at the first sample at which the held link has passed
            the vertical; `pure`: it runs on.
        times: time until the hands change and time of the motor [s], instead of the evaluation's.

    Raises:
        AccordError: for a start that misses an event, or values outside their ranges.
    """
    if steps < 1 or sample < 0 or clock not in CLOCKS:
        raise AccordError("steps must be positive, sample not negative, clock reset or pure")
    evaluated = evaluate(horizontal(torque), parameters, rates, tolerance=FINE)
    if not np.isfinite(evaluated.error[0]):
        raise AccordError(missed(rates))
    switch, motor = times or (float(evaluated.switch_time[0]), float(evaluated.motor_time[0]))
    period = float(evaluated.times[0].sum())
    start = full_starts(rates)
    motion = Motion(parameters, start[0])
    error, kinetic, height = np.full((3, steps), np.nan)
    due = to_sample(switch, sample)  # s: time of the next change of hands
    for i in range(steps):
        # Swing, change hands, motor; then coast until the held link hangs straight down.
        motion.advance(due - motion.time)
        motion.switch_to(other_hand(motion.mode))
        height[i] = motion.hand_state[5]  # y of the hand that has gripped
        motion.advance(to_sample(motor, sample), torque)
        latest = to_sample((i + 1) * period + switch, sample) if clock == "pure" else LIMIT + due
        if motion.advance(latest - motion.time, until=VERTICAL):
            error[i] = distance(start[:, :4], motion.hand_state[None, :4])[0]
            kinetic[i] = motion.energies[0]
        elif clock == "reset":
            break
        restart = next_sample(motion.time, sample) + to_sample(switch, sample)
        due = latest if clock == "pure" else restart
    return Repetition(error, kinetic, height)


def to_sample(time: float, sample: float) -> float:
    """Return a time rounded to a whole number of samples [s]; `sample` as in `repeat`."""
    return round(time / sample) * sample if sample else time


def next_sample(time: float, sample: float) -> float:
    """Return the first sample at a time or after it, to round-off [s]; `sample` as in `repeat`."""
    return math.ceil(time / sample - 1e-9) * sample if sample else time
