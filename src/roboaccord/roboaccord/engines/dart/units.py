"""DART's units: its metre and its second may both be smaller than ours, by one factor.

Speeds, masses, moments and energies then keep their numbers. With lengths of `scale` times the
number, inertias have `scale` squared times theirs, and forces, accelerations and rates of angles
theirs over `scale`.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import numpy as np

from roboaccord.contract.state import Array

# What slides in each kind of joint, by its coordinates; None stands for any number of turns.
SLIDING = {
    "PrismaticJoint": (True,),
    "PlanarJoint": (True, True, False),
    "FreeJoint": (False, False, False, True, True, True),
    "TranslationalJoint": (True, True, True),
}


def scale_description(urdf: str, scale: float) -> str:
    """Return a URDF whose lengths are `scale` times as large, masses kept."""
    if scale == 1.0:
        return urdf
    root = ET.fromstring(urdf)
    for origin in root.iter("origin"):
        _multiply(origin, "xyz", scale)
    for tensor in root.iter("inertia"):
        for axes in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"):
            _multiply(tensor, axes, scale**2)
    for geometry in root.iter("geometry"):
        for shape in geometry:
            if shape.tag == "mesh":
                shape.set("scale", shape.get("scale", "1 1 1"))
            for key in ("size", "radius", "length", "scale"):
                _multiply(shape, key, scale)
    for joint in root.findall("joint"):
        if joint.get("type") == "prismatic":
            for limit in joint.findall("limit"):
                _multiply(limit, "lower", scale)
                _multiply(limit, "upper", scale)
    return ET.tostring(root, encoding="unicode")


def lengths(skeleton: Any, scale: float) -> Array:
    """Return by what DART's coordinates are larger (m,): `scale` for those that slide, else 1."""
    factors = np.ones(skeleton.getNumDofs())
    for joint in skeleton.getJoints():
        for i, slides in enumerate(SLIDING.get(joint.getType(), ())):
            if slides:
                factors[joint.getIndexInSkeleton(i)] = scale
    return factors


def _multiply(element: ET.Element, key: str, factor: float) -> None:
    if key in element.attrib:
        numbers = [float(word) * factor for word in element.attrib[key].split()]
        element.set(key, " ".join(repr(number) for number in numbers))
