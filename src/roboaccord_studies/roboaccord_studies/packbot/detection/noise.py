"""Online estimate of the noise of measured angles and rates.

The detector of failed joints (detector.py) weighs measurements by their noise. `Noise` takes
measured states one by one. The second difference x1 - 2 x2 + x3 of a smooth motion is small, while
that of white noise has six times the variance of the noise; hence the estimate. The median over the
joints leaves out joints that are jerked.

If the rates are differences of angles over the control period T, the encoders measure in counts.
Each angle is then wrong by up to half a count s, uniformly, and a rate has the standard deviation s
/ (T sqrt(6)).

SETTLING_TIME, NOISE_FLOOR, ADAPTATION_TIME and FINEST_COUNT may be tuned. test_counts checks the
noise of encoders in counts, and that too coarse ones are refused.
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
from roboaccord.contract import AccordError, Array

# s; the unknowns of an arm are estimated after this time, three times ADAPTATION_TIME
SETTLING_TIME = 1.5
# rad, rad/s; lower bounds of the estimated standard deviations of angles and rates: a tenth and a
# twentieth of the noise that `Uncertainty` has by default.
NOISE_FLOOR = (1e-4, 5e-4)
# s; time constant of the estimate: 50 ticks, of which a mean square of second differences is known
# to some 20 % (sqrt(1.94 / 50)), for a joint.
# 0.25 and 1 report the same of the 12 failures of bank.FROZEN_NOISE.
ADAPTATION_TIME = 0.5
FINEST_COUNT = 1e-8  # rad; smaller counts, of more than 6e8 a turn, are rounding of numbers
# rad; rounding errors of multiples of a count: angles of some rad have 1e-15, texts of logs 1e-9.
ROUND_OFF = 1e-9
CHI2_MEDIAN = 0.455  # median of chi^2 with one degree of freedom
SECOND_DIFFERENCE = 6.0  # variance of x1 - 2 x2 + x3 over that of independent x: 1 + 4 + 1


class Noise:
    """Estimate of the noise of angles and rates, by second differences in time.

    Args:
        first: initial standard deviations [rad, rad/s].
        slowest: speed limit of the slowest joint [rad/s]; the noise of rates by counts must be
            smaller.

    Attributes:
        count: largest step of which all motions so far are multiples [rad]; 0 if there is none, or
            if rates are not differences of the angles.
    """

    def __init__(self, first: tuple[float, float], slowest: float = np.inf) -> None:
        self._first, self._slowest = np.array(first), slowest
        self.reset()

    def reset(self) -> None:
        """Return to the initial standard deviations."""
        self._variance = self._first**2  # of angles and rates (2,)
        self._recent: list[Array] = []  # angles and rates (2, 7) of the last three states
        self._may_be_counted = True  # whether all states so far may be in counts
        self._time, self.count = 0.0, 0.0  # [s, rad]; the time is since the first state

    def update(self, q: Array, qd: Array, period: float) -> Array:
        """Process a measured state, and return the standard deviations (2,) [rad, rad/s].

        Args:
            q, qd: measured angles [rad] and rates [rad/s] (7,).
            period: time since the last state [s].

        Raises:
            AccordError: after `SETTLING_TIME`, for encoders with too few counts a turn.
        """
        previous_q = self._recent[-1][0] if self._recent else q
        self._recent = [*self._recent[-2:], np.array([q, qd])]
        self._time += period
        if len(self._recent) == 3:
            a, b, c = self._recent
            # Of the joints the median, over the median of what white noise of variance 1 has.
            squares = np.median((a - 2.0 * b + c) ** 2, axis=1) / (SECOND_DIFFERENCE * CHI2_MEDIAN)
            self._variance += (period / ADAPTATION_TIME) * (squares - self._variance)
        if self._may_be_counted:
            self._add_motion(q - previous_q, period * qd)
        # Standard deviations by counts, which are uniform errors.
        counts = self.count * np.array([12.0**-0.5, 6.0**-0.5 / (period or np.inf)])
        if self._time > SETTLING_TIME and counts[1] > self._slowest:
            turn = 2.0 * np.pi / self.count
            needed = f"{np.ceil(turn * counts[1] / self._slowest):.0f} are needed"
            raise AccordError(f"rates by differences of {turn:.0f} counts a turn: {needed}")
        return np.asarray(np.maximum(np.maximum(np.sqrt(self._variance), NOISE_FLOOR), counts))

    def _add_motion(self, motion: Array, by_rates: Array) -> None:
        """Update the count, the greatest common divisor of all motions so far.

        Args:
            motion: change of the angles since the last state (7,) [rad].
            by_rates: the same by the measured rates (7,) [rad].
        """
        self.count = reduce(_common_divisor, np.abs(motion).tolist(), self.count)
        are_differences = np.allclose(motion, by_rates, rtol=1e-6, atol=1e-12)
        self._may_be_counted = are_differences and not 0.0 < self.count < FINEST_COUNT
        self.count = self.count if self._may_be_counted else 0.0


def _common_divisor(a: float, b: float) -> float:
    """Return the greatest common divisor of two numbers, within round-off [Euclid]."""
    while b > ROUND_OFF:
        a, b = b, abs(math.remainder(a, b))
    return a
