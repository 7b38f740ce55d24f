"""One time step with stiff friction, by the linearly implicit method ROS34PW2.

Dry friction k that falls to 0 below a rate e acts, near rest, like a damper of k / e. A light link
then relaxes in microseconds, too fast for explicit steps. The method ROS34PW2 (Rang and Angermann,
BIT 45, 2005) is a W-method: it is of order 3 for any matrix in place of the Jacobian, and L-stable
if the matrix contains the stiff part. The derivative of friction alone is therefore enough.

The coefficients are published ones and must stay; test_packbot_reference measures order 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import Slope, Step

# Coefficients of Rang and Angermann (2005), table of ROS34PW2.
GAMMA = 0.435866521508459  # on the diagonal, for L-stability
ALPHA = (  # weights of the stages in the states of the later ones
    np.array([0.87173304301691801]),
    np.array([0.84457060015369423, -0.11299064236484185]),
    np.array([0.0, 0.0, 1.0]),
)
COUPLING = (  # weights of the stages in the terms with the Jacobian
    np.array([-0.87173304301691801]),
    np.array([-0.90338057013044082, 0.054180672388095326]),
    np.array([0.24212380706095346, -1.2232505839045147, 0.54526025533510214]),
)
# Weights of the stages at the end of the step, and in the embedded method of order 2.
WEIGHTS = np.array([0.24212380706095346, -1.2232505839045147, 1.545260255335102, GAMMA])
EMBEDDED = np.array([0.37810903145819369, -0.096042292212423178, 0.5, 0.2179332607542295])


@dataclass(frozen=True)
class StiffStep(Step):
    """Linearly implicit step, with Hermite's cubic as dense output."""

    growth = 3.0  # of the step size, at most: the order

    def at(self, fraction: float) -> Array:
        """Return the state (n,) at a fraction, 0 to 1, of the step."""
        late, change = 1.0 - fraction, self.end - self.start
        bend = self.size * self.slopes[0] - change
        tail = change - self.size * self.slopes[-1]
        return np.asarray(self.start + fraction * (change + late * (late * bend + fraction * tail)))


def take_stiff_step(
    slope: Slope, start: Array, first: Array, jacobian: Array, size: float, tolerance: float
) -> StiffStep:
    """Take a linearly implicit step.

    Args:
        slope: function that returns the slope (n,) of a state (n,).
        start: state at the start (n,).
        first: its slope (n,).
        jacobian: stiff part of the derivative of the slope (n, n).
        size: length of the step [s].
        tolerance: bound of the error of a step, relative and absolute.
    """
    inverse = np.linalg.inv(np.eye(len(start)) - GAMMA * size * jacobian)
    stages = np.empty((4, len(start)))
    stages[0] = inverse @ first
    for i, (weights, coupling) in enumerate(zip(ALPHA, COUPLING, strict=True), start=1):
        f = slope(start + size * (weights @ stages[:i]))
        stages[i] = inverse @ (f + size * (jacobian @ (coupling @ stages[:i])))
    end = start + size * (WEIGHTS @ stages)
    slopes = np.vstack([first, stages, slope(end)])
    scale = tolerance * (1.0 + np.maximum(np.abs(start), np.abs(end)))
    error = size * ((WEIGHTS - EMBEDDED) @ stages) / scale
    return StiffStep(start, end, slopes, size, float(np.sqrt(error @ error / len(error))))
