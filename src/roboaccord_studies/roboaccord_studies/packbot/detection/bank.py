"""Bank of 16 Kalman filters that run side by side, and the evidence for each of them.

The detector (detector.py) finds failed joints of the Packbot's arm, from measured joint states and
commanded efforts. A filter assumes a kind (healthy, loose or frozen) for each of the 7 joints:

    filter 0          the current belief about all joints;
    filters 1 to 7    the same, but joint 1 to 7 is of the next kind in the order of KINDS;
    filters 8 to 14   the same, but joint 1 to 7 is of the kind after the next;
    filter 15         the same as filter 0, restarted with older estimates of the unknowns.

In each tick (control period) every filter predicts the joint rates. The evidence for a filter is
the sum over time of how much better than filter 0 it predicts them. A sum that falls to 0 begins
anew and its filter restarts: this is the cumulative sum test [Page 1954] of a multiple-model filter
[Magill 1965]. `detector.Detector` decides what follows from the sums.

The constants may be tuned, except for the order of KINDS, which is that of the numbers in
`filters`; run test_detector and `make detection` (docs/packbot_failures.md) again afterwards.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from packbot.controllers.diagnosis import Verdict
from roboaccord.contract import Array

from roboaccord_studies.packbot.detection.balance import Balance, Tick
from roboaccord_studies.packbot.detection.filters import FROZEN, LOG_NORMALISATION, N, advance

KINDS: tuple[Verdict, Verdict, Verdict] = ("healthy", "loose", "frozen")  # by number
COUNT = 2 + 2 * N  # number of filters, 16
BELIEF, RESTARTED = 0, -1  # indices of the two filters of the current belief
ALTERNATIVES = slice(1, -1)  # indices of the 14 filters in which one joint is of another kind
# s; nothing is reported for this time after a start, until the filters have settled (SQUARE_TIME).
BLIND_TIME = 0.3
# s; age of the unknowns that a restarted filter begins with: older than a failure that is found
# soon. Of the 12 failures of FROZEN_NOISE below, 0.25 and 0.5 report the same, with 1 one is wrong.
SNAPSHOT_AGE = 0.5
# Number of snapshots of the unknowns that are kept within SNAPSHOT_AGE: a restarted filter then
# begins at most a fifth of that age too late. By choice: each costs a copy of the unknowns.
SNAPSHOTS = 5
# s; time constant of the mean error of each rate, which keeps its sign; 20 ticks, so noise is
# divided by 6.
MEAN_TIME = 0.2
# s; time constant of the mean squared error of each rate; 30 ticks, so it is known to 20 %.
SQUARE_TIME = 0.3
# s; evidence fades with this time constant, since errors of the model add up. 1 and 4 report the
# same of 12 failures as FROZEN_NOISE below.
EVIDENCE_TIME = 2.0
# chi^2; recent evidence against a kind of a joint that excludes this kind: by chance in 1 of 200.
EXCLUDED = 8.0
# s; time constant with which recent evidence fades. 0.5 and 2 report the same of 12 failures as
# FROZEN_NOISE below.
RECENT_TIME = 1.0
# chi^2; bound of the recent evidence against a kind; so that a kind is back after a few
# RECENT_TIME.
MOST_AGAINST = 10.0 * EXCLUDED
# Factor on the variance of a frozen joint's rate when two kinds are compared: a lock may give by
# four times the noise. 8 and 32 report the same, at the same times, of 12 failures (4 arms as those
# in docs/packbot_failures.md, seeds from 2000 on).
FROZEN_NOISE = 16.0


class Snapshot(NamedTuple):
    """Unknowns (m,) and their covariance (m, m) at a time [s]."""

    time: float
    unknowns: Array
    spread: Array


class FilterBank:
    """The 16 filters, and the evidence for each of them against filter 0.

    Args:
        balance: balance of efforts of the arm, with the prior of its m unknowns.

    Attributes:
        kinds: believed kind of each joint, as an index into `KINDS` (7,).
        states: state of each filter: joint rates, then unknowns (16, 7 + m).
        spreads: covariance of each state (16, 7 + m, 7 + m).
        evidence: cumulative sum for each filter, at least 0 (16,) [chi^2].
        kind_evidence: the same sum without the bound at 0, by which the two other kinds of a joint
            are compared; the noise of a frozen joint's rate is taken larger in it (16,) [chi^2].
        recent: the same sum faded over `RECENT_TIME`, at most 0: how clearly the last second
            speaks against the filter (16,) [chi^2].
        errors: mean square of each rate's prediction error over its variance (16, 7).
        since: time at which the evidence for each filter began [s] (16,).
        rates: last measured rates (7,) [rad/s].
        variance: variance of the noise of each measured rate [(rad/s)^2].
        blind_until: time until which nothing is to be reported [s].
    """

    def __init__(self, balance: Balance) -> None:
        self._balance = balance
        self.rates, self.variance, self.blind_until = np.zeros(N), 0.0, 0.0
        self.reset()

    def reset(self) -> None:
        """Begin with a healthy arm and the prior of its unknowns."""
        unknowns = self._balance.unknowns
        size = N + len(unknowns.prior)
        self.kinds = np.zeros(N, dtype=np.int64)
        self.states, self.spreads = np.zeros((COUNT, size)), np.zeros((COUNT, size, size))
        self.states[BELIEF, N:] = unknowns.expected
        self.spreads[BELIEF, N:, N:] = np.diag(unknowns.prior**2)
        self._fits = np.zeros((COUNT, 1 + N))  # of the last tick, see `filters.advance`
        self._means = np.zeros((COUNT, N))  # mean normalised errors over `MEAN_TIME`, signed
        self.errors = np.ones((COUNT, N))
        self.evidence, self.kind_evidence, self.recent, self.since = np.zeros((4, COUNT))
        self._snapshots = deque[Snapshot](maxlen=SNAPSHOTS)

    @property
    def faults(self) -> NDArray[np.int64]:
        """Kind of each joint in each filter, as an index into `KINDS` (16, 7)."""
        faults = np.tile(self.kinds, (COUNT, 1))
        for shift in (1, 2):  # steps from the believed kind to the other two
            for j in range(N):
                faults[1 + (shift - 1) * N + j, j] = (self.kinds[j] + shift) % len(KINDS)
        return faults

    @staticmethod
    def by_joint(values: Array) -> Array:
        """Return the values (16,) of the alternatives, by other kind and joint (2, 7)."""
        return values[ALTERNATIVES].reshape(2, N)

    def start(self, time: float, rates: Array, noise: float) -> None:
        """Restart all filters at measured rates (7,) with a noise [rad/s]; unknowns are kept."""
        self.rates, self.variance = rates, noise**2
        spread = self.spreads[BELIEF]
        self.states[BELIEF, :N] = rates
        spread[:N] = spread[:, :N] = 0.0
        spread[:N, :N] = noise**2 * np.eye(N)
        self.errors[:], self._means[:] = 1.0, 0.0
        self._snapshots.clear()
        self.restart(slice(None), time)
        self.blind_until = time + BLIND_TIME

    def restart(self, which: slice | NDArray[np.bool_], time: float) -> None:
        """Restart filters with the measured rates and the oldest snapshot of the unknowns.

        The current unknowns may already have been adapted to explain a failure. Filter 0 is never
        restarted.

        Args:
            which: the filters to restart, as a slice or mask (16,).
            time: [s].
        """
        # Unknowns of filter 0 are saved at regular intervals.
        if not self._snapshots or time >= self._snapshots[-1].time + SNAPSHOT_AGE / SNAPSHOTS:
            unknowns, spread = self.states[BELIEF, N:], self.spreads[BELIEF, N:, N:]
            self._snapshots.append(Snapshot(time, unknowns.copy(), spread.copy()))
        oldest = self._snapshots[0]
        spread = np.zeros_like(self.spreads[BELIEF])
        spread[:N, :N], spread[N:, N:] = self.variance * np.eye(N), oldest.spread
        restarted = np.zeros(len(self.states), dtype=np.bool_)
        restarted[which] = True
        restarted[BELIEF] = False
        self.states[restarted] = np.concatenate([self.rates, oldest.unknowns])
        self.spreads[restarted] = spread
        self.errors[restarted], self._means[restarted] = 1.0, self._means[BELIEF]
        self.evidence[restarted] = self.kind_evidence[restarted] = 0.0
        self.since[restarted] = time

    def advance(
        self, tick: Tick, independent: Array, jolts: Array, rates: Array, variance: float
    ) -> None:
        """Predict and correct all filters over a tick.

        Args:
            tick: terms of the balance over the tick.
            independent: covariance of efforts that are new in each tick (7, 7) [(N m)^2].
            jolts: variances of the rates by impacts within the tick (7,) [(rad/s)^2].
            rates: measured at its end (7,) [rad/s].
            variance: of the noise of each measured rate [(rad/s)^2].
        """
        self.rates, self.variance = rates, variance
        of_drives = self._balance.unknowns.of_drives
        filters = self.states, self.spreads, self._fits
        advance(self.faults, tick, of_drives, (independent, jolts), (rates, variance), filters)

    def add_evidence(self, time: float, period: float, *, settled: bool) -> None:
        """Add the last tick to the evidence, and restart the filters that have none.

        Args:
            time, period: end and length of the tick [s].
            settled: whether the unknowns of the arm are estimated well enough that kinds may be
                excluded.
        """
        # chi^2 of the normalised errors of this tick, and of their mean over `MEAN_TIME`. The mean
        # with the weight w of the newest value has the variance w / 2 if errors are white.
        squares = self._fits[:, 1:] ** 2
        share = period / MEAN_TIME
        self._means += share * (self._fits[:, 1:] - self._means)
        mean_squares = self._means**2 * (2.0 / share)
        # Evidence: twice the log-likelihood ratio to filter 0. A filter that is surer of
        # its prediction (smaller normalisation) is not rewarded for that, hence the minimum.
        gain = _excess(squares) + share * _excess(mean_squares)
        logarithms = self._fits[:, LOG_NORMALISATION]
        gain += np.minimum(logarithms[BELIEF] - logarithms, 0.0)
        fading = 1.0 - period / EVIDENCE_TIME
        self.evidence = np.maximum(0.0, fading * self.evidence + gain)
        # Comparison of kinds: a frozen joint's rate is predicted with the least variance, so that
        # small errors would exclude it; they are therefore scaled down.
        scale = np.where(self.faults == FROZEN, 1.0 / FROZEN_NOISE, 1.0)
        excess = _excess(scale * squares) + share * _excess(scale * mean_squares)
        self.kind_evidence = fading * self.kind_evidence + excess
        # The same over the last second, to exclude kinds.
        recent = self.recent * (1.0 - period / RECENT_TIME) + settled * excess
        self.recent = np.clip(recent, -MOST_AGAINST, 0.0)
        # Mean squared errors, by which the detector tells whether a filter fits at all.
        self.errors += (period / SQUARE_TIME) * (squares - self.errors)
        self.restart(self.evidence == 0.0, time)

    def least_misfit(self) -> float:
        """Return the smallest chi^2 of the last tick's rates, that of the best filter."""
        return float((self._fits[:, 1:] ** 2).sum(axis=1).min())

    def adopt(self, which: int, time: float) -> None:
        """Make filter `which` the new filter 0 at a time [s], and restart all others."""
        self.states[BELIEF], self.spreads[BELIEF] = self.states[which], self.spreads[which]
        self.errors[BELIEF], self._means[BELIEF] = self.errors[which], 0.0
        self._snapshots.clear()
        self.restart(slice(None), time)


def _excess(squares: Array) -> Array:
    """Return by how much the chi^2 of each filter is less than that of filter 0 (k,).

    Values below 1 are raised to 1 first: errors smaller than their standard deviation are no
    evidence, because the variances allow for errors of the model.

    Args:
        squares: squared errors of the rates over their variance (k, 7).
    """
    floored = np.maximum(squares, 1.0).sum(axis=1)
    return np.asarray(floored[BELIEF] - floored)
