"""Figures of many runs: mean, spread, confidence, and whether two samples can agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Statistics:
    """Hold what a sample says: nan where it is too small for it.

    Args:
        n: size of the sample.
        mean: of the sample.
        deviation: standard deviation of the runs, with n - 1.
        half_width: of the 95 % confidence interval of the mean (Student's t).
        positive: share of values above 0.
    """

    n: int
    mean: float
    deviation: float
    half_width: float
    positive: float


def statistics_of(values: Sequence[float]) -> Statistics:
    """Return the statistics of a sample."""
    n = len(values)
    if n == 0:
        return Statistics(0, math.nan, math.nan, math.nan, math.nan)
    sample = np.asarray(values, dtype=float)
    mean, positive = float(sample.mean()), float((sample > 0).mean())
    if n == 1:
        return Statistics(1, mean, math.nan, math.nan, positive)
    deviation = float(sample.std(ddof=1))
    half_width = float(student.ppf(0.5 + 0.5 * CONFIDENCE, n - 1)) * deviation / math.sqrt(n)
    return Statistics(n, mean, deviation, half_width, positive)


def difference_of(sample: Statistics, other: Statistics) -> tuple[float, float]:
    """Return the 95 % confidence interval of mean - other mean.

    Welch's (Biometrika 34, 1947): the variances of the samples need not be equal.
    """
    a, b = sample.deviation**2 / sample.n, other.deviation**2 / other.n
    gap = sample.mean - other.mean
    if a + b == 0.0:
        return gap, gap
    freedom = (a + b) ** 2 / (a**2 / (sample.n - 1) + b**2 / (other.n - 1))
    half_width = float(student.ppf(0.5 + 0.5 * CONFIDENCE, freedom)) * math.sqrt(a + b)
    return gap - half_width, gap + half_width
