"""Active gaps of features and joint limits, and their measurement."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np
from roboaccord.contract.contact import ContactPoint, Index
from roboaccord.contract.state import Array

from packbot.contact.features import EDGE, LOWER, PLAIN, TURNING, UPPER, VERTEX, WIDTH, measure
from packbot.contact.proximity import Proximity


@dataclass
class ClosedGaps:
    """Hold the closed gaps (active contacts).

    Args:
        features: (m, 6).
        active: where the last solution had a force (m,); a guess for the next.
    """

    features: Index = field(default_factory=lambda: np.zeros((0, WIDTH), dtype=np.int64))
    active: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))


class GapFunctions:
    """Measure gaps.

    Args:
        proximity: knows what is near.
        margins: of every pair (p,) [m].
        limits: lower and upper angles of the joints (2, n) [rad].
    """

    def __init__(self, proximity: Proximity, margins: Array, limits: Array) -> None:
        self.proximity, self.margins, self.limits = proximity, margins, limits
        self._fixed = (proximity.chain.arrays, proximity.shapes.arrays, proximity.owner)
        kinds = ((LOWER, UPPER), range(limits.shape[1]))
        rows = [(kind, joint, 0, 0, 0, -1) for kind, joint in product(*kinds)]
        self._stops = np.array(rows, dtype=np.int64)

    def features(self, q: Array) -> Index:
        """Return the features that are near, and the limits (m, 6)."""
        stops = self._stops[np.isfinite(self.limits).ravel()]
        return np.concatenate([self.proximity.features(q), stops])

    def measure(self, features: Index, q: Array) -> tuple[Array, Array, Array]:
        """Return gaps (m,) [m, rad], their Jacobian (m, n), and points and normals (m, 9)."""
        return self._measure(features, q, q, PLAIN)[:3]

    def measure_turning(
        self, features: Index, q: Array, v: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Return gaps, rows and witnesses, and dJ/dt v (m,) [m/s^2, rad/s^2]."""
        return self._measure(features, q, v, TURNING)

    def _measure(
        self, features: Index, q: Array, v: Array, shifts: Array
    ) -> tuple[Array, Array, Array, Array]:
        m, n = len(features), len(q)
        gaps, rows, witnesses, bias = np.empty(m), np.empty((m, n)), np.zeros((m, 9)), np.empty(m)
        measure(
            *self._fixed,
            self.limits,
            self.margins,
            features,
            q,
            v,
            shifts,
            gaps,
            rows,
            witnesses,
            bias,
        )
        return gaps, rows, witnesses, bias

    def name(self, feature: Array) -> str:
        """Return the name of a contact: `link/hull link/hull`, or the joint at its limit."""
        clearance = self.proximity.clearance
        kind, a, _, b = feature[:4]
        if kind >= LOWER:
            return str(clearance.model.names[int(a) + 1])
        return " ".join(f"{clearance.links[h]}/{clearance.names[h]}" for h in sorted((a, b)))

    def points(self, closed: ClosedGaps, q: Array, forces: Array) -> list[ContactPoint]:
        """Return closed features of hulls as contact points."""
        gaps, _, witnesses = self.measure(closed.features, q)
        links = self.proximity.clearance.links
        return [
            ContactPoint(
                (links[f[1]], links[f[3]]),
                0.5 * (witness[:3] + witness[3:6]),
                witness[6:].copy(),
                float(force),
                -float(gap + self.margins[f[5]]),
            )
            for f, gap, witness, force in zip(closed.features, gaps, witnesses, forces, strict=True)
            if f[0] in (VERTEX, EDGE)
        ]


def same(features: Index, others: Index) -> np.ndarray:
    """Return where features (m, 6) are among others (k, 6), as booleans (m,)."""
    known = set(map(tuple, others.tolist()))
    return np.array([tuple(row) in known for row in features.tolist()], dtype=np.bool_)
