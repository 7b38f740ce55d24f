"""Signed distances between the arm's hulls and obstacles, with closest points and gradients.

The library coal [Pan 2012; Montaut 2022] measures the distances, through pinocchio's GeometryModel:
by GJK between hulls that are apart, by EPA between hulls that overlap, whose distance is minus the
depth of overlap. If two hulls nearly touch, coal's normal can be wrong; it is then checked, and
replaced by a separating axis. Which pairs of links are measured is decided in laws.py, by
config/packbot.srdf.

TOLERANCE and NEAR_TOUCHING follow from measurements of coal: larger ones let wrong normals through.
test_packbot_clearance compares with an exact method.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin
from roboaccord.contract import (
    AccordError,
    Array,
    ContactPoint,
    CylinderFixture,
    Fixture,
    FreeBody,
    Index,
    MeshFixture,
)
from roboaccord.scenario import Setup

from packbot.contact.collisions import Fixtures, Shape, read_collisions
from packbot.contact.laws import normal
from packbot.contact.solids import Hull, box_corners, least_overlap
from packbot.model.arm import Arm

# m; tolerance of GJK and EPA. With coal's default of 1e-6, smaller gaps are measured as 0; with
# 1e-10, some larger gaps are, too.
TOLERANCE = 1e-8
# m; the normal of a smaller gap is checked: 1 of 70 is wrong within 1e-7 m, none above 1e-6 m.
NEAR_TOUCHING = 1e-5


class Witness(NamedTuple):
    """Witness points of pairs of hulls: where they are closest, or penetrate deepest.

    Args:
        pairs: indices of the pairs in `Clearance.pairs` (k,).
        distances: signed distances (k,) [m].
        on_a: witness points on the first hulls, in the world (k, 3) [m].
        on_b: witness points on the second hulls, in the world (k, 3) [m].
        normals: unit vectors from the first to the second hulls (k, 3).
        jacobian: derivatives of the distances by the joint angles (k, 7) [m/rad].
    """

    pairs: Index
    distances: Array
    on_a: Array
    on_b: Array
    normals: Array
    jacobian: Array


class Clearance:
    """Distances between the hulls of links and obstacles that can touch.

    Args:
        model: pinocchio's model of the arm.
        shapes: collision shapes of the links.
        fixtures: fixed obstacles.
        link_pairs: pairs of names of links, fixtures or bodies that can touch.
        bodies: free bodies, whose frames the model has.

    Attributes:
        names: names of the h hulls: those of the URDF's collisions, of the fixtures, of the bodies.
        hulls: the hulls, in the frames of their links; those of fixtures in the world.
        bodies: the hulls as shapes of coal.
        links: link of each hull; a fixture counts as a link of its own.
        owners: joint that carries each hull, by pinocchio's numbers; 0 is the world (h,).
        pairs: pairs of indices of hulls (p, 2).
        reaches: bound of the derivative of each distance by each joint angle (p, 7) [m/rad]; 0 for
            a joint that moves both hulls or none.
    """

    def __init__(
        self,
        model: pin.Model,
        shapes: Sequence[Shape],
        fixtures: Fixtures,
        link_pairs: Sequence[tuple[str, str]],
        bodies: Sequence[FreeBody] = (),
    ) -> None:
        self.model = model
        self._data = model.createData()
        solids = *fixtures, *(body.shape for body in bodies)
        self.names = tuple(solid.name for solid in (*shapes, *solids))
        self.links = (*(shape.link for shape in shapes), *(solid.name for solid in solids))
        self.hulls = [shape.hull for shape in shapes] + [hull_of(solid) for solid in solids]
        self.bodies = [convex(hull) for hull in self.hulls]
        self._geometry = geometry_model(model, self.names, self.links, self.bodies)
        self.pairs = add_pairs(self._geometry, self.links, link_pairs)
        owners = [solid.parentJoint for solid in self._geometry.geometryObjects]
        self.owners = np.array(owners, dtype=np.int64)
        self._moved_side = moved_sides(model, self.owners, self.pairs)
        # Of the hull of each pair that the joint moves alone.
        reach_a, reach_b = corner_reaches(model, self._geometry, self.hulls)[self.pairs.T]
        is_a, is_b = self._moved_side < 0.0, self._moved_side > 0.0
        self.reaches = np.where(is_b, reach_b, np.where(is_a, reach_a, 0.0))
        self._measured = distance_data(self._geometry)
        self._results = list(self._measured.distanceResults)  # which each query overwrites
        # Distances as measured last [m], and the angles at which that was [rad].
        self._last_distances = np.full(len(self.pairs), -np.inf)
        self._last_angles = np.zeros((len(self.pairs), model.nv))
        self._checkers: dict[float, pin.BroadPhaseManager_NaiveCollisionManager] = {}  # by margin

    @classmethod
    def of(cls, setup: Setup, model: pin.Model | None = None) -> Clearance:
        """Return the clearance of a setup: its arm in its terrain.

        With `model`, a model of the arm and the free bodies, it includes these.
        """
        shapes, contact = read_collisions(setup.urdf(base="fixed")), setup.contact or normal(setup)
        bodies = setup.bodies if model else ()
        return cls(model or Arm.of(setup).model, shapes, setup.terrain, contact.pairs, bodies)

    def pair_names(self, i: int) -> tuple[str, str]:
        """Return the names of the two hulls of pair `i`."""
        a, b = self.pairs[i]
        return self.names[a], self.names[b]

    def pair_links(self, i: int) -> tuple[str, str]:
        """Return the links, or fixtures, of the two hulls of pair `i`."""
        a, b = self.pairs[i]
        return self.links[a], self.links[b]

    def full_name(self, hull: int) -> str:
        """Return the names of a hull's link and of the hull."""
        return f"{self.links[hull]}/{self.names[hull]}"

    def hull_poses(self, q: Array) -> Sequence[pin.SE3]:
        """Return the pose of each hull in the world at angles q (7,) [rad].

        The result is overwritten by the next query. The poses of fixtures are the identity.
        """
        pin.updateGeometryPlacements(self.model, self._data, self._geometry, self._measured, q)
        poses: Sequence[pin.SE3] = self._measured.oMg
        return poses

    def distances(self, q: Array) -> Array:
        """Return the signed distances of all pairs (p,) [m] at the angles q (7,) [rad]."""
        pin.updateGeometryPlacements(self.model, self._data, self._geometry, self._measured, q)
        pin.computeDistances(self._geometry, self._measured)
        return np.array([result.min_distance for result in self._results])

    def near(self, q: Array, reach: float) -> Index:
        """Return the indices of the pairs closer than `reach` [m] (k,), ascending.

        A pair is measured only if the joints have moved far enough since its last measurement that
        it may have come so close.
        """
        bounds = self._last_distances - (self.reaches * np.abs(q - self._last_angles)).sum(axis=1)
        candidates = np.flatnonzero(bounds < reach)
        pin.updateGeometryPlacements(self.model, self._data, self._geometry, self._measured, q)
        for i in candidates.tolist():
            pin.computeDistance(self._geometry, self._measured, i)
            self._last_distances[i] = self._results[i].min_distance
        self._last_angles[candidates] = q
        return candidates[self._last_distances[candidates] < reach]

    def closest(self, q: Array) -> tuple[int, float]:
        """Return the index of the pair with the smallest signed distance, and this distance [m]."""
        distances = self.distances(q)
        i = int(distances.argmin())
        return i, float(distances[i])

    def witness(self, q: Array, pairs: Sequence[int] | Index) -> Witness:
        """Return distances, witness points, normals and gradients of pairs at angles q (7,)."""
        pin.computeJointJacobians(self.model, self._data, q)
        pin.updateGeometryPlacements(self.model, self._data, self._geometry, self._measured)
        index = np.asarray(pairs, dtype=np.int64)
        rows = np.array([self._measure(i) for i in index.tolist()]).reshape(-1, 13)
        distances, on_a, on_b, normals = rows[:, 0], rows[:, 1:4], rows[:, 4:7], rows[:, 7:10]
        wrenches = rows[:, 7:]  # (n, p x n), which times a twist is the rate along n
        jacobian = (wrenches @ self._data.J) * self._moved_side[index]
        return Witness(index, distances, on_a, on_b, normals, jacobian)

    def contact_points(self, q: Array, pairs: Sequence[int] | Index) -> list[ContactPoint]:
        """Return where pairs are closest, as contact points with the unknown force given as 0."""
        w = self.witness(q, pairs)
        rows = zip(w.pairs.tolist(), w.distances.tolist(), w.on_a, w.on_b, w.normals, strict=True)
        return [
            ContactPoint(self.pair_links(pair), 0.5 * (on_a + on_b), normal, 0.0, -distance)
            for pair, distance, on_a, on_b, normal in rows
        ]

    def touches(self, q: Array, margin: float = 0.0) -> bool:
        """Return whether any pair is closer than `margin` [m] at angles q (7,) [rad]."""
        if margin not in self._checkers:
            self._checkers[margin] = self._make_checker(margin)
        return bool(pin.computeCollisions(self.model, self._data, self._checkers[margin], q, True))

    def _measure(self, i: int) -> tuple[float, ...]:
        """Return distance, both witness points, normal n, and p x n of a pair (13,).

        A point p of a body moves along n with the speed n . v + (p x n) . w, where (v, w) is the
        twist of the body at the origin of the world. Both witness points are on one line along n,
        so that p x n is the same for them.
        """
        measured = pin.computeDistance(self._geometry, self._measured, i)
        distance, n = measured.min_distance, measured.normal
        if not abs(distance) > NEAR_TOUCHING:
            n = self._checked_normal(i, n)
        on_a, on_b = measured.getNearestPoint1().tolist(), measured.getNearestPoint2().tolist()
        (ax, ay, az), (x, y, z) = on_a, n.tolist()
        moment = (ay * z - az * y, az * x - ax * z, ax * y - ay * x)
        return (distance, *on_a, *on_b, x, y, z, *moment)

    def _checked_normal(self, i: int, normal: Array) -> Array:
        """Return coal's normal of a nearly touching pair, or a separating axis if it is wrong.

        It is wrong if the projections of the hulls on it overlap by more than the hulls can.
        """
        poses = self._measured.oMg
        a, b = (
            self.hulls[hull].placed(poses[hull].rotation, poses[hull].translation)
            for hull in self.pairs[i].tolist()
        )
        overlap = (a.vertices @ normal).max() - (b.vertices @ normal).min()
        if overlap < 2.0 * NEAR_TOUCHING:
            return normal
        return least_overlap(a, b)[1]

    def _make_checker(self, margin: float) -> pin.BroadPhaseManager_NaiveCollisionManager:
        """Return the checker of whether any pair is closer than a margin [m]."""
        data = self._geometry.createData()
        for request in data.collisionRequests:
            request.gjk_tolerance = request.epa_tolerance = TOLERANCE
            request.security_margin = margin
            request.enable_contact = True  # otherwise overlaps below 0.5 um may be missed
        return pin.BroadPhaseManager_NaiveCollisionManager(self.model, self._geometry, data)


