"""Changes to the URDF of a user's file before it is simulated.

The functions are called by `FileRobot` (file.py). `as_simulated` removes mimics, stops and rotors
that the scenario switches off, and may connect the base to the world by a joint; `without_tie`
removes that joint when a recorded run is read. `without_frames` removes links that only mark a
frame. Each change also needs a remark to the user in remarks.py (test_any_robot).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from roboaccord.description import KINDS, Tree
from roboaccord.description.tree_text import ENDLESS
from roboaccord.description.urdf_file import ROOT, UrdfFile


def as_simulated(text: str, parameters: Any, base: str) -> str:
    """Return the URDF that a scenario simulates.

    Args:
        text: URDF whose root is `base_link`.
        parameters: of the scenario: which mimics, stops and rotors act.
        base: kind of base; a base that is tied to the world gets a joint of that type.
    """
    root = ET.fromstring(text)
    joints = root.findall("joint")
    if not parameters.mimic:
        for joint in joints:
            _remove_all(joint, joint.findall("mimic"))
    if not parameters.stops:
        for joint in joints:
            _remove_stops(joint)
    if not parameters.armature:  # the inertia of a rotor is in its transmission
        _remove_all(root, root.findall("transmission"))
    if KINDS[base].tied:
        ET.SubElement(root, "link", name="world")
        tie = ET.SubElement(root, "joint", name="world_to_base_link", type=base)
        ET.SubElement(tie, "parent", link="world")
        ET.SubElement(tie, "child", link=ROOT)
        ET.SubElement(tie, "axis", xyz="0 0 1")
    return ET.tostring(root, encoding="unicode")


def without_tie(file: UrdfFile) -> UrdfFile:
    """Return a recorded file without the link `world` and the joint that tied the base to it."""
    root = ET.fromstring(file.text)
    _remove_all(root, root.findall("joint/parent[@link='world']/.."))
    _remove_all(root, root.findall("link[@name='world']"))
    return replace(file, text=ET.tostring(root, encoding="unicode"))


def _remove_all(parent: ET.Element, children: Iterable[ET.Element]) -> None:
    """Remove child elements, in place."""
    for child in children:
        parent.remove(child)


def _remove_stops(joint: ET.Element) -> None:
    """Remove the stops of a joint, in place."""
    if joint.get("type") == "revolute":
        joint.set("type", "continuous")
    for limit in joint.findall("limit"):
        for end, value in (("lower", -ENDLESS), ("upper", ENDLESS)):
            if joint.get("type") == "prismatic":
                limit.set(end, repr(value))  # readers take missing limits for 0
            else:
                limit.attrib.pop(end, None)


def without_frames(urdf: str) -> str:
    """Return a URDF without links that have no inertia, are fixed, and carry no other link.

    They do not change the motion, and DART warns about each.
    """
    root, tree = ET.fromstring(urdf), Tree.parse(urdf)
    with_inertia = {link.name for link in tree.links if link.mass or link.inertia.any()}
    kept = {ROOT, "world", *with_inertia}
    # From the tips to the root: a link that carries a kept link is kept.
    for joint in reversed(tree.joints):
        if joint.child in kept or joint.kind != "fixed":
            kept |= {joint.parent, joint.child}
    for link in root.findall("link"):
        if link.get("name") not in kept:
            root.remove(link)
    for element in root.findall("joint"):
        if any(child.get("link") not in kept for child in element.findall("child")):
            root.remove(element)
    return ET.tostring(root, encoding="unicode")
