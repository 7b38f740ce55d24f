"""Writing of a URDF from bodies and joints that were read from another format.

An engine's converter reads its format into `Link` and `Joint` objects, calls `make_tree`, which
moves each link's origin to where URDF wants it, and `write_tree`, which returns the text. What URDF
cannot express is listed in `Converted`.

Numbers are written by `repr`, to the last bit, and angles by `rpy`, which is exact at any pitch:
test_formats compares the motion of converted robots with MuJoCo's own.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from roboaccord.contract import AccordError, Array
from roboaccord.description.tree import MOMENTS, MOVING, Joint, Link, Tree

# Written where a joint has no limit [rad, m, N m, N, rad/s], because urdfdom requires a number: far
# beyond any real one.
ENDLESS = 1e9
WORLD = "world"  # name of the link that does not move
# Cosine of the pitch below which roll and yaw turn about the same axis to round-off, which would be
# 1e-7 rad in each of them; yaw is then set to 0.
VERTICAL_COSINE = 1e-9
DRAKE_NAMESPACE = "http://drake.mit.edu"  # namespace of the elements `drake:...`

# Position (3,) [m] and rotation (3, 3) of a frame in another.
Pose = tuple[Array, Array]
HERE: Pose = (np.zeros(3), np.eye(3))  # pose of a frame that coincides with the other one
UP = np.array([0.0, 0.0, 1.0])  # unit vector of the z axis, also the axis of joints without one


@dataclass(frozen=True)
class Converted:
    """A robot of another format as a URDF, with what was lost in conversion.

    Args:
        name: of the robot.
        text: of the URDF.
        notes: lines for the user, one for each thing that is left out and hardly matters.
        made: massless links that the conversion made, between several joints of one body.
        lacks: one line for each thing that changes the motion and that URDF cannot express.
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
    """Return the tree of bodies and joints, as URDF wants it.

    In a URDF the frame of a link is on the joint that leads to it, so origins of links are shifted;
    the axes of the bodies' frames stay. The root is `world` if there is one, else the first body
    that is no joint's child.

    Args:
        links: the bodies.
        joints: each joint with position and rotation of its frame in the parent at q = 0 and its
            axis in that frame; and the pose of the same frame in the child.

    Raises:
        AccordError: for a loop, or bodies that are attached to nothing.
    """
    by_name = {link.name: link for link in links}
    children = {joint.child for joint, _ in joints}
    root = WORLD if WORLD in by_name else next((n for n in by_name if n not in children), "")
    root = root or links[0].name  # all are children in a loop, which is refused below
    # From the root outward, take the next joint that is attached to a link in the tree.
    origins = {root: np.zeros(3)}  # by link: its new origin in the frame of its body (3,) [m]
    ordered, remaining = list[Joint](), list(joints)
    while attached := [j for j in remaining if {j[0].parent, j[0].child} & origins.keys()]:
        remaining.remove(attached[0])
        joint, pose_in_child = attached[0]
        if joint.parent in origins and joint.child in origins:
            raise AccordError(f"a loop at joint {joint.name}: a URDF is a tree")
        if joint.child in origins:  # the file goes from the tip to the base: exchange both ends
            joint, pose_in_child = _reversed(joint, pose_in_child)
        # Position and axes of the joint in the child; rotation of the child in the parent.
        point, axes = pose_in_child
        rotation = joint.rotation @ axes.T
        # The child's new origin is on the joint, unless that is fixed; then its position in the
        # parent, whose origin has moved, too.
        origin = np.zeros(3) if joint.kind == "fixed" else point
        position = joint.position - origins[joint.parent] + rotation @ (origin - point)
        ordered.append(replace(joint, position=position, rotation=rotation, axis=axes @ joint.axis))
        origins[joint.child] = origin
    if unattached := [name for name in by_name if name not in origins]:
        raise AccordError(f"{unattached[0]} is attached neither to {root} nor to its descendants")
    # Centres of mass are relative to the new origins.
    shifted = (replace(by_name[n], centre=by_name[n].centre - p) for n, p in origins.items())
    return Tree(tuple(shifted), tuple(ordered))


def _reversed(joint: Joint, pose_in_child: Pose) -> tuple[Joint, Pose]:
    """Return the same joint with parent and child exchanged."""
    position, rotation = pose_in_child
    exchanged = replace(joint, parent=joint.child, child=joint.parent, axis=-joint.axis)
    exchanged = replace(exchanged, position=position, rotation=rotation)
    return exchanged, (joint.position, joint.rotation)


def write_tree(tree: Tree, name: str) -> str:
    """Return the URDF of a tree, with numbers that are exact to the last bit.

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
                leader, multiplier, offset = map(str, joint.mimic)
                ET.SubElement(element, "mimic", joint=leader, multiplier=multiplier, offset=offset)
        _write_drive(top, joint)
    ET.indent(top)
    # Always registered, because a file read before may have given the prefix another meaning.
    ET.register_namespace("drake", DRAKE_NAMESPACE)
    return ET.tostring(top, encoding="unicode")


def _write_drive(top: ET.Element, joint: Joint) -> None:
    """Add a joint's rotor as an element of Drake's, and its spring as one of SDFormat's."""
    if joint.armature:
        drive = ET.SubElement(top, "transmission", name=f"{joint.name}_drive")
        ET.SubElement(drive, "type").text = "transmission_interface/SimpleTransmission"
        ET.SubElement(drive, "joint", name=joint.name)
        motor = ET.SubElement(drive, "actuator", name=f"{joint.name}_motor")
        ET.SubElement(motor, f"{{{DRAKE_NAMESPACE}}}rotor_inertia", value=repr(joint.armature))
    if joint.spring[0]:
        spring = ET.SubElement(top, "gazebo", reference=joint.name)
        ET.SubElement(spring, "springStiffness").text = repr(joint.spring[0])
        ET.SubElement(spring, "springReference").text = repr(joint.spring[1])


def rpy(rotation: Array) -> Array:
    """Return roll, pitch, yaw (3,) [rad] of a rotation (3, 3), to round-off at any pitch.

    R = Rz(yaw) Ry(pitch) Rx(roll). The first column gives yaw; then Rz(yaw)' R = Ry(pitch) Rx(roll)
    has -sin(pitch) and cos(pitch) in its first column, cos(roll) and -sin(roll) in its second row.
    """
    (r00, r01, r02), (r10, r11, r12), (r20, _, _) = rotation.tolist()
    yaw = math.atan2(r10, r00) if math.hypot(r00, r10) > VERTICAL_COSINE else 0.0
    cos, sin = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-r20, cos * r00 + sin * r10)
    return np.array([math.atan2(sin * r02 - cos * r12, cos * r11 - sin * r01), pitch, yaw])


def _limits(joint: Joint) -> Iterator[tuple[str, str]]:
    """Yield the attributes of a joint's limits, with ENDLESS where there is none."""
    if joint.kind != "continuous":
        yield "lower", repr(float(max(joint.lower, -ENDLESS)))
        yield "upper", repr(float(min(joint.upper, ENDLESS)))
    yield "effort", repr(float(min(joint.effort, ENDLESS)))
    yield "velocity", repr(float(min(joint.velocity, ENDLESS)))


def _words(vector: Array) -> str:
    """Return numbers as text that reads back exactly, with -0 as 0."""
    return " ".join(repr(float(x) + 0.0) for x in vector)
