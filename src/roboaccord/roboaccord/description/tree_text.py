"""The text of a URDF from bodies and joints that another format has read."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description.tree import MOVING, Joint, Link, Tree

ENDLESS = 1e9  # rad, m, N m, N, rad/s: urdfdom wants a number where there is no limit
WORLD = "world"
AXES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")

Pose = tuple[Array, Array]
"""Position (3,) [m] and rotation (3, 3)."""
HERE: Pose = (np.zeros(3), np.eye(3))


@dataclass(frozen=True)
class Converted:
    """Hold the URDF of a robot in another format.

    Args:
        name: of the robot.
        text: of the URDF.
        notes: a line for each thing that URDF cannot say, and that is left out.
        made: links of no mass that only the URDF has.
    """

    name: str
    text: str
    notes: tuple[str, ...] = ()
    made: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Pivot:
    """Hold a joint between two bodies whose frames need not be where it turns.

    Args:
        name, kind, parent, child: as URDF has them.
        on_parent: pose of the joint's frame in the parent, at q = 0.
        on_child: pose of the joint's frame in the child.
        axis: unit axis in the joint's frame (3,).
        lower, upper, effort, damping, friction: as of a `Joint`.
    """

    name: str
    kind: str
    parent: str
    child: str
    on_parent: Pose = HERE
    on_child: Pose = HERE
    axis: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    lower: float = -np.inf
    upper: float = np.inf
    effort: float = np.inf
    damping: float = 0.0
    friction: float = 0.0

    def turned(self) -> Pivot:
        """Return the same joint with parent and child exchanged."""
        return replace(
            self, parent=self.child, child=self.parent, on_parent=self.on_child,
            on_child=self.on_parent, axis=-self.axis,
        )  # fmt: skip


def make_tree(links: Sequence[Link], pivots: Sequence[Pivot]) -> Tree:
    """Return the tree of bodies and joints; its frames keep the bodies' axes.

    A link's origin goes where the joint that leads to it turns. `world` is the root if it is there,
    else the first body that no joint leads to.

    Raises:
        AccordError: for a loop, or bodies that hang on nothing.
    """
    ends = {pivot.child for pivot in pivots}
    names = [link.name for link in links]
    free = [name for name in names if name not in ends] or names
    root = WORLD if WORLD in names else free[0]
    offset, joints, left = {root: np.zeros(3)}, list[Joint](), list(pivots)
    while near := [p for p in left if p.parent in offset or p.child in offset]:
        pivot = near[0]
        left.remove(pivot)
        if pivot.parent in offset and pivot.child in offset:
            raise AccordError(f"a loop at joint {pivot.name}: a URDF is a tree")
        pivot = pivot if pivot.parent in offset else pivot.turned()
        (place, turn), (inside, axes) = pivot.on_parent, pivot.on_child
        rotation = turn @ axes.T
        moved = inside if pivot.kind != "fixed" else np.zeros(3)
        offset[pivot.child] = moved
        joints.append(
            Joint(
                pivot.name, pivot.kind, pivot.parent, pivot.child,
                place - offset[pivot.parent] + rotation @ (moved - inside),
                rotation, axes @ pivot.axis, pivot.lower, pivot.upper,
                pivot.effort, pivot.damping, pivot.friction,
            )
        )  # fmt: skip
    loose = [name for name in names if name not in offset]
    if loose:
        raise AccordError(f"{loose[0]} hangs neither on {root} nor on what hangs there")
    by_name = {link.name: link for link in links}
    ordered = (replace(by_name[n], centre=by_name[n].centre - p) for n, p in offset.items())
    return Tree(tuple(ordered), tuple(joints))


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
        values = {key: repr(float(x)) for key, x in zip(AXES, moments, strict=True)}
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
            said = {key: repr(float(value)) for key, value in friction.items()}
            ET.SubElement(element, "dynamics", said)
    ET.indent(top)
    return ET.tostring(top, encoding="unicode")


def rpy(rotation: Array) -> Array:
    """Return roll, pitch, yaw (3,) of a rotation (3, 3) [rad], to round-off at any pitch."""
    (a, b, c), (d, e, f), (g, _, _) = rotation.tolist()
    yaw = math.atan2(d, a) if math.hypot(a, d) > 1e-9 else 0.0
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
