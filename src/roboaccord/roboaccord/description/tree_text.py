"""The text of a URDF from bodies and joints that another format has read.

A format may be added (a `convert` of an engine), and calls `make_tree` and `write_tree`; what URDF
cannot express goes into `Converted.notes`. Numbers must be written by `repr`, to the last bit, and
angles by `rpy`, exact at any pitch: test_formats compares the motion with MuJoCo's own. ENDLESS
stands for no limit and may be any number beyond every limit; tree.py reads it as a number.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description.tree import MOMENTS, MOVING, Joint, Link, Tree

ENDLESS = 1e9  # rad, m, N m, N, rad/s: urdfdom wants a number where there is no limit
WORLD = "world"
LEVEL = 1e-9  # cosine of pitch below which yaw and roll are one angle to round-off
DRAKE = "http://drake.mit.edu"

# Position (3,) [m] and rotation (3, 3).
Pose = tuple[Array, Array]
HERE: Pose = (np.zeros(3), np.eye(3))
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Converted:
    """The URDF of a robot in another format.

    Args:
        name: of the robot.
        text: of the URDF.
        notes: a line for each thing that is left out because URDF cannot express it.
        made: massless links that only the URDF has.
        lacks: a line for each thing that changes the motion and that URDF cannot express.
        missing: paths of meshes and textures that do not exist.
        unweighed: links whose mass comes from a missing mesh; their mass in the text is wrong.
    """

    name: str
    text: str
    notes: tuple[str, ...] = ()
    made: frozenset[str] = frozenset()
    lacks: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unweighed: tuple[str, ...] = ()


def make_tree(links: Sequence[Link], joints: Sequence[tuple[Joint, Pose]]) -> Tree:
    """Return the tree of bodies and joints; its frames keep the bodies' axes.

    A link's origin is put where the joint that leads to it turns. The root is `world` if it exists,
    else the first body that no joint leads to.

    Args:
        links: the bodies.
        joints: each with position and rotation of its frame in the parent at q = 0, its axis in
            that frame, and the pose of that frame in the child.

    Raises:
        AccordError: for a loop, or bodies that are attached to nothing.
    """
    by_name = {link.name: link for link in links}
    ends = {joint.child for joint, _ in joints}
    root = WORLD if WORLD in by_name else next((n for n in by_name if n not in ends), "")
    root = root or links[0].name
    offset, ordered, waiting = {root: np.zeros(3)}, list[Joint](), list(joints)
    while near := [j for j in waiting if {j[0].parent, j[0].child} & offset.keys()]:
        waiting.remove(near[0])
        joint, (inside, axes) = near[0]
        if joint.parent in offset and joint.child in offset:
            raise AccordError(f"a loop at joint {joint.name}: a URDF is a tree")
        if joint.child in offset:  # the file goes from the tip to the base
            joint, (inside, axes) = _turned(*near[0])
        turn = joint.rotation @ axes.T
        moved = np.zeros(3) if joint.kind == "fixed" else inside
        position = joint.position - offset[joint.parent] + turn @ (moved - inside)
        ordered.append(replace(joint, position=position, rotation=turn, axis=axes @ joint.axis))
        offset[joint.child] = moved
    if loose := [name for name in by_name if name not in offset]:
        raise AccordError(f"{loose[0]} is attached neither to {root} nor to its descendants")
    shifted = (replace(by_name[n], centre=by_name[n].centre - p) for n, p in offset.items())
    return Tree(tuple(shifted), tuple(ordered))


def _turned(joint: Joint, on_child: Pose) -> tuple[Joint, Pose]:
    """Return the same joint with parent and child exchanged."""
    position, turn = on_child
    turned = replace(
        joint, parent=joint.child, child=joint.parent, position=position, rotation=turn,
        axis=-joint.axis,
    )  # fmt: skip
    return turned, (joint.position, joint.rotation)


def write_tree(tree: Tree, name: str) -> str:
    """Return the URDF of a tree, its numbers as they are to the last bit.

    Args:
        tree: of links without shapes.
        name: of the robot.
    """
    top = ET.Element("robot", name=name)
    for link in tree.links:
        element = ET.SubElement(top, "link", name=link.name)
        if link.name == WORLD:
            continue
        inertial = ET.SubElement(element, "inertial")
        ET.SubElement(inertial, "origin", xyz=_words(link.centre))
        ET.SubElement(inertial, "mass", value=repr(float(link.mass)))
        moments = link.inertia[np.triu_indices(3)]
        values = {key: repr(float(x)) for key, x in zip(MOMENTS, moments, strict=True)}
        ET.SubElement(inertial, "inertia", values)
    for joint in tree.joints:
        element = ET.SubElement(top, "joint", name=joint.name, type=joint.kind)
        ET.SubElement(element, "parent", link=joint.parent)
        ET.SubElement(element, "child", link=joint.child)
        turn = _words(rpy(joint.rotation))
        ET.SubElement(element, "origin", xyz=_words(joint.position), rpy=turn)
        if joint.kind in (*MOVING, "planar"):
            ET.SubElement(element, "axis", xyz=_words(joint.axis))
        if joint.kind in MOVING:
            ET.SubElement(element, "limit", dict(_limits(joint)))
            friction = {"damping": joint.damping, "friction": joint.friction}
            attributes = {key: repr(float(value)) for key, value in friction.items()}
            if any(joint.servo):
                attributes["servo"] = _words(np.array(joint.servo))
            ET.SubElement(element, "dynamics", attributes)
            if joint.mimic:
                words = zip(("joint", "multiplier", "offset"), map(str, joint.mimic))
                ET.SubElement(element, "mimic", dict(words))
        _write_drive(top, joint)
    ET.indent(top)
    ET.register_namespace("drake", DRAKE)  # a file read before may have given it another meaning
    return ET.tostring(top, encoding="unicode")


def _write_drive(top: ET.Element, joint: Joint) -> None:
    """Add the rotor of a joint in Drake's words, and its spring in those of SDFormat."""
    if joint.armature:
        drive = ET.SubElement(top, "transmission", name=f"{joint.name}_drive")
        ET.SubElement(drive, "type").text = "transmission_interface/SimpleTransmission"
        ET.SubElement(drive, "joint", name=joint.name)
        motor = ET.SubElement(drive, "actuator", name=f"{joint.name}_motor")
        ET.SubElement(motor, f"{{{DRAKE}}}rotor_inertia", value=repr(joint.armature))
    if joint.spring[0]:
        spring = ET.SubElement(top, "gazebo", reference=joint.name)
        for key, value in zip(("springStiffness", "springReference"), joint.spring):
            ET.SubElement(spring, key).text = repr(value)


def rpy(rotation: Array) -> Array:
    """Return roll, pitch, yaw (3,) of a rotation (3, 3) [rad], to round-off at any pitch."""
    (a, b, c), (d, e, f), (g, _, _) = rotation.tolist()
    yaw = math.atan2(d, a) if math.hypot(a, d) > LEVEL else 0.0
    cos, sin = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-g, cos * a + sin * d)
    return np.array([math.atan2(sin * c - cos * f, cos * e - sin * b), pitch, yaw])


def _limits(joint: Joint) -> Iterator[tuple[str, str]]:
    if joint.kind != "continuous":
        yield "lower", repr(float(max(joint.lower, -ENDLESS)))
        yield "upper", repr(float(min(joint.upper, ENDLESS)))
    yield "effort", repr(float(min(joint.effort, ENDLESS)))
    yield "velocity", repr(ENDLESS)


def _words(vector: Array) -> str:
    return " ".join(repr(float(x) + 0.0) for x in vector)
