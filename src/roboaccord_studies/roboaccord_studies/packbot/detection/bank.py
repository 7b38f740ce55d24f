"""Filters of the arm side by side: as it is taken to be, and with each other kind of each joint.

The constants may be tuned; `make detection` is then to be run again for docs/packbot_failures.md,
and test_detector checks what must be found and what not. The order of KINDS is that of the numbers
in `filters`; one more kind needs a law there.

`FilterBank` sums what one of them explains better, which begins anew where it is none, and lets
filters restart. What is made of the sums is up to the detector.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray
from packbot.controllers.diagnosis import Verdict
from roboaccord.contract import Array

from roboaccord_studies.packbot.detection.filters import FROZEN, Balance, N
from roboaccord_studies.packbot.detection.noise import SETTLED

KINDS: tuple[Verdict, Verdict, Verdict] = ("healthy", "loose", "frozen")  # by number
BLIND = 0.3  # s for which nothing is reported after a restart, as at the start
PAST, SNAPSHOTS = 0.5, 5  # s by which unknowns lag that another kind begins with, and how many
LASTING = 0.2  # s over which errors of one sign are summed
SPELL = 0.3  # s over which errors are averaged,
FORGET = 2.0  # s in which evidence fades: errors of the model add up, too
CLEAR = 8.0  # chi^2 against an explanation that excludes it,
LATELY = 1.0  # s in which it is gathered
STILL = 16.0  # times the variance of noise: a rate that is none


class FilterBank:
    """The filters, and the evidence for each.

    The first is of the arm as it is taken to be, then come those with each other kind, and last
    that of the arm as it is taken to be, restarted.
    """

    _begun: float  # s
    _blind: float  # s, until when nothing is reported

    def _clear(self, balance: Balance) -> None:
        """Begin with a healthy arm of which nothing is known but the prior."""
        k, size = 2 + 2 * N, N + len(balance.prior)
        self._known = np.zeros(N, dtype=np.int64)
        self._states, self._spreads = np.zeros((k, size)), np.zeros((k, size, size))
        self._states[0, N:] = balance.expected
        self._spreads[0, N:, N:] = np.diag(balance.prior**2)
        self._fits, self._means = np.zeros((k, 1 + N)), np.zeros((k, N))
        self._errors = np.ones((k, N))
        self._evidence, self._kinds, self._against, self._since = np.zeros((4, k))
        self._strange = 0.0
        self._past = deque[tuple[float, Array, Array]](maxlen=SNAPSHOTS)

    @property
    def unknowns(self) -> Array:
        """What is not known of the arm, by the likeliest filter, without wandering efforts (m,)."""
        found = np.array(self._states[0, N:])
        found[:N] = 0.0
        return found

    @property
    def spread(self) -> Array:
        """Covariance of these and the wandering efforts (m, m)."""
        return np.array(self._spreads[0, N:, N:])

    @property
    def estimates(self) -> Array:
        """Efforts that are missing, by the likeliest filter (7,) [N m]."""
        return np.array(self._states[0, N : 2 * N])

    def _start(self, time: float, qd: Array, noise: float) -> None:
        """Begin with rates, and all else as known."""
        self._seen, self._variance = qd, noise**2
        spread = self._spreads[0]
        self._states[0, :N] = qd
        spread[:N] = spread[:, :N] = 0.0
        spread[:N, :N] = noise**2 * np.eye(N)
        self._errors[:], self._means[:] = 1.0, 0.0
        self._strange = 0.0
        self._past.clear()
        self._anew(slice(None), time)
        self._blind = time + BLIND

    def _anew(self, which: slice | NDArray[np.bool_], time: float) -> None:
        """Let filters begin with the rates that are seen, and the unknowns known a while ago.

        Those of now may have bent to a failure already.
        """
        if not self._past or time >= self._past[-1][0] + PAST / SNAPSHOTS:
            self._past.append((time, self._states[0, N:].copy(), self._spreads[0, N:, N:].copy()))
        _, unknowns, spread = self._past[0]
        state = np.concatenate([self._seen, unknowns])
        whole = np.zeros_like(self._spreads[0])
        whole[:N, :N], whole[N:, N:] = self._variance * np.eye(N), spread
        others = np.zeros(len(self._states), dtype=np.bool_)
        others[which] = True
        others[0] = False
        self._states[others], self._spreads[others] = state, whole
        self._errors[others], self._means[others] = 1.0, self._means[0]
        self._evidence[others] = self._kinds[others] = 0.0
        self._since[others] = time

    def _faults(self) -> NDArray[np.int64]:
        """Return the joints' kinds by filter (16, 7): as taken to be, one other each, again."""
        faults = np.tile(self._known, (2 + 2 * N, 1))
        for j in range(N):
            for turn in (1, 2):
                faults[1 + (turn - 1) * N + j, j] = (self._known[j] + turn) % len(KINDS)
        return faults

    def _weigh(self, time: float, period: float) -> None:
        """Add to the evidence for each other kind, which restarts where there is none."""
        squares = self._fits[:, 1:] ** 2
        share = period / LASTING
        self._means += share * (self._fits[:, 1:] - self._means)
        lasting = self._means**2 * (2.0 / share)
        gain = _excess(squares) + share * _excess(lasting)
        gain += np.minimum(self._fits[0, 0] - self._fits[:, 0], 0.0)
        kept = 1.0 - period / FORGET
        self._evidence = np.maximum(0.0, kept * self._evidence + gain)
        # A frozen joint's rate is known best: what fits as well is not to count against it.
        still = np.where(self._faults() == FROZEN, 1.0 / STILL, 1.0)
        excess = _excess(still * squares) + share * _excess(still * lasting)
        self._kinds = kept * self._kinds + excess
        known = time > self._begun + SETTLED
        against = self._against * (1.0 - period / LATELY) + known * excess
        self._against = np.clip(against, -10.0 * CLEAR, 0.0)
        self._errors += (period / SPELL) * (squares - self._errors)
        self._anew(self._evidence == 0.0, time)

    def _take(self, which: int, time: float) -> None:
        """Take a filter for the one of the arm as it is; the others restart."""
        self._states[0], self._spreads[0] = self._states[which], self._spreads[which]
        self._errors[0], self._means[0] = self._errors[which], 0.0
        self._past.clear()
        self._anew(slice(None), time)


def _excess(squares: Array) -> Array:
    """Return by how much chi^2 of each filter (k, 7) is less than the first one's, in sum (k,).

    What is below 1 is not evidence: errors of the model are allowed for, and mostly smaller.
    """
    floored = np.maximum(squares, 1.0).sum(axis=1)
    return np.asarray(floored[0] - floored)
