"""Gaps that are near, and the directions in which contacts and joint stops can push."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract import Array, ContactPoint, Index
from roboaccord.scenario import Setup

from packbot.contact.clearance import Clearance
from packbot.contact.features import (
    EDGE,
    LOWER,
    PLAIN,
    ROOM,
    TURNING,
    UPPER,
    VERTEX,
    WIDTH,
    Polyhedra,
    find_features,
    measure,
)
from packbot.contact.forces import across
from packbot.model.arm import Chain


class Proximity:
    """Keep a lower bound of every pair's distance, and measure again where it runs out.

    Args:
        clearance: measures distances.
        near: distance from which on features of hulls are looked at one by one [m].
    """

    def __init__(self, clearance: Clearance, near: float) -> None:
        self.clearance, self.near = clearance, near
        self.chain = Chain.of(clearance.model)
        self.shapes = Polyhedra.pack(clearance.hulls)
        self.owner, self.reach = clearance.owners, clearance.reaches
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

    Attributes:
        held: joints that do not turn (n,). What touches with no other joint between neither opens
            nor closes, and has no gap here: its force would be anything.
    """

    def __init__(self, proximity: Proximity, margins: Array, limits: Array) -> None:
        self.proximity, self.margins, self.limits = proximity, margins, limits
        self._fixed = (proximity.chain.arrays, proximity.shapes.arrays, proximity.owner)
        kinds = ((LOWER, UPPER), range(limits.shape[1]))
        rows = [(kind, joint, 0, 0, 0, -1) for kind, joint in product(*kinds)]
        self._stops = np.array(rows, dtype=np.int64)
        self.held = np.zeros(limits.shape[1], dtype=np.bool_)

    def features(self, q: Array) -> Index:
        """Return the features that are near, and the limits (m, 6)."""
        stops = self._stops[np.isfinite(self.limits).ravel()]
        return self.turning(np.concatenate([self.proximity.features(q), stops]))

    def turning(self, features: Index) -> Index:
        """Return the features (m, 6) whose gaps a joint that is not held can change."""
        return features if not self.held.any() else features[self.changing(features)]

    def changing(self, features: Index) -> np.ndarray:
        """Return whether a joint that is not held can change gaps (m,)."""
        stops = features[:, 0] >= LOWER
        free = np.empty(len(features), dtype=np.bool_)
        free[stops] = ~self.held[features[stops, 1]]
        free[~stops] = self.proximity.reach[features[~stops, 5]][:, ~self.held].any(axis=1)
        return free

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
        found = np.empty(m), np.empty((m, n)), np.zeros((m, 9)), np.empty(m)
        measure(*self._fixed, self.limits, self.margins, features, q, v, shifts, *found)
        return found

    def name(self, feature: Array) -> str:
        """Return the name of a contact: `link/hull link/hull`, or the joint at its limit."""
        clearance = self.proximity.clearance
        kind, a, _, b = feature[:4]
        if kind >= LOWER:
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
            if f[0] in (VERTEX, EDGE)
        ]


def same(features: Index, others: Index) -> np.ndarray:
    """Return where features (m, 6) are among others (k, 6), as booleans (m,)."""
    known = set(map(tuple, others.tolist()))
    return np.array([tuple(row) in known for row in features.tolist()], dtype=np.bool_)


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
        across(proximity.chain.arrays, proximity.owner, features, q, witnesses, tangents)
        return np.concatenate([rows[touching], tangents[touching].reshape(-1, len(q))])

    def _features(self, q: Array, pairs: Index) -> Index:
        bounds = np.full(len(self._clearance.pairs), np.inf)
        bounds[pairs] = 0.0
        self._gaps.proximity.restart(bounds)
        features = self._gaps.features(q)
        return features[features[:, 0] < LOWER]
