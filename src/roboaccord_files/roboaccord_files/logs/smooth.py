"""A smooth motion through the recorded positions, as smooth as their noise allows.

DEGREE, SPACINGS and LOOSE may be tuned: what a motion may do between knots, and how much it may
leave of the recorded positions. test_own_log.py has exact logs and noisy ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from roboaccord.contract.state import Array

from roboaccord_files.logs.log import Log
from roboaccord_files.logs.noise import noise_of

DEGREE = 5  # of the splines, whose accelerations are smooth
SPACINGS = (24, 16, 12, 8, 6, 4, 3, 2)  # samples between knots, the smoothest first
LONGEST = 0.1  # s between knots
LOOSE = 1.08  # times what the best spacing leaves: what the smoothest motion may
ALIKE = 1.3  # times what spacings of 2 leave: those of 3, where that is noise


@dataclass(frozen=True)
class Smooth:
    """A motion of splines through a log.

    Args:
        log: what was read; n joints.
        noise: of the positions, the steps of encoders too (n,).
        splines: one for each stretch.
        every: samples between their knots.
    """

    log: Log
    noise: Array
    splines: Sequence[Any]
    every: int

    @classmethod
    def of(cls, log: Log, spacings: Sequence[int] = (*SPACINGS, 1)) -> Self:
        """Return the smoothest motion that leaves no more than noise of each joint."""
        noise = noise_of(log, log.q)
        tried = [each for each in spacings if each == 1 or each * log.period < LONGEST]
        parts = [(log.time[s], log.q[s]) for s in log.segments]
        many = {every: [_spline(t, q, every) for t, q in parts] for every in tried}
        rms = {every: _left(log, splines, every) for every, splines in many.items()}
        finest = np.array([rms[each] for each in tried if each > 1][-2:])
        least = finest.min(axis=0, initial=np.inf)  # alike where nothing but noise is left
        most = LOOSE * np.where(finest.max(axis=0, initial=0.0) < ALIKE * least, least, noise)
        every = next((each for each in tried if (rms[each] <= most).all()), tried[-1])
        return cls(log, noise, many[every], every)

    def at(self, first: Array, times: Array) -> Array:
        """Return q, qd and qdd (3, w, m, n) of windows that begin with samples, at times (w, m)."""
        motion = np.empty((3, *times.shape, len(self.log.joints)))
        for s, spline in zip(self.log.segments, self.splines):
            inside = (first >= s.start) & (first < s.stop)
            for d in range(3):
                motion[d, inside] = spline(times[inside], d)
        return motion


def _left(log: Log, splines: Sequence[Any], every: int) -> Array:
    """Return the noise (n,) that splines with so many samples between knots leave."""
    own = [log.q[s] - spline(log.time[s]) for s, spline in zip(log.segments, splines)]
    free = every / (every - 1.0) if every > 1 else 1.0
    return np.asarray(np.sqrt(free * np.mean(np.concatenate(own) ** 2, axis=0)))


def _spline(t: Array, q: Array, every: int) -> Any:
    """Return the spline (m, n) with a knot every so many samples that fits positions best."""
    from scipy.interpolate import make_lsq_spline

    knots = np.r_[[t[0]] * (DEGREE + 1), t[DEGREE:-DEGREE:every], [t[-1]] * (DEGREE + 1)]
    return make_lsq_spline(t, q, knots, DEGREE)
