"""Errors of one control period of a recorded run, and their sums over a run.

period_reference.py compares a control period with the reference (the analytical model) and with the
engine's twin (the same equations under the engine's integration scheme), and returns
`PeriodErrors`. step_check.py adds them to `ErrorSums`, one period after the other, and reads root
mean squares of the joints and of the base from them.

A rate is the velocity of a joint or a component of the base's angular velocity. Arrays over rates
have m = n + 3 entries: those of the n joints, then the three of the base.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.crosscheck.extrapolation import SAFETY

BASE_RATES = slice(-3, None)  # rates of the base, after those of the joints


class RateErrors(NamedTuple):
    """Errors and changes of rates in a control period (m,), or their root mean squares [rad/s].

    Args:
        error: of the reference's prediction.
        beyond_twin: error that remains when the twin's is subtracted, where that is known.
        change: of the rates, in the reference.
        recorded_change: of the rates, in the run.
        euler: error of a forward Euler step, by which time stepping may explain an error.
        friction: effect of friction on the rates.
    """

    error: Array
    beyond_twin: Array
    change: Array
    recorded_change: Array
    euler: Array
    friction: Array

    def explained(self, pyramid: float) -> Array:
        """Return the part of `beyond_twin` that time stepping and the engine's friction explain.

        Args:
            pyramid: share of the friction force that the engine's friction pyramid explains.
        """
        return SAFETY * self.euler + pyramid * self.friction


class PeriodErrors(NamedTuple):
    """Comparison of one control period of a robot with n joints.

    Args:
        before, after, command: recorded states, and the command between them.
        rates: errors of the rates.
        position: error of the joints' positions (n,) [rad or m].
        from_twin: difference from the twin, in the columns of columns.py (2 n + 12,); None where it
            is not known.
    """

    before: RobotState
    after: RobotState
    command: Command
    rates: RateErrors
    position: Array
    from_twin: Array | None


class ErrorSums:
    """Sums of squares of the errors of control periods.

    Args:
        n: number of joints.

    Attributes:
        periods: number of periods that were added.
        largest: largest error of a judged rate: of the joints, or of the base where there are none
            [rad/s].
    """

    def __init__(self, n: int) -> None:
        self.periods = 0
        self.largest = 0.0
        self._judged_rates = slice(n or 3)
        self._squares = np.zeros((len(RateErrors._fields), n + 3))  # by error and rate

    def add(self, errors: RateErrors) -> None:
        """Add the errors of a period."""
        self.periods += 1
        self._squares += np.square(errors)
        judged = np.abs(errors.error[self._judged_rates])
        self.largest = max(self.largest, float(judged.max()))

    def rms_by_group(self) -> RateErrors:
        """Return root mean squares over periods and rates (2,): judged rates, rates of the base."""
        groups = [self._squares[:, columns] for columns in (self._judged_rates, BASE_RATES)]
        means = [group.sum(axis=1) / (max(self.periods, 1) * group.shape[1]) for group in groups]
        return RateErrors(*np.sqrt(means).T)

    def root_sum_squares(self) -> RateErrors:
        """Return root sums of squares over the periods, by rate (m,)."""
        return RateErrors(*np.sqrt(self._squares))
