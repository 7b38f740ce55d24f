"""The rigid bodies of a robot's tree: links that fixed joints hold together, and what they carry.

Two files of one robot may divide it into links differently, but its rigid bodies are the same. A
body has the frame of its first link.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.tree import MOVING, Joint, Tree
from roboaccord.engines.model import LinkProperties

from roboaccord_files.parity.frames import HERE, Frame
from roboaccord_files.parity.lumps import lump


class Line(NamedTuple):
    """A line: a point of it (3,) [m], and its direction, a unit vector (3,)."""

    point: Array
    direction: Array


@dataclass(frozen=True, eq=False)
class RigidBody:
    """Links that are fixed to each other.

    Args:
        name: name of its first link, whose frame is the body's.
        joint: joint that moves it; None for the root.
        parent: name of the body that carries it.
        pose: of its frame in that of its parent, at q = 0.
        links: poses of its links in its frame, by name.
        whole: mass properties of the body.
        below: mass properties of the body with all bodies that it carries, at q = 0.
    """

    name: str
    joint: Joint | None
    parent: str
    pose: Frame
    links: Mapping[str, Frame]
    whole: LinkProperties
    below: LinkProperties

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
        return Line(self.pose.position, self.pose.turn @ self.axis)

    @property
    def slides(self) -> bool:
        """Whether its joint is prismatic; its axis then has a direction, but no position."""
        return bool(self.joint and self.joint.kind == "prismatic")


def bodies_of(tree: Tree) -> list[RigidBody]:
    """Return the bodies of a tree, each after the one that carries it."""
    root = tree.links[0].name
    # Of each link its body, and its pose in it. A body has the name of its first link.
    body_of, pose_of = {root: root}, {root: HERE}
    moved: dict[str, tuple[Joint | None, str, Frame]] = {root: (None, "", HERE)}  # by body
    for joint in tree.joints:
        parent, child = body_of[joint.parent], joint.child
        pose = pose_of[joint.parent].then(Frame(joint.position, joint.rotation))
        if joint.kind in MOVING:
            moved[child] = joint, parent, pose
            body_of[child], pose_of[child] = child, HERE
        else:
            body_of[child], pose_of[child] = parent, pose
    poses = {body: {n: pose_of[n] for n, b in body_of.items() if b == body} for body in moved}
    # Links of each body and of all that it carries.
    carried = {body: [*links] for body, links in poses.items()}
    for body, (_, parent, _) in reversed(moved.items()):
        if parent:
            carried[parent] += carried[body]
    return [
        RigidBody(
            name, joint, parent, pose, poses[name],
            whole=lump(tree, name, [*poses[name]]), below=lump(tree, name, carried[name]),
        )
        for name, (joint, parent, pose) in moved.items()
    ]  # fmt: skip


def in_frame(link: LinkProperties, pose: Frame) -> LinkProperties:
    """Return the properties of a link in another frame, whose pose in the present one is given."""
    centre, inertia = link.centre - pose.position, pose.turn.T @ link.inertia @ pose.turn
    return LinkProperties(link.mass, pose.turn.T @ centre, inertia)
