"""Rotors and springs of joints, which a URDF states outside the elements of the joints.

A rotor, the turning part of a motor, is part of a `<transmission>`, in Drake's words: the inertia
that it adds at the joint is `drake:rotor_inertia` times the square of `drake:gear_ratio`. Springs
are SDFormat's, in the `<gazebo>` element of a joint. tree.py adds both to the joints that it reads.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from contextlib import suppress

from roboaccord.description.xml_numbers import number

# By joint: stiffness [N m/rad or N/m] and the position at which the spring is slack [rad or m].
Springs = dict[str, tuple[float, float]]


def springs_of(top: ET.Element) -> Springs:
    """Return the springs of a URDF in SDFormat's elements."""
    return {
        element.get("reference", ""): (
            float(element.findtext("springStiffness", "0")),
            float(element.findtext("springReference", "0")),
        )
        for element in top.iterfind("gazebo[springStiffness]")
    }


def rotor_inertias(elements: Iterable[ET.Element]) -> dict[str, float]:
    """Return the inertia that the rotors of a URDF's transmissions add, by joint [kg m^2 or kg]."""
    inertias = dict[str, float]()
    for transmission in (element for element in elements if element.tag == "transmission"):
        by_tag = {
            element.tag.rpartition("}")[2].removeprefix("drake:"): element
            for element in transmission.iterfind("actuator/*")
        }
        rotor, joint = by_tag.get("rotor_inertia"), transmission.find("joint")
        if rotor is not None and joint is not None:
            with suppress(ValueError):  # broken.py refuses what is not a number
                gear = number(by_tag.get("gear_ratio"), "value", 1.0)
                inertias[joint.get("name", "")] = number(rotor, "value", 0.0) * gear**2
    return inertias
