"""Poses of links, joints, frames and nested models in a model of SDF.

`Frames` takes the element <model> that SDFormat prints and computes the pose of each element in the
frame of the model; sdformat.py makes a tree of links of them. An element is named by its path: its
name after those of the nested models around it, such as `left::tip`. A pose in SDF is relative to a
frame that the element names, or to a default one; the rules are those of SDFormat (sdformat.org,
Pose frame semantics). `Frame`, a pose, is used by other modules, too.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.description.tree_text import WORLD
from roboaccord.numerics.rotations import rpy_matrix


class Frame(NamedTuple):
    """The pose of a frame in another: position (3,) [m] and rotation (3, 3)."""

    position: Array
    rotation: Array

    @property
    def inverse(self) -> Frame:
        """The pose of the other frame in this one."""
        return Frame(-(self.rotation.T @ self.position), self.rotation.T)

    def then(self, other: Frame) -> Frame:
        """Return the pose of a frame that has the pose `other` in this one."""
        return Frame(self.position + self.rotation @ other.position, self.rotation @ other.rotation)


IDENTITY = Frame(np.zeros(3), np.eye(3))  # the identity: the pose of a frame in itself
POSED_TAGS = ("link", "joint", "frame", "model")  # elements that have a pose
MODEL = "__model__"  # SDFormat's name for the frame of the model around an element


class Frames:
    """The frames of a model as SDFormat prints it, with included models nested in it.

    Args:
        model: the outer model.

    Attributes:
        elements: links, joints, frames and models by path; the outer model is "".
    """

    def __init__(self, model: ET.Element) -> None:
        self.elements = {"": model}
        self._poses = {"": IDENTITY, WORLD: IDENTITY}  # as far as they were asked for, by path
        self._gather("", model)

    def _gather(self, scope: str, model: ET.Element) -> None:
        """Enter the elements of a model and of the models nested in it."""
        for element in model:
            if element.tag in POSED_TAGS:
                path = joined(scope, element.get("name", ""))
                self.elements[path] = element
                if element.tag == "model":
                    self._gather(path, element)

    def paths(self, tag: str) -> list[str]:
        """Return the paths of all links or joints."""
        return [path for path, element in self.elements.items() if element.tag == tag]

    def resolve(self, path: str, name: str) -> str:
        """Return the path of a name to which the element at a path refers, in the same model."""
        return WORLD if name == WORLD else joined(path.rpartition("::")[0], name)

    def pose(self, path: str) -> Frame:
        """Return the pose of a frame in the outer model.

        Raises:
            AccordError: if there is no element of that path.
        """
        if path not in self._poses:
            if path not in self.elements:
                reason = f"it leaves {path} out, and places a link by it"
                raise AccordError(f"sdformat refuses it: {reason}")
            element = self.elements[path]
            pose_element = element.find("pose")
            default = element.get("attached_to") or element.findtext("child") or MODEL
            base = default if pose_element is None else pose_element.get("relative_to") or default
            pose = self.pose(self.resolve(path, base)).then(pose_in(element))
            if placement := element.get("placement_frame"):
                pose = pose.then(Frames(element).pose(placement).inverse)
            self._poses[path] = pose
        return self._poses[path]

    def ends(self, path: str) -> tuple[str, str]:
        """Return the paths of the links to which the parent and child frame of a joint belong."""
        joint = self.elements[path]
        parent, child = (self.resolve(path, joint.findtext(end, "")) for end in ("parent", "child"))
        return self._link(parent), self._link(child)

    def _link(self, path: str) -> str:
        """Return the path of the link to which a frame is attached; the path itself if unknown."""
        element = self.elements.get(path)
        if path == WORLD or element is None or element.tag == "link":
            return path
        if element.tag == "model":
            # By default the first link is canonical; a model without links has one in a model.
            members = [*element.findall("link"), *element.findall("model")]
            first = members[0].get("name", "") if members else ""
            return self._link(joined(path, element.get("canonical_link") or first))
        carrier = element.findtext("child") or element.get("attached_to") or MODEL
        return self._link(self.resolve(path, carrier))


def joined(scope: str, name: str) -> str:
    """Return the path of a name in the model at the path `scope`."""
    return scope if name == MODEL else f"{scope}::{name}".removeprefix("::")


def unique(paths: Iterable[str], full_name: Callable[[str], str]) -> dict[str, str]:
    """Return the last name of each path, or its full name where several paths end in that name."""
    last = {path: path.rpartition("::")[2] for path in paths}
    counts = Counter(last.values())
    return {path: name if counts[name] == 1 else full_name(path) for path, name in last.items()}


def pose_in(element: ET.Element) -> Frame:
    """Return the pose in an element's <pose>, the identity if there is none."""
    # x, y, z, roll, pitch, yaw
    numbers = [float(word) for word in (element.findtext("pose") or "0 0 0 0 0 0").split()]
    return Frame(np.array(numbers[:3]), rpy_matrix(*numbers[3:]))
