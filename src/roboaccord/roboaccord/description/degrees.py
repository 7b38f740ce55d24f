"""Joints with several degrees of freedom, replaced by a free base or a chain of simple joints.

DEGREES, its order and the names `NAME_TX` and so on are fixed as MuJoCo has them, so that joints of
all engines are compared by name; users see them in results. `plane` turns the axes of a planar
joint as MuJoCo does, which test_degrees compares. Another kind of joint may be added as an entry of
DEGREES.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description.source import end
from roboaccord.description.xml_numbers import numbers, write_numbers
from roboaccord.numerics.rotations import turn_between

# Degrees of freedom of a joint: each a joint of its own, `NAME_TX` and so on, as MuJoCo has it.
DEGREES = {"planar": ("TX", "TY", "RZ"), "floating": ("TX", "TY", "TZ", "RX", "RY", "RZ")}
WORLD = "world"


def single_degrees(urdf: str) -> str:
    """Return a URDF whose joints have one degree of freedom at most.

    A planar joint becomes two slides and a hinge about its axis, a floating one three slides and
    three hinges, with massless links between them. A floating joint below a massless root is
    removed with that root: the link that it carries is then a free root. A link `world` is added
    where joints name it.
    """
    top = ET.fromstring(urdf)
    declared = any(link.get("name") == WORLD for link in top.findall("link"))
    named = any(end.get("link") == WORLD for end in top.iterfind("joint/parent"))
    several = [joint for joint in top.findall("joint") if joint.get("type") in DEGREES]
    if (declared or not named) and not several:
        return urdf
    if named and not declared:
        top.append(ET.Element("link", name=WORLD))
    floating, ground = floating_root(top)
    elements = [*top.findall("link"), *top.findall("joint")] if floating is not None else ()
    for element in elements:
        name = element.get("name", "") if element.tag == "link" else end(element, "child")
        if element is floating or name in ground:
            top.remove(element)
    for joint in several:
        if joint is not floating:
            _replace(top, joint)
    return ET.tostring(top, encoding="unicode")


def floating_root(top: ET.Element) -> tuple[ET.Element | None, frozenset[str]]:
    """Return the only, floating joint below a massless root, and the names of the root's links.

    None and an empty set where there is no such joint.
    """
    joints, bodies = top.findall("joint"), _bodies(top)
    led = {end(joint, "child") for joint in joints}
    for joint in joints:
        ground = bodies.get(end(joint, "parent"), {})
        leading = [j for j in joints if end(j, "parent") in ground]
        alone = [j for j in leading if end(j, "child") not in ground] == [joint]
        masses = [link.find("inertial/mass") for link in ground.values()]
        heavy = any(float(mass.get("value", "0")) for mass in masses if mass is not None)
        if joint.get("type") == "floating" and alone and not heavy and not ground.keys() <= led:
            return joint, frozenset(ground)
    return None, frozenset()


def _bodies(top: ET.Element) -> dict[str, dict[str, ET.Element]]:
    """Return for each link, by name, the links that are fixed to it, itself included."""
    bodies = {link.get("name", ""): {link.get("name", ""): link} for link in top.findall("link")}
    for joint in top.findall("joint"):
        ends = end(joint, "parent"), end(joint, "child")
        if joint.get("type") == "fixed" and all(end in bodies for end in ends):
            whole = bodies[ends[0]] | bodies[ends[1]]
            bodies |= dict.fromkeys(whole, whole)
    return bodies


def _replace(top: ET.Element, joint: ET.Element) -> None:
    """Replace a joint by a chain of joints."""
    name, kind = joint.get("name", ""), joint.get("type", "")
    degrees = DEGREES[kind]
    frame = plane(numbers(joint.find("axis"), "xyz", "1 0 0")) if kind == "planar" else np.eye(3)
    top.remove(joint)
    parent = end(joint, "parent")
    for i, degree in enumerate(degrees):
        last = i == len(degrees) - 1
        child = end(joint, "child") if last else f"{name}_{degree}"
        moves = "prismatic" if degree.startswith("T") else "continuous"
        one = ET.SubElement(top, "joint", name=f"{name}_{degree}", type=moves)
        ET.SubElement(one, "parent", link=parent)
        ET.SubElement(one, "child", link=child)
        if i == 0 and (origin := joint.find("origin")) is not None:
            one.append(origin)
        along = frame[:, "XYZ".index(degree[1])]
        write_numbers(ET.SubElement(one, "axis"), "xyz", along)
        if not last:
            ET.SubElement(top, "link", name=child)
        parent = child


def plane(normal: Array) -> Array:
    """Return axes (3, 3) in columns, the third along a normal (3,), as MuJoCo has them.

    They are the axes of the parent, turned by the smallest possible angle.
    """
    if not (length := float(np.linalg.norm(normal))):
        raise AccordError("the axis of a planar joint has no direction")
    up = np.array([0.0, 0.0, 1.0])
    if normal[2] < -(1.0 - 1e-12) * length:
        return np.diag([1.0, -1.0, -1.0])
    return turn_between(up, normal / length)
