"""Collision geometry of the arm and its obstacles in pinocchio, and its motion bounds."""

from __future__ import annotations

from collections.abc import Sequence

import coal
import numpy as np
import pinocchio as pin
from roboaccord.contract.contact import Fixture, Index, MeshFixture
from roboaccord.contract.state import Array

from packbot.hulls.shapes import box_corners
from packbot.hulls.solids import Hull


def hull_of(fixture: Fixture | MeshFixture) -> Hull:
    """Return the hull of a fixture, in the world."""
    if isinstance(fixture, Fixture):
        return Hull.around(box_corners(fixture.size) + fixture.position, fixture.name)
    return Hull(fixture.vertices + fixture.position, fixture.faces)


def geometry_model(
    model: pin.Model, names: Sequence[str], links: Sequence[str], bodies: Sequence[coal.Convex]
) -> pin.GeometryModel:
    """Return hulls as pinocchio moves them: with their links; or not, where a link is none."""
    geometry = pin.GeometryModel()
    for name, link, body in zip(names, links, bodies, strict=True):
        index = model.getFrameId(link, pin.BODY) if model.existBodyName(link) else 0
        frame = model.frames[index]
        geometry.addGeometryObject(
            pin.GeometryObject(name, frame.parentJoint, index, frame.placement, body)
        )
    return geometry


def add_pairs(
    geometry: pin.GeometryModel, links: Sequence[str], link_pairs: Sequence[tuple[str, str]]
) -> Index:
    """Add all pairs of hulls of pairs of links to a model, and return their indices (p, 2)."""
    pairs = [
        (i, j)
        for a, b in link_pairs
        for i, first in enumerate(links)
        for j, second in enumerate(links)
        if (first, second) == (a, b)
    ]
    for i, j in pairs:
        geometry.addCollisionPair(pin.CollisionPair(i, j))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def motions(model: pin.Model, geometry: pin.GeometryModel, pairs: Index) -> Array:
    """Return which joints move pairs (p, n): 1 the second hull, -1 the first, 0 both or none."""
    moved = np.zeros((len(geometry.geometryObjects), model.nv))
    for row, thing in zip(moved, geometry.geometryObjects, strict=True):
        for joint in list(model.supports[thing.parentJoint])[1:]:  # the first is the world
            first = model.idx_vs[joint]
            row[first : first + model.nvs[joint]] = 1.0
    a, b = moved[pairs.T]
    return np.asarray(b - a)


def reaches(model: pin.Model, geometry: pin.GeometryModel, hulls: Sequence[Hull]) -> Array:
    """Return the largest distance of a hull's corners from each joint that moves it (h, n) [m]."""
    far_from = np.zeros((len(hulls), model.nv))
    for row, thing, hull in zip(far_from, geometry.geometryObjects, hulls, strict=True):
        corners = hull.vertices @ thing.placement.rotation.T + thing.placement.translation
        far, joint = np.linalg.norm(corners, axis=1).max(), thing.parentJoint
        while joint > 0:
            row[model.idx_vs[joint]] = far
            far += np.linalg.norm(model.jointPlacements[joint].translation)
            joint = model.parents[joint]
    return far_from
