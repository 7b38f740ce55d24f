"""Gaps between hulls and of joint limits: which of them are near, their values and derivatives.

A gap is a distance of two hulls less their margin [m], or of a joint from its limit [rad]: contact
begins where it becomes 0. The reference simulator (simulators/stepping.py, motion.py) uses them.
What a gap is measured between is its feature, a row of six integers (features.py): the columns
KIND, HULL_A, PART_A, HULL_B, PART_B and PAIR.

`Proximity` keeps a lower bound of the distance of each pair of hulls, and measures a pair again
only if its bound falls below a threshold. It then finds the features of the pair: vertices and
edges that may touch (features.py). `GapFunctions` measures the gaps of features and joint limits,
and their derivatives, which are the directions in which contacts push the joints. `ClosedGaps` are
the gaps in contact.

A bound of Proximity must never exceed the distance, or contacts would be missed
(test_packbot_reference).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from roboaccord.contract import Array, ContactPoint, Index

from packbot.contact import features as kernels
from packbot.contact.clearance import Clearance
from packbot.contact.polyhedra import pack
from packbot.model.chain import chain_of

NO_FEATURES = np.zeros((0, kernels.WIDTH), dtype=np.int64)


class Proximity:
    """Lower bounds of the distances of all pairs, and the features of pairs that are near.

    Args:
        clearance: measures distances.
        near: distance below which a pair is near, and its features are found [m].

    Attributes:
        bounds: lower bounds of the distances (p,) [m].
        model: joints and hulls, as the kernels in features.py take them.
    """

    def __init__(self, clearance: Clearance, near: float) -> None:
        self.clearance, self.near = clearance, near
        chain, hulls = chain_of(clearance.model), pack(clearance.hulls)
        self.model = kernels.HullModel(chain, hulls, clearance.owners)
        self.bounds = np.zeros(len(clearance.pairs))
        # Scratch memory for the features of a pair.
        self._rows = np.zeros((kernels.MAX_PAIR_FEATURES, kernels.WIDTH), dtype=np.int64)

    def restart(self, distances: Array) -> None:
        """Restart from known distances of all pairs (p,) [m]."""
        self.bounds = distances.copy()

    def move(self, angles: Array) -> None:
        """Lower the bounds by what a motion of the joints by up to `angles` (n,) [rad] changes."""
        self.bounds -= self.clearance.reaches @ angles

    def largest_change(self, angles: Array) -> float:
        """Return the largest change of distance [m] in a motion by up to `angles` (n,) [rad].

        Only pairs that may come near in this motion count.
        """
        changes = self.clearance.reaches @ angles
        may_come_near = self.bounds - changes < self.near
        return float(changes[may_come_near].max()) if may_come_near.any() else 0.0

    def features(self, q: Array) -> Index:
        """Return the features of all pairs that are nearer than `near` (m, 6)."""
        candidates = np.flatnonzero(self.bounds < self.near)
        if not len(candidates):
            return self._rows[:0].copy()
        witness = self.clearance.witness(q, candidates)
        self.bounds[candidates] = witness.distances
        features = [self._rows[:0]]
        for pair, normal in zip(candidates.tolist(), witness.normals, strict=True):
            if self.bounds[pair] < self.near:
                features.append(self._features_of_pair(q, pair, normal))
        return np.concatenate(features)

    def _features_of_pair(self, q: Array, pair: int, along: Array) -> Index:
        """Return the near features (m, 6) of a pair whose unit normal is `along` (3,)."""
        a, b = self.clearance.pairs[pair]
        count = kernels.find_features(self.model, q, pair, a, b, along, self.near, self._rows)
        return self._rows[:count].copy()


class ClosedGaps(NamedTuple):
    """Closed gaps (active contacts).

    Args:
        features: rows as in features.py (m, 6).
        active: whether each gap had a force in the last solution, a guess for the next one (m,).
    """

    features: Index = NO_FEATURES
    active: np.ndarray = np.zeros(0, dtype=np.bool_)


class GapFunctions:
    """Gaps of hulls and joint limits, and their derivatives.

    Args:
        proximity: finds the pairs that are near.
        margins: margin of every pair, the distance at which its gap is 0 (p,) [m].
        limits: lower and upper angles of the joints (2, n) [rad].

    Attributes:
        locked: whether each joint is locked (n,). A gap that only locked joints could change is
            left out: its force would be undetermined.
    """

    def __init__(self, proximity: Proximity, margins: Array, limits: Array) -> None:
        self.proximity, self.margins, self.limits = proximity, margins, limits
        n = limits.shape[1]
        self.locked = np.zeros(n, dtype=np.bool_)
        # Features of the lower limits of all joints, then of the upper ones.
        self._stops = np.zeros((2 * n, kernels.WIDTH), dtype=np.int64)
        self._stops[:, kernels.KIND] = np.repeat([kernels.LOWER, kernels.UPPER], n)
        self._stops[:, kernels.HULL_A] = np.tile(np.arange(n), 2)  # the joints
        self._stops[:, kernels.PAIR] = -1  # none
        self.forget_search()

    def features(self, q: Array) -> Index:
        """Return the features that are near, and those of joint limits (m, 6)."""
        stops = self._stops[np.isfinite(self.limits).ravel()]
        features = np.concatenate([self.proximity.features(q), stops])
        return features[self.can_change(features)] if self.locked.any() else features

    def forget_search(self) -> None:
        """Forget the last result of `near_features`."""
        # Angles [rad], features there, and bounds of the distances [m].
        self._last_search = np.zeros(0), NO_FEATURES, np.zeros(0)

    def near_features(self, q: Array) -> Index:
        """Return `features`; at the angles of the last search its result, with its bounds."""
        proximity = self.proximity
        angles, features, bounds = self._last_search
        if np.array_equal(q, angles):
            proximity.bounds[:] = bounds
            return features
        features = self.features(q)
        self._last_search = q.copy(), features, proximity.bounds.copy()
        return features

    def can_change(self, features: Index) -> np.ndarray:
        """Return for each feature whether a joint that is not locked can change its gap (m,)."""
        is_stop = features[:, kernels.KIND] >= kernels.LOWER
        joints, pairs = features[is_stop, kernels.HULL_A], features[~is_stop, kernels.PAIR]
        reaches = self.proximity.clearance.reaches[pairs][:, ~self.locked]
        can_change = np.empty(len(features), dtype=np.bool_)
        can_change[is_stop] = ~self.locked[joints]
        can_change[~is_stop] = reaches.any(axis=1)
        return can_change

    def measure(self, features: Index, q: Array) -> tuple[Array, Array, Array]:
        """Return gaps (m,) [m, rad], their Jacobian (m, n), and points and normals (m, 9)."""
        return self.measure_turning(features, q, q, kernels.PLAIN)[:3]

    def contacts(self, features: Index, q: Array) -> kernels.Contacts:
        """Return features (m, 6) in contact with their Jacobian, points and normals."""
        _, jacobian, witnesses = self.measure(features, q)
        return kernels.Contacts(features, jacobian, witnesses)

    def measure_turning(
        self, features: Index, q: Array, v: Array, shifts: Array = kernels.TURNING
    ) -> kernels.GapMeasures:
        """Return gaps, Jacobian J, points and normals as `measure`, and dJ/dt v (m,).

        Args:
            features: (m, 6).
            q, v: joint angles [rad] and rates [rad/s] (n,).
            shifts: times at which J is evaluated, as in `features.measure`.
        """
        m, n, model = len(features), len(q), self.proximity.model
        measures = kernels.GapMeasures(np.empty(m), np.empty((m, n)), np.zeros((m, 9)), np.empty(m))
        kernels.measure(model, self.limits, self.margins, features, q, v, shifts, measures)
        return measures

    def name(self, feature: Index) -> str:
        """Return the name of a contact: `link/hull link/hull`, or the joint at its limit."""
        clearance = self.proximity.clearance
        if feature[kernels.KIND] >= kernels.LOWER:
            joint = int(feature[kernels.HULL_A])
            return str(clearance.model.names[joint + 1])  # the first name is that of the world
        hulls = sorted(feature[[kernels.HULL_A, kernels.HULL_B]])
        return " ".join(map(clearance.full_name, hulls))

    def points(
        self, closed: ClosedGaps, q: Array, forces: Array, friction: Array
    ) -> list[ContactPoint]:
        """Return the contact points of closed gaps between hulls.

        Args:
            closed: the gaps.
            q: joint angles (n,) [rad].
            forces: along the normals (m,) [N].
            friction: on hulls b, in the world (m, 3) [N].
        """
        gaps, _, witnesses = self.measure(closed.features, q)
        links = self.proximity.clearance.links
        points = list[ContactPoint]()
        rows = zip(closed.features, gaps, witnesses, forces, friction, strict=True)
        for feature, gap, witness, force, tangential in rows:
            if feature[kernels.KIND] < kernels.LOWER:
                middle = 0.5 * (witness[:3] + witness[3:6])
                normal, margin = witness[6:].copy(), float(self.margins[feature[kernels.PAIR]])
                pair_links = links[feature[kernels.HULL_A]], links[feature[kernels.HULL_B]]
                known = float(force), -float(gap + margin), tangential, margin
                points.append(ContactPoint(pair_links, middle, normal, *known))
        return points


def are_among(features: Index, others: Index) -> np.ndarray:
    """Return for each of the features (m, 6) whether it is among others (k, 6)."""
    rows = set(map(tuple, others.tolist()))
    return np.array([tuple(row) in rows for row in features.tolist()], dtype=np.bool_)
