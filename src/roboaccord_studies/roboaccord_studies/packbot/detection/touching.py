"""What can touch the arm, and so explain efforts that are no failure: hulls, obstacles, stops.

`Touching` looks at states one by one. How near counts as contact may be tuned: NEAR, MARGIN, STOP
and MEMORY; less of them makes false alarms of contacts, more hides failures near them. IMPULSE must
exceed what any contact gives in a tick. test_detector tests stops, and a collapse without alarms.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray
from packbot.contact.clearance import Clearance
from packbot.contact.features import LOWER
from packbot.contact.forces import across
from packbot.contact.gaps import GapFunctions, Proximity
from roboaccord.contract import Array, Index
from roboaccord.scenario import Setup

NEAR = 0.05  # m: gaps are looked at from there on
MARGIN = 2e-3  # m: hulls touch below it, with what noise and motion in a tick add
STOP = 0.01  # rad: the same for limits of joints
SIGMAS = 3.0  # of the noise of angles
IMPULSE = 10.0  # N s: standard deviation of what a contact gives in a tick
LINKS = 7.0**0.5  # of a chain whose lengths are off
MEMORY = 3  # ticks for which a contact that was near counts


class Touching:
    """Find what can touch: the arm's hulls, what stands around, and limits of joints.

    Args:
        setup: robot and scenario.
        noise: standard deviation of q [rad].
        zeros: of the encoders, by how much they may be off [rad].
        lengths: of each link, by how much they may be off [m].
    """

    def __init__(self, setup: Setup, noise: float, zeros: float, lengths: float) -> None:
        contact = setup.contact
        self._clearance, self.noise = Clearance.of(setup), noise
        self._zeros, self._lengths = zeros, LINKS * lengths
        self._limits = setup.parameters.limits
        proximity = Proximity(self._clearance, NEAR)
        self._gaps = GapFunctions(proximity, np.zeros(len(self._clearance.pairs)), self._limits)
        self._rough = contact is not None and any(contact.friction.values())
        self._any = contact is not None
        self.reset()

    def reset(self) -> None:
        """Forget what was near."""
        self._recent: deque[Array] = deque(maxlen=MEMORY)
        self._time: float | None = None

    def look(self, time: float, q: Array, qd: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return what contacts can give up to a state since the one before.

        Returns:
            covariance of their impulses on the joints (7, 7) [(N m s)^2], and which joints are at
            their lower and upper limits (7, 2).
        """
        n = len(q)
        if not self._any:
            return np.zeros((n, n)), np.zeros((n, 2), dtype=np.bool_)
        period = 0.0 if self._time is None else time - self._time
        self._time = time
        reach = STOP + self._zeros + SIGMAS * self.noise + period * np.abs(qd)
        stops = np.array([q < self._limits[0] + reach, q > self._limits[1] - reach]).T
        self._recent.append(self._rows(q, qd, period))
        rows = np.concatenate(self._recent)
        return np.asarray(IMPULSE**2 * rows.T @ rows), stops

    def _rows(self, q: Array, qd: Array, period: float) -> Array:
        """Return the directions (m, 7) in which what touches can push the joints."""
        pairs = self._clearance.near(q, NEAR)
        if not len(pairs):
            return np.zeros((0, len(q)))
        features = self._features(q, pairs)
        gaps, rows, witnesses = self._gaps.measure(features, q)
        noise = (SIGMAS * self.noise + self._zeros) * np.linalg.norm(rows, axis=1) + self._lengths
        touching = gaps < MARGIN + noise + period * np.abs(rows @ qd)
        if not self._rough:
            return np.asarray(rows[touching])
        proximity = self._gaps.proximity
        tangents = np.empty((len(features), 2, len(q)))
        across(proximity.chain, proximity.owner, features, q, witnesses, tangents)
        return np.concatenate([rows[touching], tangents[touching].reshape(-1, len(q))])

    def _features(self, q: Array, pairs: Index) -> Index:
        bounds = np.full(len(self._clearance.pairs), np.inf)
        bounds[pairs] = 0.0
        self._gaps.proximity.restart(bounds)
        features = self._gaps.features(q)
        return features[features[:, 0] < LOWER]
