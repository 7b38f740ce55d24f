"""Measure what DART's detectors make of convex hulls that overlap by a known depth.

    python benchmarks/hulls.py
    python benchmarks/hulls.py --poses 1000

Corners on a face, edges across edges and faces on faces: hulls of the Packbot's size, which overlap
by 0.2 mm along z. Then casings, turned by 0 to 15 degrees, slide over a tube at 0.3 m/s without
friction for 0.3 s; the slowest counts.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import dartpy
import numpy as np
from roboaccord.contract.contact import MeshFixture
from roboaccord.engines.dart.fixtures import mesh_shape
from roboaccord.numerics.rotations import rpy_matrix
from scipy.spatial import ConvexHull

DETECTORS = dartpy.collision
# Bullet's margin is 0.04 of its unit of length: scales of 10 and 100 show how it matters.
CASES = [
    ("ODE", DETECTORS.OdeCollisionDetector, 1.0),
    ("FCL", DETECTORS.FCLCollisionDetector, 1.0),
    ("Bullet", DETECTORS.BulletCollisionDetector, 1.0),
    ("Bullet", DETECTORS.BulletCollisionDetector, 10.0),
    ("Bullet", DETECTORS.BulletCollisionDetector, 100.0),
]
# m; within the margin of contact, 5e-4. FLAT: of a prism of 12 sides, over its radius.
DEPTH, FLAT = 2e-4, np.cos(np.pi / 12)


def prism(radius: float, length: float, *rpy: float) -> np.ndarray:
    """Return the corners of a prism of 12 sides along y, flat below, then turned."""
    angles = np.radians(15.0 + 30.0 * np.arange(12))
    ring = radius * np.column_stack([np.cos(angles), np.zeros(12), np.sin(angles)])
    half = np.array([0.0, length / 2, 0.0])
    return np.vstack([ring - half, ring + half]) @ rpy_matrix(*(rpy or (0.0, 0.0, 0.0))).T


def poses(count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield corners of a lower hull, and of an upper one that overlaps it by DEPTH along z."""
    rng = np.random.default_rng(0)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    chassis, ridge = corners * [0.31, 0.152, 0.062], np.radians(15.0)
    for i in range(count):
        yaw = rng.uniform(0.5, 2.6)
        if i % 3 == 0:
            lower, upper = chassis, prism(0.055, 0.16, *rng.uniform(-3.1, 3.1, 3))
        elif i % 3 == 1:
            lower, upper = prism(0.03, 0.46, 0, ridge, 0), prism(0.05, 0.16, 0, ridge, yaw)
        else:
            lower, upper = prism(0.03, 0.46), prism(0.05, 0.16, 0, 0, yaw)
        lift = lower[:, 2].max() - upper[:, 2].min() - DEPTH
        yield lower, upper + np.array([0.0, 0.0, lift])


def put(world: Any, corners: np.ndarray, name: str, scale: float, *, slides: bool) -> Any:
    """Add a hull to a world, at rest or free to shift; return its skeleton."""
    hull = ConvexHull(corners)
    a, b, c = np.moveaxis(corners[hull.simplices], 1, 0)
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    skeleton = dartpy.dynamics.Skeleton(name)
    joint = "Translational" if slides else "Weld"
    _, body = getattr(skeleton, f"create{joint}JointAndBodyNodePair")()
    shape = mesh_shape(MeshFixture(name=name, vertices=corners, faces=faces), scale)
    node = body.createShapeNode(shape)
    node.createCollisionAspect()
    node.createDynamicsAspect()
    node.getDynamicsAspect().setFrictionCoeff(0.0)
    skeleton.setMobile(slides)
    world.addSkeleton(skeleton)
    return skeleton


def make(detector: type, lower: np.ndarray, upper: np.ndarray, scale: float) -> tuple[Any, Any]:
    """Return a world of two hulls, and the upper one's skeleton."""
    world = dartpy.simulation.World()
    world.setTimeStep(1e-3 * scale)
    world.setGravity([0.0, 0.0, -9.81 / scale])
    world.getConstraintSolver().setCollisionDetector(detector())
    put(world, lower, "lower", scale, slides=False)
    return world, put(world, upper, "upper", scale, slides=True)


def slide(detector: type, scale: float, tilt: float) -> float:
    """Return the speed after 0.3 s of a casing that is turned by `tilt` degrees on a tube [m/s]."""
    tube = prism(0.03, 0.6, 0.0, 0.0, np.pi / 2)
    casing = prism(0.05, 0.16, 0.0, np.radians(tilt), 0.0)
    casing[:, 2] += tube[:, 2].max() - casing[:, 2].min()
    world, slider = make(detector, tube, casing, scale)
    slider.setVelocities([0.3, 0.0, 0.0])
    for _ in range(300):
        world.step()
    return float(slider.getVelocities()[0])


def main() -> None:
    """Run and print a line for each detector."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--poses", type=int, default=300)
    options = parser.parse_args()
    for name, detector, scale in CASES:
        missed, depths, angles = 0, [0.0], [0.0]
        for lower, upper in poses(options.poses):
            world, _ = make(detector, lower, upper, scale)
            world.setGravity(np.zeros(3))
            world.step()
            found = world.getLastCollisionResult().getContacts()
            missed += not found
            depths += [abs(c.penetrationDepth / scale - DEPTH) for c in found]
            angles += [np.degrees(np.arccos(min(1.0, abs(c.normal[2])))) for c in found]
        slowest = min(slide(detector, scale, tilt) for tilt in range(0, 16, 3))
        print(
            f"{name}, unit {1 / scale:g} m: missed {missed} of {options.poses}, depth off by up to "
            f"{1e3 * max(depths):.2g} mm, normal by up to {max(angles):.2g} degrees; "
            f"slides on at {slowest:.3f} m/s or more"
        )


if __name__ == "__main__":
    main()
