"""Find traps of joints: axes not of length 1, rare types, mimics, loops, pitches near 90 degrees.

A trap is text in a URDF that readers interpret differently or refuse (trap.py). Each finder here
takes the parsed <robot> element and yields `Trap` objects: the joints that have a fault, advice,
and the function that repairs them. find.py lists the finders. Names of traps are used in docs, in
the JSON and in parity/, and stay.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator

from roboaccord.description.degrees import DEGREES
from roboaccord.description.tree import MOVING

from roboaccord_files.repair.trap import Trap, named_elements, remove_children

STEEP = 0.99999  # sine of the pitch; above it urdfdom reads the pitch as 90 degrees
# Largest deviation of an axis's length from 1 that is no trap: the rounding of axes to three
# digits.
LENGTH_ERROR = 1e-3
# rad; a pitch this close to 90 degrees is meant to be 90 degrees, written with eight digits.
RIGHT_ANGLE_ERROR = 1e-7
MIMIC = "mimic"  # name of the trap, and of its element


def axes(top: ET.Element) -> Iterator[Trap]:
    """Yield axes whose length is not 1."""
    names = []
    for joint in top.findall("joint"):
        axis = joint.find("axis")
        if joint.get("type") in MOVING and axis is not None:
            length = math.hypot(*map(float, axis.get("xyz", "1 0 0").split()))
            if length and abs(length - 1.0) > LENGTH_ERROR:
                names.append(joint.get("name", ""))
    yield Trap("axis length", tuple(names), "divide it by its length", _normalise, of="joint")


def _normalise(top: ET.Element, names: Collection[str]) -> None:
    """Divide the axes of joints by their length."""
    for joint, _ in named_elements(top, "joint", names):
        for axis in joint.findall("axis"):
            values = [float(word) for word in axis.get("xyz", "1 0 0").split()]
            words = (repr(x / math.hypot(*values)).removesuffix(".0") for x in values)
            axis.set("xyz", " ".join(words))


def mimic(top: ET.Element) -> Iterator[Trap]:
    """Yield joints that mimic others."""
    names = tuple(e.get("name", "") for e in top.findall("joint") if e.find(MIMIC) is not None)
    advice = "state the constraint in each engine's own model; no two readers take <mimic> alike"
    yield Trap(MIMIC, names, advice, remove_children("joint", MIMIC), certain=False, of="joint")


def steep(top: ET.Element) -> Iterator[Trap]:
    """Yield fixed joints whose pitch is near 90 degrees, but not equal to it.

    If the sine is above 0.99999, urdfdom reads the pitch as 90 degrees, and SDFormat then merges
    the link into its parent with an error of up to 4.5 mrad.
    """
    names = []
    for joint in top.findall("joint[@type='fixed']"):
        pitch = _pitch(joint)
        is_right_angle = abs(abs(pitch) - math.pi / 2) <= RIGHT_ANGLE_ERROR
        if not is_right_angle and abs(math.sin(pitch)) > STEEP:
            names.append(joint.get("name", ""))

    def write_right_angle(top: ET.Element, names: Collection[str]) -> None:
        """Write pitches of 90 degrees, with their sign."""
        for joint, _ in named_elements(top, "joint", names):
            origin = joint.find("origin")
            if origin is not None:
                roll, _, yaw = origin.get("rpy", "0 0 0").split()
                origin.set("rpy", f"{roll} {math.copysign(math.pi / 2, _pitch(joint))!r} {yaw}")

    advice = "urdfdom takes the pitch for 90 degrees: write it so, or turn the link's own frame"
    cause = "pitch near 90 degrees"
    yield Trap(cause, tuple(names), advice, write_right_angle, certain=False, of="joint")


def _pitch(joint: ET.Element) -> float:
    """Return the pitch of a joint's origin [rad]."""
    origin = joint.find("origin")
    return float(origin.get("rpy", "0 0 0").split()[1]) if origin is not None else 0.0


def several_degrees(top: ET.Element) -> Iterator[Trap]:
    """Yield joints of types with several degrees of freedom, or of unknown types."""
    for kind in DEGREES:
        names = tuple(e.get("name", "") for e in top.findall(f"joint[@type='{kind}']"))
        cure = "write slides and hinges, or let the base be free"
        advice = f"few readers know a {kind} joint: {cure}"
        yield Trap(f"{kind} joint", names, advice, _weld, certain=False, of="joint")
    types = (*MOVING, "fixed", *DEGREES)
    names = tuple(e.get("name", "") for e in top.findall("joint") if e.get("type") not in types)
    advice = "URDF has no such type: write slides and hinges"
    yield Trap("joint type", names, advice, _weld, certain=False, of="joint")


def _weld(top: ET.Element, names: Collection[str]) -> None:
    """Make joints fixed."""
    for joint, _ in named_elements(top, "joint", names):
        joint.set("type", "fixed")


def loops(top: ET.Element) -> Iterator[Trap]:
    """Yield joints that close a loop."""
    names = tuple(e.get("name", "") for e in top.findall("loop_joint"))
    advice = "URDF has no loops: state the constraint in each engine's own model"

    def cut(top: ET.Element, names: Collection[str]) -> None:
        """Remove the elements."""
        for element, _ in named_elements(top, "loop_joint", names):
            top.remove(element)

    yield Trap("loop joint", names, advice, cut, certain=False, of="loop_joint")
