"""Runge-Kutta methods for y' = f(y): the classical one of order 4, and Dormand and Prince's.

Dormand and Prince's method is of order 5. It estimates its error, from which the next step size
follows, and has dense output: the state at any time within a step. It is implemented twice, by the
same formulas: `take_step` returns a `Step` for a Python function f, and the kernels `fill_stage`,
`step_error`, `next_size`, `dense_rows` and `dense_state` are called by compiled integrators, which
evaluate f themselves. The classical method is `rk4_step`, or `rk4_stage` for kernels. References of
the robots use all of them.

Coefficients are those of Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.4
to II.6 (test_numerics checks sums and orders). SAFETY, SHRINK and GROW may be tuned: with other
values the error still stays within every tolerance, but the time of computation and the hashes of
reference runs change.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from roboaccord.numerics.arrays import Array
from roboaccord.numerics.jit import kernel

# Function that returns the derivative by time of a state.
Slope = Callable[[Array], Array]

# Coefficients of Dormand and Prince's method: A of the stages, B of the end of the step, E of the
# error, D of dense output. The numbers in the names are those of stage and slope, as in the book.
A21 = 1 / 5
A31, A32 = 3 / 40, 9 / 40
A41, A42, A43 = 44 / 45, -56 / 15, 32 / 9
A51, A52, A53, A54 = 19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729
A61, A62, A63, A64, A65 = 9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656
B1, B3, B4, B5, B6 = 35 / 384, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84
E1, E3, E4, E5, E6, E7 = 71 / 57600, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40
D1, D3, D4 = -12715105075 / 11282082432, 87487479700 / 32700410799, -10690763975 / 1880347072
D5, D6, D7 = 701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423

# The same as arrays, for `take_step`: weights of the slopes for each stage, error and dense output.
STAGES = [np.array(row) for row in (
    [A21], [A31, A32], [A41, A42, A43], [A51, A52, A53, A54], [A61, A62, A63, A64, A65],
    [B1, 0, B3, B4, B5, B6],
)]  # fmt: skip
ERROR = np.array([E1, 0, E3, E4, E5, E6, E7])
DENSE = np.array([D1, 0, D3, D4, D5, D6, D7])
# Factors on the step size [Hairer et al., II.4]: safety margin, smallest and largest change.
SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0
# Smallest error, relative to the tolerance, from which a step size is computed, so that it is never
# 0. Any value below 2e-4 would do, because GROW limits the step size there.
LEAST_ERROR = 1e-10


@dataclass(frozen=True)
class Step:
    """One step of Dormand and Prince's method.

    Args:
        start, end: states (n,).
        slopes: at the stages (7, n); the last is that at the end.
        size: [s].
        error: estimated error divided by the tolerance; a step with more than 1 must be repeated.
    """

    start: Array
    end: Array
    slopes: Array
    size: float
    error: float
    growth: ClassVar = 5.0  # the error grows with this power of the size

    def at(self, fraction: float) -> Array:
        """Return the state (n,) at a fraction, 0 to 1, of the step [Hairer et al., II.6]."""
        # Polynomial of degree 4 that agrees with states and slopes at both ends.
        remaining = 1.0 - fraction
        change = self.end - self.start
        bend = self.size * self.slopes[0] - change
        tail = change - self.size * self.slopes[6] - bend
        quartic = self.size * (DENSE @ self.slopes)
        cubic = tail + remaining * quartic
        quadratic = bend + fraction * cubic
        return np.asarray(self.start + fraction * (change + remaining * quadratic))

    @property
    def next_size(self) -> float:
        """Size of the next step, or of this one if it must be repeated [s]."""
        if not np.isfinite(self.error):
            return SHRINK * self.size
        factor: float = SAFETY * max(self.error, LEAST_ERROR) ** (-1.0 / self.growth)
        return self.size * min(GROW, max(SHRINK, factor))


def take_step(slope: Slope, start: Array, first: Array, size: float, tolerance: float) -> Step:
    """Take a step of Dormand and Prince's method.

    Args:
        slope: returns the derivative (n,) of a state (n,).
        start: state (n,).
        first: derivative at the start (n,).
        size: [s].
        tolerance: for the error of the step, relative and absolute.
    """
    slopes = np.empty((7, len(start)))
    slopes[0] = first
    end = start
    for i, weights in enumerate(STAGES, start=1):
        end = start + size * (weights @ slopes[:i])
        slopes[i] = slope(end)
    scale = tolerance * (1.0 + np.maximum(np.abs(start), np.abs(end)))
    error = size * (ERROR @ slopes) / scale
    return Step(start, end, slopes, size, float(np.sqrt(error @ error / len(error))))


@kernel
def fill_stage(stage, u, n, h, k, new):
    """Fill `new` with the state of a stage of a step.

    The caller takes a step of y' = f(y) by

        (fill k[0] with f at u)
        for stage in range(1, 7):
            fill_stage(stage, u, n, h, k, new)
            (fill k[stage] with f at new)

    The last stage is the end of the step.

    Args:
        stage: number, 1 to 6.
        u: state at the start of the step; only its first n entries are used.
        n: number of entries.
        h: size of the step [s].
        k: slopes of the stages before this one (7, n).
        new: state of the stage, filled.
    """
    for i in range(n):
        if stage == 1:
            new[i] = u[i] + h * A21 * k[0, i]
        elif stage == 2:
            new[i] = u[i] + h * (A31 * k[0, i] + A32 * k[1, i])
        elif stage == 3:
            new[i] = u[i] + h * (A41 * k[0, i] + A42 * k[1, i] + A43 * k[2, i])
        elif stage == 4:
            new[i] = u[i] + h * (A51 * k[0, i] + A52 * k[1, i] + A53 * k[2, i] + A54 * k[3, i])
        elif stage == 5:
            new[i] = u[i] + h * (
                A61 * k[0, i] + A62 * k[1, i] + A63 * k[2, i] + A64 * k[3, i] + A65 * k[4, i]
            )
        else:
            new[i] = u[i] + h * (
                B1 * k[0, i] + B3 * k[2, i] + B4 * k[3, i] + B5 * k[4, i] + B6 * k[5, i]
            )


@kernel
def step_error(u, n, h, k, new, tolerance):
    """Return the error of a step divided by the tolerance; with more than 1 it must be repeated.

    Arguments are those of `fill_stage` after its last stage; `tolerance` is relative and absolute.
    """
    total = 0.0
    for i in range(n):
        error = h * (
            E1 * k[0, i] + E3 * k[2, i] + E4 * k[3, i] + E5 * k[4, i] + E6 * k[5, i] + E7 * k[6, i]
        )
        error /= tolerance * (1.0 + max(abs(u[i]), abs(new[i])))
        total += error * error
    return math.sqrt(total / n)


@kernel
def next_size(size, error):
    """Return the size [s] of the next step, or of the same step if its error exceeds 1."""
    if not math.isfinite(error):
        return SHRINK * size
    return size * min(GROW, max(SHRINK, SAFETY * max(error, LEAST_ERROR) ** -0.2))


@kernel
def dense_rows(u, n, h, k, new, r):
    """Fill the rows r (5, n) of the dense output of a step, from which `dense_state` interpolates.

    They are the start, the change, and the coefficients of degree 2, 3 and 4, as in `Step.at`.
    Other arguments are those of `fill_stage` after its last stage.
    """
    for i in range(n):
        change = new[i] - u[i]
        bend = h * k[0, i] - change
        r[0, i], r[1, i], r[2, i], r[3, i] = u[i], change, bend, change - h * k[6, i] - bend
        r[4, i] = h * (
            D1 * k[0, i] + D3 * k[2, i] + D4 * k[3, i] + D5 * k[4, i] + D6 * k[5, i] + D7 * k[6, i]
        )


@kernel
def dense_state(r, n, fraction, out):
    """Fill `out` (n,) with the state at a fraction (0 to 1) of a step, by the rows r (5, n)."""
    remaining = 1.0 - fraction
    for i in range(n):
        cubic = r[3, i] + remaining * r[4, i]
        quadratic = r[2, i] + fraction * cubic
        out[i] = r[0, i] + fraction * (r[1, i] + remaining * quadratic)


def rk4_step(slope: Slope, y: Array, h: float) -> Array:
    """Return the state after a step of h [s] of the classical method of order 4.

    Args:
        slope: returns the derivative by time of a state.
        y: state at the start, of any shape.
        h: size of the step [s].
    """
    k1 = slope(y)
    k2 = slope(y + 0.5 * h * k1)
    k3 = slope(y + 0.5 * h * k2)
    k4 = slope(y + h * k3)
    return np.asarray(y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4))


@kernel
def rk4_stage(k, h, y, slope, stage, end):
    """Add the slope of stage k (0 to 3) of order 4 to `end`, and fill the next `stage`; all (n,).

        for k in range(4):
            (fill slope with f at stage, at the time t + reach(k) h)
            rk4_stage(k, h, y, slope, stage, end)

    with stage and end copies of the state y to begin with, and the result in end; h is the size of
    the step [s]. One call of f in a loop over the stages: written out, it takes a kernel four times
    as long to compile.
    """
    weight = h / 6.0 if k in (0, 3) else h / 3.0
    reach = h if k == 2 else 0.5 * h
    for i in range(y.shape[0]):
        end[i] += weight * slope[i]
        stage[i] = y[i] + reach * slope[i]
