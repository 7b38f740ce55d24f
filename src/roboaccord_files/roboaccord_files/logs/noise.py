"""Noise of recorded columns, and steps of an encoder.

DIFFERENCE may be tuned: raise it, which leaves less of a motion in the noise, as long as a stretch
has more samples (SHORTEST_STRETCH of log.py). MEDIAN is fixed: of the chi-squared distribution of
one degree. test_own_log.py compares both estimates with noise and steps of known size.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract.state import Array

from roboaccord_files.logs.log import Log

DIFFERENCE = 6  # order, by which noise is estimated
MEDIAN = 0.4549  # of the square of a normal variable


def noise_of(log: Log, values: Array) -> Array:
    """Return the standard deviation of the noise of columns (k, n), that of steps too (n,).

    By divided differences of order 6, which polynomials of degree 5 leave at 0.
    """
    differences = []
    for s in log.segments:
        t = np.lib.stride_tricks.sliding_window_view(log.time[s], DIFFERENCE + 1)
        apart = (t[:, :, None] - t[:, None, :]) / log.period + np.eye(DIFFERENCE + 1)
        weights = 1.0 / apart.prod(axis=2)
        weights /= np.linalg.norm(weights, axis=1, keepdims=True)
        q = np.lib.stride_tricks.sliding_window_view(values[s], DIFFERENCE + 1, axis=0)
        differences.append(np.einsum("kji,ki->kj", q, weights))
    rest = np.concatenate(differences)
    return np.asarray([
        max(np.sqrt(np.median(rest[:, j] ** 2) / MEDIAN), quantum(values[:, j]) / np.sqrt(12.0))
        for j in range(rest.shape[1])
    ])  # fmt: skip


def quantum(values: Array) -> float:
    """Return the step between the values of an encoder (k,); 0 where there is none."""
    steps = np.abs(np.diff(values))
    steps = steps[steps > 1e-9]
    if not steps.size:
        return 0.0
    step = float(steps.min())
    step = float(np.mean(steps[steps < 1.5 * step]))
    whole = steps / step
    even = np.abs(whole - np.round(whole)) < 1e-3 * np.maximum(whole, 1.0)
    return step if even.mean() > 0.9 and len(np.unique(np.round(whole))) * 4 < len(steps) else 0.0


def rounded(log: Log, values: Array) -> Array:
    """Return of which columns (k, n) the noise is that of rounding to steps (n,)."""
    steps = np.array([quantum(column) for column in values.T])
    return np.asarray((steps > 0.0) & (noise_of(log, values) <= steps / np.sqrt(12.0)))


def drawn_like(log: Log, values: Array, rng: np.random.Generator) -> Array:
    """Return a draw of the noise of columns (k, n): white, or as rounding to steps makes it.

    The error of a rounded value that changes slowly keeps its sign for many samples, so that
    windows do not average it out as they do white noise.
    """
    found = noise_of(log, values) * rng.standard_normal(values.shape)
    for j in np.flatnonzero(rounded(log, values)):
        found[:, j] = _rounding(values[:, j], quantum(values[:, j]), rng)
    return found


def _rounding(values: Array, step: float, rng: np.random.Generator) -> Array:
    """Return the error (k,) of rounding a column that changes as this one, from another zero.

    What was rounded is taken to pass a value in the middle of the samples that have it.
    """
    ends = np.r_[0, np.flatnonzero(np.diff(values)) + 1, len(values)]
    middle = 0.5 * (ends[:-1] + ends[1:] - 1)
    exact = np.interp(np.arange(len(values)), middle, values[ends[:-1]]) / step + rng.uniform()
    return np.asarray(step * (np.round(exact) - exact))
