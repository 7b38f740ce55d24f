"""The report's search of a gait, repeated with its errors: events act at samples of 1 ms.

The controller of the report saw the state every millisecond. So the hands changed, the motor
stopped and the gait ended at the first sample after the event, up to 1 ms late. The error as a
function of the rates then has steps everywhere, and a simplex stops on one of them: these points
are the report's minima.

SAMPLE, MATLAB_TOLERANCE and SIMPLEX_SPREAD are those of the report's search, and stay. A better
search belongs in gaits/search.py.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy
from roboaccord.contract import Array, Quantity, Seconds

from monkeybot.controllers import other_hand
from monkeybot.gaits.gait import distance, full_starts
from monkeybot.gaits.repetition import next_sample
from monkeybot.model.events import VERTICAL, level
from monkeybot.model.hybrid import LIMIT
from monkeybot.model.motion import Motion
from monkeybot.model.parameters import MonkeyBotParameters

SAMPLE = 1e-3  # s: period of the report's controller
MATLAB_TOLERANCE = 1e-4  # default TolX and TolFun of MATLAB's fminsearch
SIMPLEX_SPREAD = 1.05  # its first simplex has each rate larger by 5 % in turn
TOLERANCE = 1e-9  # of the integrator: far below MATLAB_TOLERANCE, at which the search stops


@dataclass(frozen=True)
class SampledGait:
    """A gait whose events act at samples.

    Args:
        rates: of th1 and th2 at the start (2,).
        error: `distance` of the end from the start; infinite if an event was missed.
        switch_time: until the hands change.
        motor_time: how long the motor is on.
    """

    rates: Annotated[Array, Quantity("rad/s", form=".4f")]
    error: Annotated[float, Quantity("rad^2, rad^2/s^2", form=".3g")]
    switch_time: Seconds
    motor_time: Seconds


def sampled_gait(
    parameters: MonkeyBotParameters, rates: Array, torque: float, *, sample: float = SAMPLE
) -> SampledGait:
    """Evaluate the horizontal gait, each event of which acts at the first sample after it.

    The error is infinite for a start that misses an event.
    """
    start = full_starts(rates)
    motion = Motion(parameters, start[0], tolerance=TOLERANCE)
    start_energy = sum(motion.energies)
    missed = SampledGait(np.asarray(rates), math.inf, math.nan, math.nan)
    if not motion.advance(LIMIT, until=level()):
        return missed
    motion.advance(next_sample(motion.time, sample) - motion.time)
    switch_time = motion.time
    motion.switch_to(other_hand(motion.mode))
    while sum(motion.energies) < start_energy:
        motion.advance(sample, torque)
        if motion.time - switch_time > LIMIT:
            return missed
    motor_time = motion.time - switch_time
    if not motion.advance(LIMIT, until=VERTICAL):
        return missed
    motion.advance(next_sample(motion.time, sample) - motion.time)
    error = float(distance(start[:, :4], motion.hand_state[None, :4])[0])
    return SampledGait(np.asarray(rates), error, switch_time, motor_time)


def fminsearch(parameters: MonkeyBotParameters, rates: Array, torque: float) -> SampledGait:
    """Minimise the error as the report did, by the simplex of MATLAB's fminsearch."""
    first = np.array([rates, rates, rates], dtype=float)
    first[1, 0] *= SIMPLEX_SPREAD
    first[2, 1] *= SIMPLEX_SPREAD
    tolerances = dict.fromkeys(("xatol", "fatol"), MATLAB_TOLERANCE)
    options = tolerances | {"initial_simplex": first, "maxiter": 400}

    def error(x: Array) -> float:
        """Return the error of the gait that starts with rates x (2,) [rad/s]."""
        return sampled_gait(parameters, x, torque).error

    best = scipy.optimize.minimize(error, rates, method="Nelder-Mead", options=options)
    return sampled_gait(parameters, best.x, torque)
