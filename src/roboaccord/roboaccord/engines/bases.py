"""Bases that engines make by hand: a ball that floats in a link, and motion in the plane."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description.tree import Tree
from roboaccord.numerics.rotations import yaw_quaternion


@dataclass(frozen=True)
class Ball:
    """Hold a ball about its own origin: mass [kg], inertia (3, 3) [kg m^2] and radius [m]."""

    mass: float
    inertia: Array
    radius: float


def split_ball(urdf: str, tree: Tree) -> tuple[str, Ball]:
    """Return a URDF without the `base_link` that floats in it, and that ball.

    Engines differ in what they make of a link that floats beside others; so it is put in by hand.

    Raises:
        AccordError: if `base_link` has no sphere to collide with, or its mass is off its origin.
    """
    root = ET.fromstring(urdf)
    name = tree.links[0].name
    link = next(e for e in root.findall("link") if e.get("name") == name)
    sphere = link.find("collision/geometry/sphere")
    if sphere is None or np.any(tree.links[0].centre):
        raise AccordError("the base_link that floats in the description is no ball")
    root.remove(link)
    for joint in root.findall("joint"):
        child = joint.find("child")
        if child is not None and child.get("link") == name:
            root.remove(joint)
    ball = Ball(tree.links[0].mass, tree.links[0].inertia, float(sphere.attrib["radius"]))
    return ET.tostring(root, encoding="unicode"), ball


def planar_motion(
    pose: list[float], rates: list[float], height: float
) -> tuple[Array, Array, Array]:
    """Return position, orientation x y z w and twist in its own axes of a base in the plane.

    Args:
        pose: x, y [m] and yaw [rad].
        rates: of these.
        height: z [m].
    """
    x, y, yaw = pose
    vx, vy, rate = rates
    c, s = math.cos(yaw), math.sin(yaw)
    twist = np.array([c * vx + s * vy, c * vy - s * vx, 0.0, 0.0, 0.0, rate])
    return np.array([x, y, height]), yaw_quaternion(yaw), twist
