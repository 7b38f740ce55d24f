"""Gaps of features and limits with everything that measuring them needs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from roboaccord.contact import ContactPoint, Index
from roboaccord.state import Array

from packbot.features import EDGE, LOWER, VERTEX, WIDTH, measure, measure_turning
from packbot.proximity import Proximity


@dataclass
class Closed:
    """Hold gaps that are closed.

    Args:
        features: (m, 6).
        active: where the last solution had a force (m,); a guess for the next.
    """

    features: Index = field(default_factory=lambda: np.zeros((0, WIDTH), dtype=np.int64))
    active: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))


class Touch:
    """Measure gaps.

    Args:
        proximity: knows what is near.
        margins: of every pair (p,) [m].
        limits: lower and upper angles of the joints (2, n) [rad].
    """

    def __init__(self, proximity: Proximity, margins: Array, limits: Array) -> None:
        self.proximity, self.margins, self.limits = proximity, margins, limits
        self._fixed = (proximity.chain.arrays, proximity.shapes.arrays, proximity.owner)

    def features(self, q: Array) -> Index:
        """Return the features that are near, and the limits (m, 6)."""
        near = self.proximity.features(q)
        joints = np.arange(len(q))
        stops = np.zeros((2 * len(q), WIDTH), dtype=np.int64)
        stops[:, 0] = LOWER + np.repeat([0, 1], len(q))
        stops[:, 1] = np.concatenate([joints, joints])
        stops[:, 5] = -1
        gaps = np.concatenate([q - self.limits[0], self.limits[1] - q])
        return np.concatenate([near, stops[np.isfinite(gaps)]])

    def measure(self, features: Index, q: Array) -> tuple[Array, Array, Array]:
        """Return gaps (m,) [m, rad], their rows (m, n), and points and normals (m, 9)."""
        m, n = len(features), len(q)
        gaps, rows, spots = np.empty(m), np.empty((m, n)), np.zeros((m, 9))
        measure(*self._fixed, self.limits, self.margins, features, q, gaps, rows, spots)
        return gaps, rows, spots

    def measure_turning(
        self, features: Index, q: Array, v: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Return gaps, rows and spots, and dJ/dt v (m,) [m/s^2, rad/s^2]."""
        m, n = len(features), len(q)
        gaps, rows, spots, bias = np.empty(m), np.empty((m, n)), np.zeros((m, 9)), np.empty(m)
        measure_turning(
            *self._fixed, self.limits, self.margins, features, q, v, gaps, rows, spots, bias
        )
        return gaps, rows, spots, bias

    def name(self, feature: Array) -> str:
        """Return what touches: `link/hull link/hull`, or the joint at its limit."""
        clearance = self.proximity.clearance
        kind, a, _, b = feature[:4]
        if kind >= LOWER:
            return str(clearance.model.names[int(a) + 1])
        return " ".join(f"{clearance.links[h]}/{clearance.names[h]}" for h in sorted((a, b)))

    def points(self, closed: Closed, q: Array, forces: Array) -> list[ContactPoint]:
        """Return closed features of hulls as contact points."""
        gaps, _, spots = self.measure(closed.features, q)
        links = self.proximity.clearance.links
        return [
            ContactPoint(
                (links[f[1]], links[f[3]]),
                0.5 * (spot[:3] + spot[3:6]),
                spot[6:].copy(),
                float(force),
                -float(gap + self.margins[f[5]]),
            )
            for f, gap, spot, force in zip(closed.features, gaps, spots, forces, strict=True)
            if f[0] in (VERTEX, EDGE)
        ]


def same(features: Index, others: Index) -> np.ndarray:
    """Return where features (m, 6) are among others (k, 6), as booleans (m,)."""
    if not len(features) or not len(others):
        return np.zeros(len(features), dtype=np.bool_)
    found = (features[:, None, :] == others[None, :, :]).all(axis=2).any(axis=1)
    return np.asarray(found)
