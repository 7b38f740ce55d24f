"""Planar and floating joints, replaced by chains of joints with one degree of freedom each.

Our dynamics know only joints with one degree of freedom. `single_degrees` rewrites a URDF: a joint
NAME becomes NAME_TX, NAME_TY and so on, slides and hinges that MuJoCo makes in the same order and
with the same names, so that joints of all engines are compared by name. Users see the names in
results. `plane` chooses the axes of a planar joint as MuJoCo does (test_degrees). Another kind of
joint may be added as an entry of DEGREES.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

from roboaccord.contract import AccordError, Array
from roboaccord.description.source import end
from roboaccord.description.xml_numbers import numbers, write_numbers
from roboaccord.numerics.rotations import OPPOSITE, turn_between

# Suffixes of the joints that replace one of a type: T slides along an axis, R turns about it.
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
    has_world = any(link.get("name") == WORLD for link in top.findall("link"))
    names_world = any(parent.get("link") == WORLD for parent in top.iterfind("joint/parent"))
    has_chains = any(joint.get("type") in DEGREES for joint in top.findall("joint"))
    if (has_world or not names_world) and not has_chains:
        return urdf
    if names_world and not has_world:
        top.append(ET.Element("link", name=WORLD))
    _remove_floating_root(top)
    for joint in top.findall("joint"):
        if joint.get("type") in DEGREES:
            _replace_by_chain(top, joint)
    return ET.tostring(top, encoding="unicode")


def _remove_floating_root(top: ET.Element) -> None:
    """Remove the floating joint of `floating_root` with its root, if there is one."""
    floating, root_links = floating_root(top)
    if floating is not None:
        top.remove(floating)
        for element in (*top.findall("link"), *top.findall("joint")):
            name = element.get("name", "") if element.tag == "link" else end(element, "child")
            if name in root_links:
                top.remove(element)


def floating_root(top: ET.Element) -> tuple[ET.Element | None, frozenset[str]]:
    """Return a floating joint that alone carries the robot below a massless root, and its root.

    The root is given by the names of its links, which are fixed to each other; None and an empty
    set where there is no such joint.
    """
    joints, bodies = top.findall("joint"), _bodies(top)
    children = {end(joint, "child") for joint in joints}
    for joint in top.findall("joint[@type='floating']"):
        body = bodies.get(end(joint, "parent"), {})
        carried = [j for j in joints if end(j, "parent") in body and end(j, "child") not in body]
        masses = [link.find("inertial/mass") for link in body.values()]
        has_mass = any(float(mass.get("value", "0")) for mass in masses if mass is not None)
        is_root = not body.keys() <= children
        if carried == [joint] and is_root and not has_mass:
            return joint, frozenset(body)
    return None, frozenset()


def _bodies(top: ET.Element) -> dict[str, dict[str, ET.Element]]:
    """Return for each link, by name, the links that are fixed to it, itself included."""
    bodies = {link.get("name", ""): {link.get("name", ""): link} for link in top.findall("link")}
    for joint in top.findall("joint"):
        parent, child = end(joint, "parent"), end(joint, "child")
        if joint.get("type") == "fixed" and parent in bodies and child in bodies:
            fixed_together = bodies[parent] | bodies[child]
            bodies |= dict.fromkeys(fixed_together, fixed_together)
    return bodies


def _replace_by_chain(top: ET.Element, joint: ET.Element) -> None:
    """Replace a planar or floating joint by a chain of joints with massless links between."""
    name, kind = joint.get("name", ""), joint.get("type", "")
    degrees = DEGREES[kind]
    axes = plane(numbers(joint.find("axis"), "xyz", "1 0 0")) if kind == "planar" else np.eye(3)
    top.remove(joint)
    parent = end(joint, "parent")
    for i, degree in enumerate(degrees):
        is_last = i == len(degrees) - 1
        child = end(joint, "child") if is_last else f"{name}_{degree}"
        kind_of_degree = "prismatic" if degree.startswith("T") else "continuous"
        element = ET.SubElement(top, "joint", name=f"{name}_{degree}", type=kind_of_degree)
        ET.SubElement(element, "parent", link=parent)
        ET.SubElement(element, "child", link=child)
        if i == 0 and (origin := joint.find("origin")) is not None:
            element.append(origin)
        along = axes[:, "XYZ".index(degree[1])]  # the letter after T or R names the axis
        write_numbers(ET.SubElement(element, "axis"), "xyz", along)
        if not is_last:
            ET.SubElement(top, "link", name=child)
        parent = child


def plane(normal: Array) -> Array:
    """Return axes (3, 3) as columns, the third along a normal (3,), as MuJoCo has them.

    They are the axes of the parent, turned by the smallest possible angle.

    Raises:
        AccordError: for a normal of length 0.
    """
    if not (length := float(np.linalg.norm(normal))):
        raise AccordError("the axis of a planar joint has no direction")
    up = np.array([0.0, 0.0, 1.0])
    if normal[2] < -(1.0 - OPPOSITE) * length:
        return np.diag([1.0, -1.0, -1.0])
    return turn_between(up, normal / length)
