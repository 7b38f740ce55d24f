"""Statistics of figures of many runs: mean, deviation, confidence intervals, two-sample tests.

`accord sweep` runs a scenario with many seeds and reports the statistics of each figure; the
cross-check compares such samples of two engines. Formulas are Student's, Efron's and Fisher's
(test_sweep). The bootstrap has the fixed seed 0, so that a sweep reports the same figures each
time.

CONFIDENCE stays, for reports and docstrings state 95 %; RESAMPLES may be tuned. The fields of
`Statistics` are keys of the JSON of `accord sweep` and stay; others may be added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

CONFIDENCE = 0.95  # level of all confidence intervals, the usual one
# Number of samples of a bootstrap. The standard error of the 2.5 % level of a bound is then
# sqrt(0.025 * 0.975 / 4000) = 0.25 %.
RESAMPLES = 4000


@dataclass(frozen=True)
class Statistics:
    """Statistics of a sample; nan if the sample is too small.

    Args:
        n: size of the sample.
        mean: mean of the sample.
        median: median of the sample, which a few unusual runs do not change.
        deviation: standard deviation of the sample, with n - 1.
        half_width: half width of the 95 % confidence interval of the mean (Student's t).
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
    deviation = float(sample.std(ddof=1)) if n > 1 else math.nan
    half_width = float(scipy.stats.t.ppf(0.5 + 0.5 * CONFIDENCE, n - 1)) * deviation / math.sqrt(n)
    return Statistics(n, mean, median, deviation, half_width, positive)


def median_difference(sample: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % confidence interval of the difference of medians, sample minus other.

    Its ends are percentiles of a bootstrap (Efron, Annals of Statistics 7, 1979).
    """
    rng = np.random.default_rng(0)
    medians = []
    for values in (sample, other):
        resamples = rng.choice(np.asarray(values, dtype=float), (RESAMPLES, len(values)))
        medians.append(np.median(resamples, axis=1))
    levels = [0.5 - 0.5 * CONFIDENCE, 0.5 + 0.5 * CONFIDENCE]
    low, high = np.quantile(medians[0] - medians[1], levels)
    return float(low), float(high)


def share_probability(sample: Sequence[float], other: Sequence[float]) -> float:
    """Return the p-value of Fisher's exact test that two samples have the same share above 0.

    It is two-sided (Journal of the Royal Statistical Society 85, 1922).
    """
    counts = [[sum(v > 0 for v in runs), sum(v <= 0 for v in runs)] for runs in (sample, other)]
    return float(scipy.stats.fisher_exact(counts)[1])