def convex(hull: Hull) -> coal.Convex:
    """Return a hull as coal's convex shape."""
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points.extend(list(hull.vertices))
    triangles.extend([coal.Triangle(*corners) for corners in hull.faces.tolist()])
    return coal.Convex(points, triangles)


def hull_of(fixture: Fixture | CylinderFixture | MeshFixture) -> Hull:
    """Return the hull of a fixture in the world, or of a free body in its frame.

    Raises:
        AccordError: for a cylinder, which is no polyhedron.
    """
    if isinstance(fixture, Fixture):
        return Hull.around(box_corners(fixture.size) + fixture.position, fixture.name)
    if isinstance(fixture, CylinderFixture):
        raise AccordError(f"the reference takes no cylinder: give {fixture.name} as a convex mesh")
    return Hull(fixture.vertices + fixture.position, fixture.faces)


def geometry_model(
    model: pin.Model, names: Sequence[str], links: Sequence[str], bodies: Sequence[coal.Convex]
) -> pin.GeometryModel:
    """Return pinocchio's geometry model of hulls: attached to their links, or fixed in the world.

    Args:
        model: pinocchio's model of the arm.
        names, links, bodies: name, link and shape of each hull.
    """
    geometry = pin.GeometryModel()
    for name, link, body in zip(names, links, bodies, strict=True):
        index = model.getFrameId(link, pin.BODY) if model.existBodyName(link) else 0
        frame = model.frames[index]
        solid = pin.GeometryObject(name, frame.parentJoint, index, frame.placement, body)
        geometry.addGeometryObject(solid)
    return geometry


