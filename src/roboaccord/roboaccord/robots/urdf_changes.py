"""Changes to the URDF of a user's file before it is simulated.

Mimics, stops and rotors that the scenario switches off are removed, and the base may be tied to the
world by a joint (`as_simulated`). Each change also needs a remark to the user in remarks.py
(test_any_robot).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

from roboaccord.description.base_kinds import KINDS
from roboaccord.description.tree import Tree
from roboaccord.description.tree_text import ENDLESS
from roboaccord.description.urdf_file import ROOT, UrdfFile


def as_simulated(text: str, parameters: Any, base: str) -> str:
    """Return a file's URDF as a scenario simulates it.

    Args:
        text: URDF whose root is `base_link`.
        parameters: of the scenario: which mimics, stops and rotors act.
        base: kind of base; a base that is tied to the world gets a joint of that type.
    """
    top = ET.fromstring(text)
    for joint in top.findall("joint"):
        for mimic in joint.findall("mimic") if not parameters.mimic else ():
            joint.remove(mimic)
        if not parameters.stops:
            leave_out_stops(joint)
    for transmission in top.findall("transmission") if not parameters.armature else ():
        top.remove(transmission)
    if KINDS[base].tied:
        top.append(ET.Element("link", name="world"))
        tie = ET.SubElement(top, "joint", name="world_to_base_link", type=base)
        ET.SubElement(tie, "parent", link="world")
        ET.SubElement(tie, "child", link=ROOT)
        ET.SubElement(tie, "axis", xyz="0 0 1")
    return ET.tostring(top, encoding="unicode")


def without_tie(file: UrdfFile) -> UrdfFile:
    """Return a recorded file without the link `world` and the joint that tied the base to it."""
    top = ET.fromstring(file.text)
    ties = top.findall("joint/parent[@link='world']/..")
    for element in ties + top.findall("link[@name='world']"):
        top.remove(element)
    return replace(file, text=ET.tostring(top, encoding="unicode"))


def leave_out_stops(joint: ET.Element) -> None:
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
    top, tree = ET.fromstring(urdf), Tree.parse(urdf)
    heavy = {link.name for link in tree.links if link.mass or link.inertia.any()}
    kept = {ROOT, "world", *heavy}
    # From the tips to the root: a link that carries a kept link is kept.
    for joint in reversed(tree.joints):
        if joint.child in kept or joint.kind != "fixed":
            kept |= {joint.parent, joint.child}
    for link in top.findall("link"):
        if link.get("name") not in kept:
            top.remove(link)
    for element in top.findall("joint"):
        if any(end.get("link") not in kept for end in element.findall("child")):
            top.remove(element)
    return ET.tostring(top, encoding="unicode")
