"""Filters of the arm side by side, and the evidence for each kind of each joint.

In the first filter each joint is of the kind that it was last taken to be. In each of the next 14
one joint is of one of its two other kinds. The last one is the first filter again, restarted. The
evidence for a filter is the sum over time by which it explains the rates better than the first. It
begins anew where it is 0 (the cumulative sum [Page 1954] of a multiple-model filter [Magill 1965]),
and the filter then restarts. The detector decides what follows from the sums.

The order of KINDS is that of the numbers in `filters`, and stays. The other constants are choices
that may be tuned; run `make detection` again for docs/packbot_failures.md, and test_detector.
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
TAKEN, RESTARTED = 0, -1  # filters of the arm as it is taken to be
BLIND = 0.3  # s for which nothing is reported after a restart, as at the start
PAST = 0.5  # s by which the unknowns are old that a restarted filter begins with
SNAPSHOTS = 5  # of the unknowns within that
LASTING = 0.2  # s over which errors of one sign are averaged
SPELL = 0.3  # s over which squared errors are averaged
FORGET = 2.0  # s in which evidence fades: errors of the model add up, too
CLEAR = 8.0  # chi^2 against an explanation that excludes it
LATELY = 1.0  # s in which that is gathered
CAP = 10.0 * CLEAR  # chi^2 in favour of an explanation that is remembered at most
STILL = 16.0  # factor on the variance of the noise of a frozen joint's rate


class Snapshot(NamedTuple):
    """Unknowns (m,) and their covariance (m, m) at a time [s]."""

    time: float
    unknowns: Array
    spread: Array


class FilterBank:
    """The 16 filters, and the evidence for each.

    Args:
        balance: of the arm, with the prior of its unknowns.

    Attributes:
        kinds: of the joints as they are taken to be, numbers of `KINDS` (7,).
        states: of the filters, rates before unknowns (16, 7 + m).
        spreads: their covariances (16, 7 + m, 7 + m).
        evidence: for each filter, against the first; at least 0 (16,) [chi^2].
        kind_evidence: the same without a new beginning at 0, to compare the kinds of a joint; a
            frozen joint's rate counts with more noise there (16,) [chi^2].
        recent: that, gathered over `LATELY` and at most 0 (16,) [chi^2].
        errors: mean squares of the rates' errors over their variance (16, 7).
        since: when the evidence for each filter began (16,) [s].
        rates, variance: as measured last (7,) [rad/s], and the variance of each.
        blind_until: time until which nothing is to be reported [s].
    """

    def __init__(self, balance: Balance) -> None:
        self._balance = balance
        self.reset()

    def reset(self) -> None:
        """Begin with a healthy arm, and the prior of its unknowns."""
        count, unknowns = 2 + 2 * N, self._balance.unknowns
        size = N + len(unknowns.prior)
        self.kinds = np.zeros(N, dtype=np.int64)
        self.states, self.spreads = np.zeros((count, size)), np.zeros((count, size, size))
        self.states[TAKEN, N:] = unknowns.expected
        self.spreads[TAKEN, N:, N:] = np.diag(unknowns.prior**2)
        self._fits = np.zeros((count, 1 + N))  # of the last tick, see `filters.advance`
        self._means = np.zeros((count, N))  # of the errors over `LASTING`, with their sign
        self.errors = np.ones((count, N))
        self.evidence, self.kind_evidence, self.recent, self.since = np.zeros((4, count))
        self._past = deque[Snapshot](maxlen=SNAPSHOTS)

    @property
    def faults(self) -> NDArray[np.int64]:
        """Kinds of the joints by filter (16, 7)."""
        faults = np.tile(self.kinds, (2 + 2 * N, 1))
        for j in range(N):
            for turn in (1, 2):
                faults[1 + (turn - 1) * N + j, j] = (self.kinds[j] + turn) % len(KINDS)
        return faults

    @staticmethod
    def by_joint(values: Array) -> Array:
        """Return values of filters (16,) as those of the two other kinds of each joint (2, 7)."""
        return values[1:-1].reshape(2, N)

    def start(self, time: float, rates: Array, noise: float) -> None:
        """Begin with measured rates (7,) and their noise [rad/s]; all else stays as known."""
        self.rates, self.variance = rates, noise**2
        spread = self.spreads[TAKEN]
        self.states[TAKEN, :N] = rates
        spread[:N] = spread[:, :N] = 0.0
        spread[:N, :N] = noise**2 * np.eye(N)
        self.errors[:], self._means[:] = 1.0, 0.0
        self._past.clear()
        self.restart(slice(None), time)
        self.blind_until = time + BLIND

    def restart(self, which: slice | NDArray[np.bool_], time: float) -> None:
        """Let filters begin with the measured rates, and the unknowns known a while ago.

        Those of now may have been bent to explain a failure already. The first filter goes on.
        """
        if not self._past or time >= self._past[-1].time + PAST / SNAPSHOTS:
            unknowns, spread = self.states[TAKEN, N:], self.spreads[TAKEN, N:, N:]
            self._past.append(Snapshot(time, unknowns.copy(), spread.copy()))
        oldest = self._past[0]
        spread = np.zeros_like(self.spreads[TAKEN])
        spread[:N, :N], spread[N:, N:] = self.variance * np.eye(N), oldest.spread
        others = np.zeros(len(self.states), dtype=np.bool_)
        others[which] = True
        others[TAKEN] = False
        self.states[others] = np.concatenate([self.rates, oldest.unknowns])
        self.spreads[others] = spread
        self.errors[others], self._means[others] = 1.0, self._means[TAKEN]
        self.evidence[others] = self.kind_evidence[others] = 0.0
        self.since[others] = time

    def advance(
        self, tick: Tick, unknown: Array, jolts: Array, rates: Array, variance: float
    ) -> None:
        """Predict and correct all filters over a tick; the arguments are `filters.advance`'s."""
        self.rates, self.variance = rates, variance
        advance(
            self.faults, tick.keep, tick.free, tick.modelled, tick.motor, tick.effects,
            self._balance.unknowns.of_drives, unknown, jolts, tick.fade, tick.drift, rates,
            variance, self.states, self.spreads, self._fits,
        )  # fmt: skip

    def weigh(self, time: float, period: float, *, settled: bool) -> None:
        """Add a tick to the evidence; filters without evidence restart.

        Args:
            time, period: of the tick [s].
            settled: whether the arm is known, so that explanations may be excluded.
        """
        squares = self._fits[:, 1:] ** 2
        share = period / LASTING
        self._means += share * (self._fits[:, 1:] - self._means)
        lasting = self._means**2 * (2.0 / share)
        gain = _excess(squares) + share * _excess(lasting)
        logarithms = self._fits[:, LOG_NORMALISATION]
        gain += np.minimum(logarithms[TAKEN] - logarithms, 0.0)
        fading = 1.0 - period / FORGET
        self.evidence = np.maximum(0.0, fading * self.evidence + gain)
        # A frozen joint's rate is known best: what fits as well is not to count against it.
        still = np.where(self.faults == FROZEN, 1.0 / STILL, 1.0)
        excess = _excess(still * squares) + share * _excess(still * lasting)
        self.kind_evidence = fading * self.kind_evidence + excess
        recent = self.recent * (1.0 - period / LATELY) + settled * excess
        self.recent = np.clip(recent, -CAP, 0.0)
        self.errors += (period / SPELL) * (squares - self.errors)
        self.restart(self.evidence == 0.0, time)

    def least_misfit(self) -> float:
        """Return chi^2 of the rates in the last tick by the filter that predicted them best."""
        return float((self._fits[:, 1:] ** 2).sum(axis=1).min())

    def take(self, which: int, time: float) -> None:
        """Take a filter for the one of the arm as it is; the others restart."""
        self.states[TAKEN], self.spreads[TAKEN] = self.states[which], self.spreads[which]
        self.errors[TAKEN], self._means[TAKEN] = self.errors[which], 0.0
        self._past.clear()
        self.restart(slice(None), time)


def _excess(squares: Array) -> Array:
    """Return by how much chi^2 of each filter (k, 7) is less than the first one's, in sum (k,).

    What is below 1 is not evidence: errors of the model are allowed for, and mostly smaller.
    """
    floored = np.maximum(squares, 1.0).sum(axis=1)
    return np.asarray(floored[TAKEN] - floored)
