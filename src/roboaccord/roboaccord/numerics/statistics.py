"""Statistics of many runs: mean, deviation, confidence intervals, and tests of two samples.

Formulas are Student's, Efron's and Fisher's (test_sweep). The fields of `Statistics` are keys of
the JSON of `accord sweep` and stay; others may be added. The bootstrap has the fixed seed 0, so
that a sweep reports the same figures each time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

CONFIDENCE = 0.95  # level of intervals, the usual one; words of reports say "95 %"
# Samples of a bootstrap: the level of a bound is off by sqrt(.025 * .975 / 4000) = .25 %.
RESAMPLES = 4000


@dataclass(frozen=True)
class Statistics:
    """Statistics of a sample; nan where it is too small.

    Args:
        n: size of the sample.
        mean: of the sample.
        median: of the sample; it is that of the usual motion even if a few runs differ.
        deviation: standard deviation of the sample, with n - 1.
        half_width: of the 95 % confidence interval of the mean (Student's t).
        positive: share of values above 0.
    """

    n: int
    mean: float
    median: float
    deviation: float
    half_width: float
    positive: float


def statistics_of(values: Sequence[float]) -> Statistics:
    """Return the statistics of a sample."""
    n = len(values)
    if n == 0:
        return Statistics(0, math.nan, math.nan, math.nan, math.nan, math.nan)
    sample = np.asarray(values, dtype=float)
    mean, median = float(sample.mean()), float(np.median(sample))
    positive = float((sample > 0).mean())
    if n == 1:
        return Statistics(1, mean, median, math.nan, math.nan, positive)
    deviation = float(sample.std(ddof=1))
    half_width = float(scipy.stats.t.ppf(0.5 + 0.5 * CONFIDENCE, n - 1)) * deviation / math.sqrt(n)
    return Statistics(n, mean, median, deviation, half_width, positive)


def median_difference(sample: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % confidence interval of median - other median.

    Percentiles of a bootstrap (Efron, Annals of Statistics 7, 1979) with a seed of its own.
    """
    rng = np.random.default_rng(0)
    drawn = [
        np.median(rng.choice(np.asarray(values, dtype=float), (RESAMPLES, len(values))), axis=1)
        for values in (sample, other)
    ]
    low, high = np.quantile(drawn[0] - drawn[1], [0.5 - 0.5 * CONFIDENCE, 0.5 + 0.5 * CONFIDENCE])
    return float(low), float(high)


def share_probability(sample: Sequence[float], other: Sequence[float]) -> float:
    """Return the p-value of the hypothesis that two samples have the same share above 0.

    Fisher's exact test, two-sided (Journal of the Royal Statistical Society 85, 1922).
    """
    counts = [[sum(v > 0 for v in runs), sum(v <= 0 for v in runs)] for runs in (sample, other)]
    return float(scipy.stats.fisher_exact(counts)[1])
