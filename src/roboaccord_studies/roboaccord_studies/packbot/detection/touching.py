"""Contacts that may explain efforts which are no failure: of hulls, obstacles and joint stops.

`Touching` looks at measured states one by one. A pair of hulls may be in contact if its gap is
smaller than MARGIN and what noise, errors of zeros and lengths, and the motion within a tick add.
Its impulse may be anything along the normal, and with friction also across.

NEAR, MARGIN, STOP and MEMORY may be tuned: smaller ones make false alarms of contacts, larger ones
hide failures near them. IMPULSE must exceed what any contact gives in a tick. test_detector tests
stops, and a collapse without alarms.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray
from packbot.contact.clearance import Clearance
from packbot.contact.features import KIND, LOWER
from packbot.contact.forces import across
from packbot.contact.gaps import GapFunctions, Proximity
from roboaccord.contract import Array, Index
from roboaccord.scenario import Setup

NEAR = 0.05  # m: larger gaps are not measured
MARGIN = 2e-3  # m: least gap without contact; four times the margin of the contact law
STOP = 0.01  # rad: least distance from a joint's limit without contact
SIGMAS = 3.0  # standard deviations of the noise of angles
IMPULSE = 10.0  # N s: standard deviation of what a contact gives in a tick
LINKS = 7.0**0.5  # error at the end of a chain of 7 links over that of each, if independent
MEMORY = 3  # ticks for which a contact counts after it was possible


class Touching:
    """Contacts that are possible: of the arm's hulls, obstacles, and limits of joints.

    Args:
        setup: robot and scenario.
        noise: standard deviation of the angles [rad].
        zeros: error of the encoders' zeros [rad].
        lengths: error of each link's length [m].

    Attributes:
        noise: as above; it is set anew as it is estimated.
    """

    def __init__(self, setup: Setup, noise: float, zeros: float, lengths: float) -> None:
        contact = setup.contact
        self._clearance, self.noise = Clearance.of(setup), noise
        self._zeros, self._lengths = zeros, LINKS * lengths  # rad, m
        self._limits = setup.parameters.limits
        proximity = Proximity(self._clearance, NEAR)
        self._gaps = GapFunctions(proximity, np.zeros(len(self._clearance.pairs)), self._limits)
        self._has_friction = contact is not None and any(contact.friction.values())
        self._has_contact = contact is not None
        self.reset()

    def reset(self) -> None:
        """Forget what was near."""
        self._recent = deque[Array](maxlen=MEMORY)  # directions of contacts by tick, (m, 7) each
        self._time: float | None = None

    def look(self, time: float, q: Array, qd: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return what contacts can give in the tick that ends in a state.

        Returns:
            covariance of their impulses on the joints (7, 7) [(N m s)^2], and which joints are at
            their lower and upper limits (7, 2).
        """
        n = len(q)
        if not self._has_contact:
            return np.zeros((n, n)), np.zeros((n, 2), dtype=np.bool_)
        period = 0.0 if self._time is None else time - self._time
        self._time = time
        reach = STOP + self._zeros + SIGMAS * self.noise + period * np.abs(qd)
        stops = np.array([q < self._limits[0] + reach, q > self._limits[1] - reach]).T
        self._recent.append(self._directions(q, qd, period))
        directions = np.concatenate(self._recent)
        return np.asarray(IMPULSE**2 * directions.T @ directions), stops

    def _directions(self, q: Array, qd: Array, period: float) -> Array:
        """Return the directions (m, 7) in which contacts can push the joints."""
        pairs = self._clearance.near(q, NEAR)
        if not len(pairs):
            return np.zeros((0, len(q)))
        features = self._features(q, pairs)
        gaps, normals, witnesses = self._gaps.measure(features, q)
        angles = SIGMAS * self.noise + self._zeros
        errors = angles * np.linalg.norm(normals, axis=1) + self._lengths
        touching = gaps < MARGIN + errors + period * np.abs(normals @ qd)
        if not self._has_friction:
            return np.asarray(normals[touching])
        proximity = self._gaps.proximity
        tangents = np.empty((len(features), 2, len(q)))
        across(proximity.chain, proximity.owner, features, q, witnesses, tangents)
        return np.concatenate([normals[touching], tangents[touching].reshape(-1, len(q))])

    def _features(self, q: Array, pairs: Index) -> Index:
        """Return the features of pairs of hulls that are near, without those of stops."""
        bounds = np.full(len(self._clearance.pairs), np.inf)
        bounds[pairs] = 0.0
        self._gaps.proximity.restart(bounds)
        features = self._gaps.features(q)
        return features[features[:, KIND] < LOWER]
