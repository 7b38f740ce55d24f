"""Fit a smooth motion to the recorded positions, as smooth as their noise allows.

In each stretch without a gap a spline of degree 5 is fitted by least squares. Far knots make it
smooth, close knots let it follow the positions. The widest spacing is taken at which the splines
leave no more than the noise of each joint. The constants may be tuned; test_own_log.py has exact
logs and noisy ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
from roboaccord.contract import Array, Index

from roboaccord_files.logs.log import Log
from roboaccord_files.logs.noise import noise_of

DEGREE = 5  # of the splines: their accelerations are polynomials of degree 3
# Samples between knots that are tried, the widest first, by factors of 1.2 to 1.5.
SPACINGS = (24, 16, 12, 8, 6, 4, 3, 2)
WIDEST = 0.1  # s; knots are closer than this, so that motions up to 5 Hz have two knots a period
# Ratio; residuals of the chosen splines may exceed the noise by this factor. With 100 samples an
# rms has a standard error of 7 %.
RESIDUAL_MARGIN = 1.08
# Ratio; if the residuals of the two closest spacings differ by less than this, they are the noise.
# Signal that the wider knots miss grows with spacing^6, by 1.5^6 = 11 from 2 to 3.
AGREEMENT_RATIO = 1.3


@dataclass(frozen=True)
class Smooth:
    """The smooth motion through a log.

    Args:
        log: the samples, of n joints.
        noise: standard deviation of the positions (n,), which includes steps of encoders.
        splines: one for each stretch.
        spacing: samples between their knots.
    """

    log: Log
    noise: Array
    splines: Sequence[Any]
    spacing: int

    @classmethod
    def of(cls, log: Log, spacings: Sequence[int] = (*SPACINGS, 1)) -> Self:
        """Return the smoothest motion whose residuals are no more than the noise of each joint.

        Args:
            log: the samples.
            spacings: samples between knots that are tried; 1 follows every sample.
        """
        noise = noise_of(log, log.q)
        candidates = [step for step in spacings if step == 1 or step * log.period < WIDEST]
        stretches = [(log.time[stretch], log.q[stretch]) for stretch in log.segments]

        @cache
        def fit(spacing: int) -> tuple[list[Any], Array]:
            """Return the splines with a knot every few samples, and the noise by them (n,)."""
            splines = [_spline(t, q, spacing) for t, q in stretches]
            return splines, _rms_of(log, splines, spacing)

        # The noise, by the two closest spacings if they agree, else by divided differences.
        closest = [spacing for spacing in candidates if spacing > 1][-2:]
        residuals = np.array([fit(spacing)[1] for spacing in closest])
        smallest = residuals.min(axis=0, initial=np.inf)
        agree = residuals.max(axis=0, initial=0.0) < AGREEMENT_RATIO * smallest
        allowed = RESIDUAL_MARGIN * np.where(agree, smallest, noise)
        fitting = (spacing for spacing in candidates if (fit(spacing)[1] <= allowed).all())
        spacing = next(fitting, candidates[-1])
        return cls(log, noise, fit(spacing)[0], spacing)

    def at(self, first: Array | Index, times: Array) -> Array:
        """Return positions, rates and accelerations (3, w, m, n) within windows.

        Args:
            first: number of each window's first sample (w,).
            times: at which the motion is evaluated (w, m) [s].
        """
        motion = np.zeros((3, *times.shape, len(self.log.joints)))
        for stretch, spline in zip(self.log.segments, self.splines):
            inside = (first >= stretch.start) & (first < stretch.stop)
            for order in range(3):
                motion[order, inside] = spline(times[inside], order)
        return motion


def _rms_of(log: Log, splines: Sequence[Any], spacing: int) -> Array:
    """Return the noise (n,) by the residuals of splines with a knot every so many samples.

    A spline has one coefficient a knot, which takes 1 / spacing of the squares: they are scaled up.
    """
    stretches = zip(log.segments, splines)
    residuals = [log.q[part] - spline(log.time[part]) for part, spline in stretches]
    freedom = spacing / (spacing - 1.0) if spacing > 1 else 1.0
    return np.asarray(np.sqrt(freedom * np.mean(np.concatenate(residuals) ** 2, axis=0)))


def _spline(t: Array, q: Array, spacing: int) -> Any:
    """Return the least-squares spline through positions (k, n), with a knot every few samples."""
    from scipy.interpolate import make_lsq_spline

    knots = np.r_[[t[0]] * (DEGREE + 1), t[DEGREE:-DEGREE:spacing], [t[-1]] * (DEGREE + 1)]
    return make_lsq_spline(t, q, knots, DEGREE)
