"""Signed distances between the arm's hulls and what stands around it, and how joints change them.

coal [Pan 2012; Montaut 2022] measures, through pinocchio's GeometryModel: GJK between hulls that
are apart, EPA between hulls that overlap. A distance is positive apart, minus the depth in overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import coal
import numpy as np
import pinocchio as pin
from roboaccord.assembly import Setup
from roboaccord.contact import Fixture, Index, MeshFixture
from roboaccord.description import expand
from roboaccord.state import Array

from packbot.arm import Arm
from packbot.collisions import Shape, read_collisions
from packbot.contact import normal
from packbot.environment import Environment
from packbot.shapes import box_corners
from packbot.solids import Hull

TOLERANCE = 1e-8  # m, of GJK and EPA; at coal's own 1e-6 gaps below it count as none


@dataclass(frozen=True)
class Witness:
    """Hold where pairs of hulls are closest, or deepest in each other.

    Args:
        pairs: their indices in `Clearance.pairs` (k,).
        distances: signed (k,) [m].
        on_a: points of the first hulls, in the world (k, 3) [m].
        on_b: points of the second hulls (k, 3) [m].
        normals: unit vectors from the first into the second hulls (k, 3).
        jacobian: change of the distances with the joints (k, 7) [m/rad].
    """

    pairs: Index
    distances: Array
    on_a: Array
    on_b: Array
    normals: Array
    jacobian: Array


class Clearance:
    """Measure distances between hulls whose links are pairs that can touch.

    Args:
        model: pinocchio's, of the arm.
        shapes: collision shapes of the links.
        environment: what stands around.
        link_pairs: names of links or fixtures that can touch.

    Attributes:
        names: of the hulls: those of the URDF's collisions, then of the fixtures.
        links: to which they belong; a fixture belongs to itself.
        pairs: of indices of hulls (p, 2).
    """

    def __init__(
        self,
        model: pin.Model,
        shapes: Sequence[Shape],
        environment: Environment,
        link_pairs: Sequence[tuple[str, str]],
    ) -> None:
        self.model = model
        self._data = model.createData()
        self._geometry = pin.GeometryModel()
        self.hulls = [shape.hull for shape in shapes]
        for shape, hull in zip(shapes, self.hulls, strict=True):
            self._add(shape.name, shape.link, hull)
        for fixture in environment.fixtures:
            self.hulls.append(_hull_of(fixture))
            self._add(fixture.name, "", self.hulls[-1])
        self.names = tuple(thing.name for thing in self._geometry.geometryObjects)
        fixtures = (fixture.name for fixture in environment.fixtures)
        self.links = (*(shape.link for shape in shapes), *fixtures)
        self.pairs = self._pair(link_pairs)
        self._moves = self._support(self.pairs[:, 1]) - self._support(self.pairs[:, 0])
        self._results = self._measuring()
        self._checks: dict[float, pin.BroadPhaseManager_NaiveCollisionManager] = {}

    @classmethod
    def of(cls, setup: Setup) -> Clearance:
        """Return the clearance of a setup: its arm in its terrain."""
        shapes = read_collisions(expand(setup, base="fixed"))
        contact = setup.contact or normal(setup)
        return cls(Arm.of(setup).model, shapes, setup.terrain, contact.pairs)

    def pair_names(self, i: int) -> tuple[str, str]:
        """Return the names of the two hulls of pair `i`."""
        a, b = self.pairs[i]
        return self.names[a], self.names[b]

    def pair_links(self, i: int) -> tuple[str, str]:
        """Return the links, or fixtures, of the two hulls of pair `i`."""
        a, b = self.pairs[i]
        return self.links[a], self.links[b]

    def distances(self, q: Array) -> Array:
        """Return the signed distances of all pairs (p,) [m] at the angles q (7,) [rad]."""
        pin.updateGeometryPlacements(self.model, self._data, self._geometry, self._found, q)
        pin.computeDistances(self._geometry, self._found)
        return np.array([result.min_distance for result in self._results])

    def closest(self, q: Array) -> tuple[int, float]:
        """Return the pair with the smallest signed distance, and that [m]."""
        distances = self.distances(q)
        i = int(distances.argmin())
        return i, float(distances[i])

    def depth(self, q: Array) -> float:
        """Return how deep the pair in deepest overlap is [m]; 0 where none overlaps."""
        return max(0.0, -self.closest(q)[1])

    def witness(self, q: Array, pairs: Sequence[int] | Index) -> Witness:
        """Return where pairs are closest or deepest, and how the joints change that."""
        pin.computeJointJacobians(self.model, self._data, q)
        pin.updateGeometryPlacements(self.model, self._data, self._geometry, self._found)
        index = np.asarray(pairs, dtype=np.int64)
        rows = np.array([self._measure(i) for i in index.tolist()]).reshape(-1, 13)
        lines = rows[:, 7:]
        return Witness(
            index, rows[:, 0], rows[:, 1:4], rows[:, 4:7], lines[:, :3],
            (lines @ self._data.J) * self._moves[index],
        )  # fmt: skip

    def touches(self, q: Array, margin: float = 0.0) -> bool:
        """Return whether any pair overlaps, or is closer than `margin` [m]."""
        check = self._checks.get(margin)
        if check is None:
            check = self._checks[margin] = self._checking(margin)
        return bool(pin.computeCollisions(self.model, self._data, check, q, True))

    def _measure(self, i: int) -> tuple[float, ...]:
        """Return distance, both points, normal n, and p x n of a pair, one after the other.

        A point p moves along n by n . v + (p x n) . w, where (v, w) is its body's twist at the
        world's origin. Both points lie along n, so that p x n is the same for them.
        """
        found = pin.computeDistance(self._geometry, self._found, i)
        on_a, on_b = found.getNearestPoint1().tolist(), found.getNearestPoint2().tolist()
        (ax, ay, az), (x, y, z) = on_a, found.normal.tolist()
        moment = (ay * z - az * y, az * x - ax * z, ax * y - ay * x)
        return (found.min_distance, *on_a, *on_b, x, y, z, *moment)

    def _add(self, name: str, link: str, hull: Hull) -> None:
        frame = self.model.getFrameId(link, pin.BODY) if link else 0
        place = self.model.frames[frame]
        self._geometry.addGeometryObject(
            pin.GeometryObject(name, place.parentJoint, frame, place.placement, convex(hull))
        )

    def _pair(self, link_pairs: Sequence[tuple[str, str]]) -> Index:
        pairs = [
            (i, j)
            for a, b in link_pairs
            for i, first in enumerate(self.links)
            for j, second in enumerate(self.links)
            if (first, second) == (a, b)
        ]
        for i, j in pairs:
            self._geometry.addCollisionPair(pin.CollisionPair(i, j))
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def _support(self, hulls: Index) -> Array:
        """Return 1 where a joint moves a hull (k, 7)."""
        moved = np.zeros((len(hulls), self.model.nv))
        for row, hull in zip(moved, hulls, strict=True):
            joint = self._geometry.geometryObjects[int(hull)].parentJoint
            row[[j - 1 for j in self.model.supports[joint] if j > 0]] = 1.0
        return moved

    def _measuring(self) -> list[coal.DistanceResult]:
        """Make what distances are measured with, and return where they will be."""
        self._found = self._geometry.createData()
        for request in self._found.distanceRequests:
            request.gjk_tolerance = request.epa_tolerance = TOLERANCE
        return list(self._found.distanceResults)

    def _checking(self, margin: float) -> pin.BroadPhaseManager_NaiveCollisionManager:
        data = self._geometry.createData()
        for request in data.collisionRequests:
            request.gjk_tolerance = request.epa_tolerance = TOLERANCE
            request.security_margin = margin
        return pin.BroadPhaseManager_NaiveCollisionManager(self.model, self._geometry, data)


def convex(hull: Hull) -> coal.Convex:
    """Return a hull as coal takes it."""
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points.extend(list(hull.vertices))
    triangles.extend([coal.Triangle(*corners) for corners in hull.faces.tolist()])
    return coal.Convex(points, triangles)


def _hull_of(fixture: Fixture | MeshFixture) -> Hull:
    """Return the hull of a fixture, in the world."""
    if isinstance(fixture, Fixture):
        return Hull.around(box_corners(fixture.size) + fixture.position, fixture.name)
    return Hull(fixture.vertices + fixture.position, fixture.faces)
