"""Broad phase by conservative advancement: lower bounds on distances from joint motion."""

from __future__ import annotations

import numpy as np
from roboaccord.contract.contact import Index
from roboaccord.contract.state import Array

from packbot.contact.clearance import Clearance
from packbot.contact.features import ROOM, WIDTH, find_features
from packbot.contact.polyhedra import Polyhedra
from packbot.model.chain import Chain


class Proximity:
    """Keep a lower bound of every pair's distance, and measure again where it runs out.

    Args:
        clearance: measures distances.
        near: distance from which on features of hulls are looked at one by one [m].
    """

    def __init__(self, clearance: Clearance, near: float) -> None:
        self.clearance, self.near = clearance, near
        model = clearance.model
        self.chain = Chain.of(model)
        self.shapes = Polyhedra.pack(clearance.hulls)
        links = set(clearance.links)
        bodies = {f.name: f.parentJoint for f in model.frames if f.name in links}
        self.owner = np.array([bodies.get(name, 0) for name in clearance.links], dtype=np.int64)
        self.reach = clearance.reaches
        self.bounds = np.zeros(len(clearance.pairs))
        self._found = np.zeros((ROOM, WIDTH), dtype=np.int64)

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
        count = find_features(
            self.chain.arrays, self.shapes.arrays, self.owner, q, pair, a, b, along, self.near,
            self._found,
        )  # fmt: skip
        return self._found[:count].copy()
