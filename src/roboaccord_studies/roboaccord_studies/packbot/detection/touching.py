"""Possible contacts of the arm, which explain efforts that are no failure of a joint.

The detector of failed joints (detector.py) must not take a contact of the arm for a failure.
`Touching` takes measured states one by one. It finds the pairs of hulls and the joint stops that
may have been in contact: those whose measured gap is smaller than MARGIN plus the errors by noise,
encoder zeros and lengths, and the motion within a tick (control period). The impulse of such a pair
may have any size along the normal, and with friction also across it.

NEAR_GAP, MARGIN, STOP_MARGIN and MEMORY may be tuned: smaller values cause false alarms at
contacts, larger ones hide failures near contacts. test_detector tests stops, and a collapse without
alarms.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray
from packbot.contact.clearance import Clearance
from packbot.contact.features import KIND, LOWER
from packbot.contact.friction import fill_tangential_jacobian
from packbot.contact.gaps import GapFunctions, Proximity
from roboaccord.contract import Array, Index
from roboaccord.scenario import Setup

# m; larger gaps are not measured: above MARGIN and the errors by noise, zeros and lengths.
NEAR_GAP = 0.05
MARGIN = 2e-3  # m; smallest true gap without contact, four times the margin of the contact law
# rad; smallest true distance from a joint's limit without contact: twice the prior of encoder
# zeros, 5 mrad.
STOP_MARGIN = 0.01
# Number of standard deviations of the noise of angles that is allowed for (by chance in 3 of 1000).
SIGMAS = 3.0
# N s; standard deviation of a contact's impulse in a tick; larger than any: 10 kg of arm and
# payload at 1 m/s.
IMPULSE_DEVIATION = 10.0
CHAIN_FACTOR = 7.0**0.5  # error at the end of 7 links over that of one, if they are independent
# Ticks; a contact still counts for this time after it was possible: latencies are up to 2
# (effort_unknowns.TAPS).
MEMORY = 3


class Touching:
    """Finder of possible contacts between hulls and obstacles, and with the limits of joints.

    Args:
        setup: robot and scenario.
        noise: standard deviation of the angles [rad].
        zeros: bound of the errors of encoder zeros [rad].
        lengths: bound of the error of each link's length [m].

    Attributes:
        noise: current estimate of the standard deviation of the angles [rad]; may be set.
    """

    def __init__(self, setup: Setup, noise: float, zeros: float, lengths: float) -> None:
        contact = setup.contact
        self._clearance, self.noise = Clearance.of(setup), noise
        self._zeros, self._lengths = zeros, CHAIN_FACTOR * lengths  # rad, m
        self._limits = setup.parameters.limits
        proximity = Proximity(self._clearance, NEAR_GAP)
        self._gaps = GapFunctions(proximity, np.zeros(len(self._clearance.pairs)), self._limits)
        self._has_friction = contact is not None and any(contact.friction.values())
        self._has_contact = contact is not None
        self.reset()

    def reset(self) -> None:
        """Forget what was near."""
        self._recent = deque[Array](maxlen=MEMORY)  # directions of contacts by tick, (m, 7) each
        self._time: float | None = None

    def update(self, time: float, q: Array, qd: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return which contacts may have acted in the tick that ends in a measured state.

        Returns:
            covariance of their impulses on the joints (7, 7) [(N m s)^2], and which joints may be
            at their lower and upper limits (7, 2).
        """
        n = len(q)
        if not self._has_contact:
            return np.zeros((n, n)), np.zeros((n, 2), dtype=np.bool_)
        period = 0.0 if self._time is None else time - self._time
        self._time = time
        reach = STOP_MARGIN + self._zeros + SIGMAS * self.noise + period * np.abs(qd)
        stops = np.array([q < self._limits[0] + reach, q > self._limits[1] - reach]).T
        self._recent.append(self._directions(q, qd, period))
        directions = np.concatenate(self._recent)
        return np.asarray(IMPULSE_DEVIATION**2 * directions.T @ directions), stops

    def _directions(self, q: Array, qd: Array, period: float) -> Array:
        """Return the directions (m, 7) in which possible contacts push the joints."""
        pairs = self._clearance.near(q, NEAR_GAP)
        if not len(pairs):
            return np.zeros((0, len(q)))
        features = self._features(q, pairs)
        gaps, normals, witnesses = self._gaps.measure(features, q)
        angles = SIGMAS * self.noise + self._zeros
        errors = angles * np.linalg.norm(normals, axis=1) + self._lengths
        touching = gaps < MARGIN + errors + period * np.abs(normals @ qd)
        if not self._has_friction:
            return np.asarray(normals[touching])
        tangents = np.empty((len(features), 2, len(q)))
        fill_tangential_jacobian(self._gaps.proximity.model, features, q, witnesses, tangents)
        return np.concatenate([normals[touching], tangents[touching].reshape(-1, len(q))])

    def _features(self, q: Array, pairs: Index) -> Index:
        """Return the features of pairs of hulls that are near, without those of stops."""
        bounds = np.full(len(self._clearance.pairs), np.inf)
        bounds[pairs] = 0.0
        self._gaps.proximity.restart(bounds)
        features = self._gaps.features(q)
        return features[features[:, KIND] < LOWER]
