"""Joints with several degrees of freedom, made a free base, or chains of joints with one each.

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

DEGREES = {"planar": ("TX", "TY", "RZ"), "floating": ("TX", "TY", "TZ", "RX", "RY", "RZ")}
"""Degrees of freedom of a joint: each a joint of its own, `NAME_TX` and so on, as MuJoCo has it."""
WORLD = "world"


def single_degrees(urdf: str) -> str:
    """Return a URDF whose joints have one degree of freedom at most.

    A planar joint becomes two slides and a hinge about its axis, a floating one three slides and
    three hinges, with links without mass between them. A floating joint below a root without mass
    leaves with it: what it carries is the root, and free. A link `world` that joints name is there.
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
    for each in [*top.findall("link"), *top.findall("joint")] if floating is not None else ():
        name = each.get("name", "") if each.tag == "link" else end(each, "child")
        if each is floating or name in ground:
            top.remove(each)
    for joint in several:
        if joint is not floating:
            _replace(top, joint)
    return ET.tostring(top, encoding="unicode")


def floating_root(top: ET.Element) -> tuple[ET.Element | None, frozenset[str]]:
    """Return the floating joint that alone leads from a root without mass, and the root's links.

    None, and none, where no joint does.
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
    """Return the links by name that are fixed to each link, itself among them."""
    found = {link.get("name", ""): {link.get("name", ""): link} for link in top.findall("link")}
    for joint in top.findall("joint"):
        ends = end(joint, "parent"), end(joint, "child")
        if joint.get("type") == "fixed" and all(end in found for end in ends):
            whole = found[ends[0]] | found[ends[1]]
            found |= dict.fromkeys(whole, whole)
    return found


def _replace(top: ET.Element, joint: ET.Element) -> None:
    """Put a chain of joints in the place of one."""
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

    They are those of the parent, turned by the least angle that does it.
    """
    if not (length := float(np.linalg.norm(normal))):
        raise AccordError("the axis of a planar joint has no direction")
    up = np.array([0.0, 0.0, 1.0])
    if normal[2] < -(1.0 - 1e-12) * length:
        return np.diag([1.0, -1.0, -1.0])
    return turn_between(up, normal / length)
