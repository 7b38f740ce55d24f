"""One error-controlled step of Dormand and Prince's 5(4), with dense output.

Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.4 to II.6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from roboaccord.contract.state import Array

Slope = Callable[[Array], Array]

NODES = (
    np.array([1 / 5]),
    np.array([3 / 40, 9 / 40]),
    np.array([44 / 45, -56 / 15, 32 / 9]),
    np.array([19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729]),
    np.array([9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]),
    np.array([35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]),
)
ERROR = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
DENSE = np.array(
    [
        -12715105075 / 11282082432, 0, 87487479700 / 32700410799, -10690763975 / 1880347072,
        701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423,
    ]
)  # fmt: skip
SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0


@dataclass(frozen=True)
class Step:
    """Hold one step.

    Args:
        start, end: states (n,).
        slopes: at the stages (7, n); the last is that of the end.
        size: [s].
        error: estimated, over what is tolerated: a step above 1 is to be refused.
    """

    start: Array
    end: Array
    slopes: Array
    size: float
    error: float

    def at(self, part: float) -> Array:
        """Return the state (n,) at a part, 0 to 1, of the step."""
        rest = 1.0 - part
        change = self.end - self.start
        bend = self.size * self.slopes[0] - change
        tail = change - self.size * self.slopes[6] - bend
        high = self.size * (DENSE @ self.slopes)
        return np.asarray(
            self.start + part * (change + rest * (bend + part * (tail + rest * high)))
        )

    @property
    def next_size(self) -> float:
        """The step to go on with, or to try again with [s]."""
        if not np.isfinite(self.error):
            return SHRINK * self.size
        factor: float = SAFETY * max(self.error, 1e-10) ** -0.2
        return self.size * min(GROW, max(SHRINK, factor))


def take_step(slope: Slope, start: Array, first: Array, size: float, tolerance: float) -> Step:
    """Take a step.

    Args:
        slope: gives the slope (n,) of a state (n,).
        start: state (n,).
        first: its slope.
        size: [s].
        tolerance: of each step, relative and absolute.
    """
    slopes = np.empty((7, len(start)))
    slopes[0] = first
    end = start
    for i, weights in enumerate(NODES, start=1):
        end = start + size * (weights @ slopes[:i])
        slopes[i] = slope(end)
    scale = tolerance * (1.0 + np.maximum(np.abs(start), np.abs(end)))
    error = size * (ERROR @ slopes) / scale
    return Step(start, end, slopes, size, float(np.sqrt(error @ error / len(error))))
