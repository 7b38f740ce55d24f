"""Gaps that are near, and the directions in which contacts and joint stops can push.

`Proximity` keeps lower bounds of all distances and measures again only pairs whose bounds run out;
of these it finds the features. `GapFunctions` measures the gaps of features and limits, and their
derivatives. `ClosedGaps` are those in contact.

There is nothing to tune: the reference gives `near`, margins and limits. Bounds in Proximity must
never be above the distance, or contacts would be missed (test_packbot_reference). A kind of gap may
be added: a kind in features.py, with its rows in `GapFunctions.features` and a name in `name`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np
from roboaccord.contract import Array, ContactPoint, Index

from packbot.contact import features as kernels
from packbot.contact.clearance import Clearance
from packbot.contact.polyhedra import pack
from packbot.model.chain import chain_of


class Proximity:
    """Lower bounds of the distances of all pairs, and the features of those that are near.

    Args:
        clearance: measures distances.
        near: distance below which features of hulls are looked at one by one [m].

    Attributes:
        bounds: no larger than the distances (p,) [m].
    """

    def __init__(self, clearance: Clearance, near: float) -> None:
        self.clearance, self.near = clearance, near
        self.chain = chain_of(clearance.model)
        self.shapes = pack(clearance.hulls)
        self.owner, self.reach = clearance.owners, clearance.reaches
        self.bounds = np.zeros(len(clearance.pairs))
        self._rows = np.zeros((kernels.ROOM, kernels.WIDTH), dtype=np.int64)  # for kernels to fill

    def restart(self, distances: Array) -> None:
        """Restart from known distances of all pairs (p,) [m]."""
        self.bounds = distances.copy()

    def move(self, angles: Array) -> None:
        """Lower the bounds by a motion of at most `angles` (n,) [rad]."""
        self.bounds -= self.reach @ angles

    def fastest(self, angles: Array) -> float:
        """Return how far the pairs that can come near may move while joints turn so [m]."""
        moves = self.reach @ angles
        close = self.bounds - moves < self.near
        return float(moves[close].max()) if close.any() else 0.0

    def features(self, q: Array) -> Index:
        """Return the features of all pairs that are nearer than `near` (m, 6)."""
        look = np.flatnonzero(self.bounds < self.near)
        if not len(look):
            return self._rows[:0].copy()
        witness = self.clearance.witness(q, look)
        self.bounds[look] = witness.distances
        features = [
            self._of_pair(q, int(pair), along)
            for pair, distance, along in zip(look, witness.distances, witness.normals, strict=True)
            if distance < self.near
        ]
        return np.concatenate([self._rows[:0], *features])

    def _of_pair(self, q: Array, pair: int, along: Array) -> Index:
        a, b = self.clearance.pairs[pair]
        count = kernels.find_features(
            self.chain, self.shapes, self.owner, q, pair, a, b, along, self.near,
            self._rows,
        )  # fmt: skip
        return self._rows[:count].copy()


@dataclass
class ClosedGaps:
    """Closed gaps (active contacts).

    Args:
        features: their rows (m, 6), as in features.py.
        active: whether each had a force in the last solution (m,), as a guess for the next.
    """

    features: Index = field(default_factory=lambda: np.zeros((0, kernels.WIDTH), dtype=np.int64))
    active: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))


class GapFunctions:
    """Gaps of hulls and joint limits, and their derivatives.

    Args:
        proximity: finds what is near.
        margins: of every pair (p,) [m].
        limits: lower and upper angles of the joints (2, n) [rad].

    Attributes:
        held: whether each joint is locked (n,). Contacts that only locked joints could change
            neither open nor close; they have no gap here, as their force could be anything.
    """

    def __init__(self, proximity: Proximity, margins: Array, limits: Array) -> None:
        self.proximity, self.margins, self.limits = proximity, margins, limits
        self._fixed = (proximity.chain, proximity.shapes, proximity.owner)
        ends = product((kernels.LOWER, kernels.UPPER), range(limits.shape[1]))
        self._stops = np.array([(*end, 0, 0, 0, -1) for end in ends], dtype=np.int64)
        self.held = np.zeros(limits.shape[1], dtype=np.bool_)

    def features(self, q: Array) -> Index:
        """Return the features that are near, and the limits (m, 6)."""
        stops = self._stops[np.isfinite(self.limits).ravel()]
        features = np.concatenate([self.proximity.features(q), stops])
        return features[self.changing(features)] if self.held.any() else features

    def changing(self, features: Index) -> np.ndarray:
        """Return whether a joint that is not held can change gaps (m,)."""
        stops = features[:, kernels.KIND] >= kernels.LOWER
        free = np.empty(len(features), dtype=np.bool_)
        joints, pairs = features[stops, kernels.HULL_A], features[~stops, kernels.PAIR]
        free[stops] = ~self.held[joints]
        free[~stops] = self.proximity.reach[pairs][:, ~self.held].any(axis=1)
        return free

    def measure(self, features: Index, q: Array) -> tuple[Array, Array, Array]:
        """Return gaps (m,) [m, rad], their Jacobian (m, n), and points and normals (m, 9)."""
        return self.measure_turning(features, q, q, kernels.PLAIN)[:3]

    def measure_turning(
        self, features: Index, q: Array, v: Array, shifts: Array = kernels.TURNING
    ) -> tuple[Array, Array, Array, Array]:
        """Return gaps, rows and witnesses, and dJ/dt v (m,) [m/s^2, rad/s^2]."""
        m, n = len(features), len(q)
        filled = np.empty(m), np.empty((m, n)), np.zeros((m, 9)), np.empty(m)
        kernels.measure(*self._fixed, self.limits, self.margins, features, q, v, shifts, *filled)
        return filled

    def name(self, feature: Array) -> str:
        """Return the name of a contact: `link/hull link/hull`, or the joint at its limit."""
        clearance = self.proximity.clearance
        kind, a, _, b = feature[:4]
        if kind >= kernels.LOWER:
            return str(clearance.model.names[int(a) + 1])
        return " ".join(map(clearance.full_name, sorted((a, b))))

    def points(self, closed: ClosedGaps, q: Array, forces: Array) -> list[ContactPoint]:
        """Return closed features of hulls as contact points."""
        gaps, _, witnesses = self.measure(closed.features, q)
        links = self.proximity.clearance.links
        points = list[ContactPoint]()
        for row, gap, witness, force in zip(closed.features, gaps, witnesses, forces, strict=True):
            kind, a, _, b, _, pair = row
            if kind in (kernels.VERTEX, kernels.EDGE):
                middle, normal = 0.5 * (witness[:3] + witness[3:6]), witness[6:].copy()
                depth = -float(gap + self.margins[pair])
                points.append(
                    ContactPoint((links[a], links[b]), middle, normal, float(force), depth)
                )
        return points


def same(features: Index, others: Index) -> np.ndarray:
    """Return where features (m, 6) are among others (k, 6), as booleans (m,)."""
    rows = set(map(tuple, others.tolist()))
    return np.array([tuple(row) in rows for row in features.tolist()], dtype=np.bool_)
