"""Estimate the noise of recorded columns, and the steps of an encoder.

The noise is what is left of a column in divided differences of order DIFFERENCE_ORDER: a smooth
motion is nearly a polynomial over a few samples, and vanishes in them. The standard deviation is
taken from the median of their squares, which outliers such as impacts do not move. A higher order
leaves less of the motion, but needs more samples in a stretch (SHORTEST_STRETCH of log.py).
test_own_log.py compares both estimates with noise and steps of known size.

An encoder counts steps of its smallest angle, so its values are multiples of a step, and the noise
is the rounding to them (`step_of`, `is_rounded`). The thresholds of `step_of` were chosen. Halved
or doubled (ONE_STEP 1.25 or 1.9, WHOLE_SHARE 0.8 or 0.95) they find the same steps in 85 columns of
eleven logs and of made encoders of 12 to 22 bits, but for one column with twice WHOLE_DEVIATION,
one with the higher WHOLE_SHARE, and three with half of MIN_REPEATS.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract.state import Array

from roboaccord_files.logs.log import Log

# Order of the divided differences: 0 for polynomials of degree 5, as the splines are
# (smooth.DEGREE).
DIFFERENCE_ORDER = 6
MEDIAN_SQUARE = 0.4549  # median of the chi-squared distribution with one degree of freedom
# Smallest difference of two values that is no round-off [rad or m, N m or N]. Encoders of 22 bits
# count 1.5e-6 rad.
MIN_STEP = 1e-9
# Ratio to the smallest difference; those below it are one step. The next larger ones are two.
ONE_STEP = 1.5
# Deviation from a multiple of the step up to which a difference is one, relative to it: the step is
# a mean, and text rounds both values.
WHOLE_DEVIATION = 1e-3
# Share of the differences that must be multiples; others may be lost bits or interpolated values.
WHOLE_SHARE = 0.9
# Mean number of differences that have the same multiple, at least. Of values without steps nearly
# each has one of its own.
MIN_REPEATS = 4


def noise_of(log: Log, values: Array) -> Array:
    """Return the standard deviation of the noise of columns (k, n), at least that of steps (n,).

    The divided difference of values x_i at times t_i is the sum of x_i / prod_j (t_i - t_j), j not
    i; it is 0 for polynomials of degree 5. The weights are scaled to length 1, so that white noise
    keeps its standard deviation.
    """
    differences = []
    for stretch in log.segments:
        t = np.lib.stride_tricks.sliding_window_view(log.time[stretch], DIFFERENCE_ORDER + 1)
        # In periods; 1 on the diagonal leaves a factor out of the product.
        spacings = (t[:, :, None] - t[:, None, :]) / log.period + np.eye(DIFFERENCE_ORDER + 1)
        weights = 1.0 / spacings.prod(axis=2)
        weights /= np.linalg.norm(weights, axis=1, keepdims=True)
        x = np.lib.stride_tricks.sliding_window_view(values[stretch], DIFFERENCE_ORDER + 1, axis=0)
        # The sum over samples i, by rows k and columns j.
        differences.append(np.einsum("kji,ki->kj", x, weights))
    squares = np.median(np.concatenate(differences) ** 2, axis=0)
    return np.asarray(np.maximum(np.sqrt(squares / MEDIAN_SQUARE), _rounding_noise(values)))


def _rounding_noise(values: Array) -> Array:
    """Return the standard deviation of rounding to the steps of columns (k, n), 0 if none (n,).

    An error that is uniform over a step d has the standard deviation d / sqrt(12).
    """
    return np.array([step_of(column) / np.sqrt(12.0) for column in values.T])


def step_of(values: Array) -> float:
    """Return the step between the values of an encoder (k,), or 0 if they have none.

    Values have a step if most of their differences are whole multiples of the smallest one, and
    these multiples repeat.
    """
    differences = np.abs(np.diff(values))
    differences = differences[differences > MIN_STEP]
    if not differences.size:
        return 0.0
    # The mean of the smallest ones, which are all the same but for round-off.
    smallest = float(differences.min())
    step = float(np.mean(differences[differences < ONE_STEP * smallest]))
    multiples = differences / step
    counts = np.round(multiples)
    is_whole = np.abs(multiples - counts) < WHOLE_DEVIATION * np.maximum(multiples, 1.0)
    are_repeated = len(np.unique(counts)) * MIN_REPEATS < len(differences)
    return step if is_whole.mean() > WHOLE_SHARE and are_repeated else 0.0


def is_rounded(log: Log, values: Array) -> Array:
    """Return for which of the columns (k, n) the noise is the rounding to steps alone (n,)."""
    by_steps = _rounding_noise(values)
    return np.asarray((by_steps > 0.0) & (noise_of(log, values) <= by_steps))


def drawn_like(log: Log, values: Array, rng: np.random.Generator) -> Array:
    """Return a random draw of the noise of columns (k, n): white, or the rounding to steps.

    The rounding error of a value that changes slowly keeps its sign for many samples, so windows do
    not average it out as they do white noise.
    """
    noise = noise_of(log, values) * rng.standard_normal(values.shape)
    for j in np.flatnonzero(is_rounded(log, values)):
        noise[:, j] = _rounding_error(values[:, j], step_of(values[:, j]), rng)
    return noise


def _rounding_error(values: Array, step: float, rng: np.random.Generator) -> Array:
    """Return a rounding error (k,) like that of a column, drawn with another zero of the steps.

    The exact column is taken to pass each rounded value in the middle of the samples that have it,
    and to be linear between.
    """
    ends = np.r_[0, np.flatnonzero(np.diff(values)) + 1, len(values)]
    middle = 0.5 * (ends[:-1] + ends[1:] - 1)
    exact = np.interp(np.arange(len(values)), middle, values[ends[:-1]]) / step + rng.uniform()
    return np.asarray(step * (np.round(exact) - exact))
