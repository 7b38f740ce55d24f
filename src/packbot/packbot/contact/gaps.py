"""Gaps that are near, and the directions in which contacts and joint stops can push.

There is no number to tune here; `near`, margins and limits are given by simulators/reference.py.
Bounds in Proximity must never be above the distance, or contacts would be missed
(test_packbot_reference). A kind of gap may be added: a kind in features.py, with its rows in
`GapFunctions.features` and a name in `name`.
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
    """Keep a lower bound of every pair's distance, and measure again where it runs out.

    Args:
        clearance: measures distances.
        near: distance from which on features of hulls are looked at one by one [m].
    """

    def __init__(self, clearance: Clearance, near: float) -> None:
        self.clearance, self.near = clearance, near
        self.chain = chain_of(clearance.model)
        self.shapes = pack(clearance.hulls)
        self.owner, self.reach = clearance.owners, clearance.reaches
        self.bounds = np.zeros(len(clearance.pairs))
        self._found = np.zeros((kernels.ROOM, kernels.WIDTH), dtype=np.int64)

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
            return self._found[:0].copy()
        witness = self.clearance.witness(q, look)
        self.bounds[look] = witness.distances
        found = [
            self._of_pair(q, int(pair), along)
            for pair, distance, along in zip(look, witness.distances, witness.normals, strict=True)
            if distance < self.near
        ]
        return np.concatenate([self._found[:0], *found])

    def _of_pair(self, q: Array, pair: int, along: Array) -> Index:
        a, b = self.clearance.pairs[pair]
        count = kernels.find_features(
            self.chain, self.shapes, self.owner, q, pair, a, b, along, self.near,
            self._found,
        )  # fmt: skip
        return self._found[:count].copy()


@dataclass
class ClosedGaps:
    """Closed gaps (active contacts).

    Args:
        features: (m, 6).
        active: where the last solution had a force (m,); a guess for the next.
    """

    features: Index = field(default_factory=lambda: np.zeros((0, kernels.WIDTH), dtype=np.int64))
    active: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))


class GapFunctions:
    """Measure gaps.

    Args:
        proximity: knows what is near.
        margins: of every pair (p,) [m].
        limits: lower and upper angles of the joints (2, n) [rad].

    Attributes:
        held: joints that do not turn (n,). What touches with no other joint between neither opens
            nor closes, and has no gap here: its force would be anything.
    """

    def __init__(self, proximity: Proximity, margins: Array, limits: Array) -> None:
        self.proximity, self.margins, self.limits = proximity, margins, limits
        self._fixed = (proximity.chain, proximity.shapes, proximity.owner)
        kinds = product((kernels.LOWER, kernels.UPPER), range(limits.shape[1]))
        rows = [(*each, 0, 0, 0, -1) for each in kinds]
        self._stops = np.array(rows, dtype=np.int64)
        self.held = np.zeros(limits.shape[1], dtype=np.bool_)

    def features(self, q: Array) -> Index:
        """Return the features that are near, and the limits (m, 6)."""
        stops = self._stops[np.isfinite(self.limits).ravel()]
        found = np.concatenate([self.proximity.features(q), stops])
        return found[self.changing(found)] if self.held.any() else found

    def changing(self, features: Index) -> np.ndarray:
        """Return whether a joint that is not held can change gaps (m,)."""
        stops = features[:, 0] >= kernels.LOWER
        free = np.empty(len(features), dtype=np.bool_)
        free[stops] = ~self.held[features[stops, 1]]
        free[~stops] = self.proximity.reach[features[~stops, 5]][:, ~self.held].any(axis=1)
        return free

    def measure(self, features: Index, q: Array) -> tuple[Array, Array, Array]:
        """Return gaps (m,) [m, rad], their Jacobian (m, n), and points and normals (m, 9)."""
        return self.measure_turning(features, q, q, kernels.PLAIN)[:3]

    def measure_turning(
        self, features: Index, q: Array, v: Array, shifts: Array = kernels.TURNING
    ) -> tuple[Array, Array, Array, Array]:
        """Return gaps, rows and witnesses, and dJ/dt v (m,) [m/s^2, rad/s^2]."""
        m, n = len(features), len(q)
        found = np.empty(m), np.empty((m, n)), np.zeros((m, 9)), np.empty(m)
        kernels.measure(*self._fixed, self.limits, self.margins, features, q, v, shifts, *found)
        return found

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
        return [
            ContactPoint(
                (links[f[1]], links[f[3]]),
                0.5 * (witness[:3] + witness[3:6]),
                witness[6:].copy(),
                float(force),
                -float(gap + self.margins[f[5]]),
            )
            for f, gap, witness, force in zip(closed.features, gaps, witnesses, forces, strict=True)
            if f[0] in (kernels.VERTEX, kernels.EDGE)
        ]


def same(features: Index, others: Index) -> np.ndarray:
    """Return where features (m, 6) are among others (k, 6), as booleans (m,)."""
    known = set(map(tuple, others.tolist()))
    return np.array([tuple(row) in known for row in features.tolist()], dtype=np.bool_)
