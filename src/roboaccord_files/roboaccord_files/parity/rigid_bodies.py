"""The rigid bodies of a robot's tree: links that fixed joints connect, and what they carry.

Two files of one robot may divide it into links differently, but its rigid bodies are the same.
`bodies_of` returns them for placing.py, which matches those of two files. A body has the frame of
its first link. All poses are at rest: at q = 0 of all joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.tree import MOVING, Joint, Tree
from roboaccord.engines.model import LinkProperties

from roboaccord_files.parity.frames import IDENTITY, Frame
from roboaccord_files.parity.lumps import lump


class Line(NamedTuple):
    """A line: a point of it (3,) [m], and its direction, a unit vector (3,)."""

    point: Array
    direction: Array


@dataclass(frozen=True, eq=False)
class RigidBody:
    """Links that are fixed to each other.

    Args:
        name: name of its first link, whose frame is that of the body.
        joint: joint that moves it; None for the root.
        parent: name of the body that carries it; "" for the root.
        pose: pose of its frame in that of its parent.
        links: poses of its links in its frame, by name.
        properties: mass properties of the body, in its frame.
        subtree: mass properties of the body with all bodies that it carries, in its frame.
    """

    name: str
    joint: Joint | None
    parent: str
    pose: Frame
    links: Mapping[str, Frame]
    properties: LinkProperties
    subtree: LinkProperties

    @property
    def moved_by(self) -> str:
        """The name of its joint; "" for the root."""
        return self.joint.name if self.joint else ""

    @property
    def axis(self) -> Array:
        """The axis of its joint, in its frame (3,); 0 for the root."""
        return self.joint.axis if self.joint else np.zeros(3)

    @property
    def line(self) -> Line:
        """The axis of its joint as a line in its parent's frame."""
        return Line(self.pose.position, self.pose.rotation @ self.axis)

    @property
    def slides(self) -> bool:
        """Whether its joint is prismatic; its axis then has a direction, but no position."""
        return bool(self.joint and self.joint.kind == "prismatic")


def bodies_of(tree: Tree) -> list[RigidBody]:
    """Return the bodies of a tree, each after the one that carries it."""
    root = tree.links[0].name
    # Of each link the name of its body, and its pose in the frame of the body.
    body_of, pose_of = {root: root}, {root: IDENTITY}
    # Of each body its joint, the name of its parent body, and its pose in the parent's frame.
    moved: dict[str, tuple[Joint | None, str, Frame]] = {root: (None, "", IDENTITY)}
    for joint in tree.joints:
        parent, child = body_of[joint.parent], joint.child
        pose = pose_of[joint.parent].then(Frame(joint.position, joint.rotation))
        if joint.kind in MOVING:
            moved[child] = joint, parent, pose
            body_of[child], pose_of[child] = child, IDENTITY
        else:
            body_of[child], pose_of[child] = parent, pose
    poses: dict[str, dict[str, Frame]] = {body: {} for body in moved}  # links of each body
    for link, body in body_of.items():
        poses[body][link] = pose_of[link]
    # Links of each body and of all bodies that it carries.
    carried = {body: [*links] for body, links in poses.items()}
    for body, (_, parent, _) in reversed(moved.items()):
        if parent:
            carried[parent] += carried[body]
    bodies = []
    for name, (moved_by, parent, pose) in moved.items():
        properties = lump(tree, name, [*poses[name]])
        subtree = lump(tree, name, carried[name])
        bodies.append(RigidBody(name, moved_by, parent, pose, poses[name], properties, subtree))
    return bodies


def in_frame(link: LinkProperties, pose: Frame) -> LinkProperties:
    """Return the properties of a link in another frame, given the pose of that frame."""
    centre, inertia = link.centre - pose.position, pose.rotation.T @ link.inertia @ pose.rotation
    return LinkProperties(link.mass, pose.rotation.T @ centre, inertia)