def add_pairs(
    geometry: pin.GeometryModel, links: Sequence[str], link_pairs: Sequence[tuple[str, str]]
) -> Index:
    """Add all pairs of hulls that belong to pairs of links; return the hulls' indices (p, 2)."""
    pairs = list[tuple[int, int]]()
    for a, b in link_pairs:
        hulls_of_b = [j for j, link in enumerate(links) if link == b]
        pairs += [(i, j) for i, link in enumerate(links) if link == a for j in hulls_of_b]
    for i, j in pairs:
        geometry.addCollisionPair(pin.CollisionPair(i, j))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def distance_data(geometry: pin.GeometryModel) -> pin.GeometryData:
    """Return the data of distance queries, with the tolerance TOLERANCE."""
    data = geometry.createData()
    for request in data.distanceRequests:
        request.gjk_tolerance = request.epa_tolerance = TOLERANCE
    return data


def moved_sides(model: pin.Model, owners: Index, pairs: Index) -> Array:
    """Return for each pair and joint (p, n) which hull the joint moves.

    1 for the second hull alone, -1 for the first one alone, 0 for both or none.

    Args:
        model: pinocchio's model of the arm.
        owners: joint that carries each hull (h,).
        pairs: indices of the hulls of each pair (p, 2).
    """
    moved = np.zeros((model.njoints, model.nv))
    for row, supports in zip(moved, model.supports, strict=True):
        for joint in list(supports)[1:]:  # the first is the world
            first = model.idx_vs[joint]
            row[first : first + model.nvs[joint]] = 1.0
    a, b = moved[owners[pairs.T]]
    return np.asarray(b - a)


def corner_reaches(model: pin.Model, geometry: pin.GeometryModel, hulls: Sequence[Hull]) -> Array:
    """Return a bound of the distance of each hull's corners from each joint (h, n) [m].

    It is 0 for joints that do not move the hull, and 1 for one that slides, by which a corner moves
    as far as the joint. Going up the chain, the distances of successive joints are added.
    """
    bounds = np.zeros((len(hulls), model.nv))
    for row, placed, hull in zip(bounds, geometry.geometryObjects, hulls, strict=True):
        corners = hull.vertices @ placed.placement.rotation.T + placed.placement.translation
        bound, joint = np.linalg.norm(corners, axis=1).max(), placed.parentJoint
        while joint > 0:
            slides = model.joints[joint].shortname().startswith("JointModelP")
            row[model.idx_vs[joint]] = 1.0 if slides else bound
            bound += np.linalg.norm(model.jointPlacements[joint].translation)
            joint = model.parents[joint]
    return bounds
