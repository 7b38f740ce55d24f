"""Rotors and springs of joints, which a URDF states outside the elements of the joints.

Another element that states a property of a joint may be added in `driven`.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from roboaccord.contract.state import Array

if TYPE_CHECKING:
    from roboaccord.description.tree import Joint, Tree


def driven(joints: Sequence[Joint], top: ET.Element) -> list[Joint]:
    """Return joints with the rotors and springs that a URDF states outside their elements.

    The rotor of a transmission counts as in Drake: `drake:rotor_inertia` times the square of
    `drake:gear_ratio`. Springs are SDFormat's, in the `<gazebo>` element of a joint.
    """
    rotors, springs = rotor_inertias(top), dict[str, tuple[float, float]]()
    for element in top.iterfind("gazebo[springStiffness]"):
        stiffness = float(element.findtext("springStiffness", "0"))
        slack = float(element.findtext("springReference", "0"))
        springs[element.get("reference", "")] = stiffness, slack
    return [
        replace(j, armature=rotors.get(j.name, 0.0), spring=springs.get(j.name, (0.0, 0.0)))
        for j in joints
    ]


def rotors_of(tree: Tree, joints: Sequence[str]) -> Array:
    """Return the inertia that rotors add to joints of a tree (n,) [kg m^2 or kg]."""
    armatures = {joint.name: joint.armature for joint in tree.moving}
    return np.array([armatures.get(name, 0.0) for name in joints])


def rotor_inertias(elements: Iterable[ET.Element]) -> dict[str, float]:
    """Return the inertia that the rotors of a URDF's transmissions add, by joint [kg m^2 or kg]."""
    inertias = dict[str, float]()
    for transmission in (element for element in elements if element.tag == "transmission"):
        by_tag = {
            e.tag.rpartition("}")[2].removeprefix("drake:"): e
            for e in transmission.iterfind("actuator/*")
        }
        rotor, joint = by_tag.get("rotor_inertia"), transmission.find("joint")
        if rotor is not None and joint is not None:
            with suppress(ValueError):  # broken.py refuses what is not a number
                gear = number(by_tag.get("gear_ratio"), "value", 1.0)
                inertias[joint.get("name", "")] = number(rotor, "value", 0.0) * gear**2
    return inertias


def number(element: ET.Element | None, key: str, default: float) -> float:
    """Return a number of an element; the default where there is no element or no such number."""
    return default if element is None else float(element.get(key, default))
