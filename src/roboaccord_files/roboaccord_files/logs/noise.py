"""Estimate the noise of recorded columns, and the steps of an encoder.

The noise is what is left of a column in divided differences of order DIFFERENCE_ORDER: a smooth
    motion is nearly a polynomial over a few samples, and vanishes in them. The standard deviation
    is taken from the median of their squares, which outliers such as impacts do not move. A higher
    order leaves less of the motion, but needs more samples in a stretch (SHORTEST_STRETCH of
    log.py). test_own_log.py compares both estimates with noise and steps of known size.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract.state import Array

from roboaccord_files.logs.log import Log

# Order of the divided differences: 0 for polynomials of degree 5, as the splines are
# (smooth.DEGREE).
DIFFERENCE_ORDER = 6
MEDIAN_SQUARE = 0.4549  # median of the chi-squared distribution with one degree of freedom


def noise_of(log: Log, values: Array) -> Array:
    """Return the standard deviation of the noise of columns (k, n), at least that of steps (n,).

    The divided difference of values x_i at times t_i is the sum of x_i / prod_j (t_i - t_j), j not
    i; it is 0 for polynomials of degree 5. The weights are scaled to length 1, so that white noise
    keeps its standard deviation. Rounding to steps d has the standard deviation d / sqrt(12).
    """
    differences = []
    for stretch in log.segments:
        t = np.lib.stride_tricks.sliding_window_view(log.time[stretch], DIFFERENCE_ORDER + 1)
        spacings = (t[:, :, None] - t[:, None, :]) / log.period + np.eye(DIFFERENCE_ORDER + 1)
        weights = 1.0 / spacings.prod(axis=2)
        weights /= np.linalg.norm(weights, axis=1, keepdims=True)
        x = np.lib.stride_tricks.sliding_window_view(values[stretch], DIFFERENCE_ORDER + 1, axis=0)
        differences.append(np.einsum("kji,ki->kj", x, weights))
    squares = np.median(np.concatenate(differences) ** 2, axis=0)
    by_steps = _steps_of(values) / np.sqrt(12.0)
    return np.asarray(np.maximum(np.sqrt(squares / MEDIAN_SQUARE), by_steps))


def _steps_of(values: Array) -> Array:
    """Return the steps between the values of encoders (k, n), 0 if they have none (n,)."""
    return np.array([quantum(column) for column in values.T])


def quantum(values: Array) -> float:
    """Return the step between the values of an encoder (k,), or 0 if they have none.

    Values have a step if 90 % of their differences are whole multiples of the smallest one, and
    these multiples repeat.
    """
    steps = np.abs(np.diff(values))
    steps = steps[steps > 1e-9]  # [rad or m] less is round-off
    if not steps.size:
        return 0.0
    # The mean of the smallest ones, which are all the same but for round-off.
    step = float(steps.min())
    step = float(np.mean(steps[steps < 1.5 * step]))
    multiples = steps / step
    counts = np.round(multiples)
    are_whole = np.abs(multiples - counts) < 1e-3 * np.maximum(multiples, 1.0)
    are_repeated = len(np.unique(counts)) * 4 < len(steps)
    return step if are_whole.mean() > 0.9 and are_repeated else 0.0


def rounded(log: Log, values: Array) -> Array:
    """Return for which of the columns (k, n) the noise is the rounding to steps alone (n,)."""
    steps = _steps_of(values)
    return np.asarray((steps > 0.0) & (noise_of(log, values) <= steps / np.sqrt(12.0)))


def drawn_like(log: Log, values: Array, rng: np.random.Generator) -> Array:
    """Return a random draw of the noise of columns (k, n): white, or the rounding to steps.

    The rounding error of a value that changes slowly keeps its sign for many samples, so windows do
    not average it out as they do white noise.
    """
    noise = noise_of(log, values) * rng.standard_normal(values.shape)
    for j in np.flatnonzero(rounded(log, values)):
        noise[:, j] = _rounding(values[:, j], quantum(values[:, j]), rng)
    return noise


def _rounding(values: Array, step: float, rng: np.random.Generator) -> Array:
    """Return a rounding error (k,) like that of a column, drawn with another zero of the steps.

    The exact column is taken to pass each rounded value in the middle of the samples that have it,
    and to be linear between.
    """
    ends = np.r_[0, np.flatnonzero(np.diff(values)) + 1, len(values)]
    middle = 0.5 * (ends[:-1] + ends[1:] - 1)
    exact = np.interp(np.arange(len(values)), middle, values[ends[:-1]]) / step + rng.uniform()
    return np.asarray(step * (np.round(exact) - exact))
