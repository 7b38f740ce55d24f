"""Changes to the URDF of a user's file: what is left out, and how its base is tied.

`remarks.py` states each change to the user: one that is added here needs a line there
(test_any_robot). FAR may be tuned.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

from roboaccord.description.base_kinds import KINDS
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import ROOT, UrdfFile

FAR = 1e9  # m: the stops of a slide that has none, beyond the reach of any motion


def as_simulated(text: str, parameters: Any, base: str) -> str:
    """Return a file's URDF as a scenario simulates it.

    Args:
        text: URDF whose root is `base_link`.
        parameters: of the scenario: which mimics, stops and rotors act.
        base: how the root moves; where it is tied to the world, a joint is added for that.
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
    """Return a recorded robot without the link and the joint that tied its base to the world."""
    top = ET.fromstring(file.text)
    ties = top.findall("joint/parent[@link='world']/..")
    for element in ties + top.findall("link[@name='world']"):
        top.remove(element)
    return replace(file, text=ET.tostring(top, encoding="unicode"))


def leave_out_stops(joint: ET.Element) -> None:
    """Let a joint move without ends, in place."""
    if joint.get("type") == "revolute":
        joint.set("type", "continuous")
    for limit in joint.findall("limit"):
        for end, value in (("lower", -FAR), ("upper", FAR)):
            if joint.get("type") == "prismatic":
                limit.set(end, repr(value))  # without limits, readers take them for 0
            else:
                limit.attrib.pop(end, None)


def without_frames(urdf: str) -> str:
    """Return a URDF without the links that have no inertia, are fixed and carry nothing.

    They change no motion; DART warns of each.
    """
    top, tree = ET.fromstring(urdf), Tree.parse(urdf)
    heavy = {link.name for link in tree.links if link.mass or link.inertia.any()}
    kept = {ROOT, "world", *heavy}
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
