"""Kinematic tree of a URDF: links, joints, inertias and forward kinematics.

The order of links and joints is fixed: from the root level by level, joints of one link as the file
has them. Arrays of all simulators follow it. Frames, axes and defaults are those of URDF
(test_kinematics). Attributes of the file may be added: give `Link` or `Joint` a field with a
default and read it in `_read_link` or `_read_joint`. MOVING, the joints that count as degrees of
freedom, stays; others are first split by degrees.py.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description.rotors import number, rotor_inertias, springs_of
from roboaccord.description.xml_numbers import numbers
from roboaccord.numerics.rotations import axis_angle_matrix, quaternion_matrix, rpy_matrix

MOVING = ("revolute", "continuous", "prismatic")
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@dataclass(frozen=True)
class Link:
    """A link.

    Args:
        name: of the link.
        mass: [kg].
        centre: of mass, in the link's frame (3,) [m].
        inertia: about the centre of mass, in the axes of the link (3, 3) [kg m^2].
        boxes: visual boxes: size (3,), centre (3,), rotation (3, 3), in the link frame.
    """

    name: str
    mass: float
    centre: Array
    inertia: Array
    boxes: tuple[tuple[Array, Array, Array], ...]


@dataclass(frozen=True)
class Joint:
    """A joint.

    Args:
        name, kind, parent, child: as in the URDF.
        position, rotation: of its frame in the parent's (3,) [m], (3, 3).
        axis: unit vector in its frame (3,).
        lower, upper: limits [rad or m].
        effort: limit [N m or N].
        damping, friction: viscous [N m s/rad or N s/m] and dry [N m or N].
        mimic: name of the joint that it follows, with multiplier and offset; or None.
        armature: inertia that its rotor adds [kg m^2 or kg].
        spring: stiffness [N m/rad or N/m], and the position at which the spring is slack.
        servo: stiffness [N m/rad or N/m] and damping of the servo that drives it to a position or
            rate.
    """

    name: str
    kind: str
    parent: str
    child: str
    position: Array
    rotation: Array
    axis: Array
    lower: float
    upper: float
    effort: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    mimic: tuple[str, float, float] | None = None
    armature: float = 0.0
    spring: tuple[float, float] = (0.0, 0.0)
    servo: tuple[float, float] = (0.0, 0.0)

    @property
    def ends(self) -> tuple[float, float]:
        """Least and largest position [rad or m]; infinite for a joint without stops."""
        return (-np.inf, np.inf) if self.kind == "continuous" else (self.lower, self.upper)


@dataclass(frozen=True)
class Tree:
    """The kinematic tree of a URDF, with its forward kinematics.

    The first link is the root. Where `base_link` is a ball between rollers, it floats (URDF's word)
    in another link, the root of a second tree: `world`, which does not move, or a body with a
    bearing, which goes where the ball goes but does not turn.

    Args:
        links: k of them, each tree from its root.
        joints: between them, without the one in which `base_link` floats.
        frame: index of the root of the second tree, 0 where there is none.
        in_world: whether there is a link `world` beside the tree.
    """

    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    frame: int = 0
    in_world: bool = False

    @classmethod
    def parse(cls, urdf: str, source: str = "URDF", *, root: str = "base_link") -> Tree:
        """Read a URDF.

        Args:
            urdf: its text.
            source: its name, for messages.
            root: link at the root of the tree; with `world`, a hinge to the world is a joint of the
                tree.

        Raises:
            AccordError: if it is not XML, has no `root`, or its joints form no tree.
        """
        broken = f"broken description {source}"
        try:
            top = ET.fromstring(urdf)
            links = {e.get("name", ""): _read_link(e) for e in top.findall("link")}
            joints = driven([_read_joint(e) for e in top.findall("joint")], top)
        except (ET.ParseError, ValueError, AttributeError, KeyError) as error:
            raise AccordError(f"{broken}: {error}") from None
        if root not in links:
            raise AccordError(f"{broken}: it has no {root}")
        for joint in joints:
            for end in (joint.parent, joint.child):
                if end not in links:
                    missing = f"link {end}, which does not exist"
                    raise AccordError(f"{broken}: {joint.name} names {missing}")
        reached, ordered, frame = [root], list[Joint](), 0
        _follow(joints, reached, ordered, source)
        if ball := next((j for j in joints if j.kind == "floating" and j.child == root), None):
            frame = len(reached)
            _follow([j for j in joints if j is not ball], beside := [ball.parent], ordered, source)
            reached += beside
        unattached = set(links) - set(reached)
        if loose := unattached - {"world"}:
            raise AccordError(f"{broken}: {min(loose)} is not attached to any link")
        ordered_links = tuple(links[name] for name in reached)
        return cls(ordered_links, tuple(ordered), frame, in_world=bool(unattached))

    @property
    def bearing(self) -> bool:
        """True if the first link is a ball in a bearing of the second tree's root."""
        return self.frame > 0 and self.links[self.frame].name != "world"

    @cached_property
    def moving(self) -> tuple[Joint, ...]:
        """The joints that move, in tree order."""
        return tuple(joint for joint in self.joints if joint.kind in MOVING)

    @cached_property
    def hinges(self) -> frozenset[str]:
        """Names of the joints that turn about an axis."""
        return frozenset(joint.name for joint in self.moving if joint.kind != "prismatic")

    def independent(self, joints: Sequence[str]) -> tuple[Array, Array]:
        """Return G (n, m) and q0 (n,) of q = G z + q0, with the positions q of joints.

        z are the positions of the m joints that mimic no other.

        Raises:
            AccordError: for a joint that mimics itself, or one that is not among `joints`.
        """
        leads = {joint.name: joint.mimic for joint in self.moving if joint.mimic}
        free = [name for name in joints if name not in leads]
        column = {name: i for i, name in enumerate(free)}
        matrix, offset = np.zeros((len(joints), len(free))), np.zeros(len(joints))
        for row, name in enumerate(joints):
            at, factor, seen = name, 1.0, {name}
            while (lead := leads.get(at)) is not None:
                at, multiplier, more = lead
                offset[row] += factor * more
                factor *= multiplier
                if at in seen:
                    raise AccordError(f"broken description: joint {name} mimics itself")
                seen.add(at)
            if at not in column:
                still = f"{at}, which does not move"
                raise AccordError(f"broken description: joint {name} mimics {still}")
            matrix[row, column[at]] = factor
        return matrix, offset

    def forward(
        self, joints: tuple[str, ...], q: Array, position: Array, orientation: Array
    ) -> tuple[Array, Array]:
        """Return the poses of the links.

        Args:
            joints: names, in the order of `q`.
            q: joint positions (..., n) [rad].
            position: of the first link, usually `base_link` (..., 3) [m].
            orientation: of the first link, x y z w (..., 4).

        Returns:
            origins (..., k, 3) [m] and rotations (..., k, 3, 3) of the k links, in tree order.
        """
        column = {name: i for i, name in enumerate(joints)}
        index = {link.name: i for i, link in enumerate(self.links)}
        origins = np.empty((*q.shape[:-1], len(self.links), 3))
        rotations = np.empty((*q.shape[:-1], len(self.links), 3, 3))
        origins[..., self.frame, :] = position if self.bearing else 0.0
        rotations[..., self.frame, :, :] = np.eye(3)
        origins[..., 0, :] = position
        rotations[..., 0, :, :] = quaternion_matrix(orientation)
        for joint in self.joints:
            a, b = index[joint.parent], index[joint.child]
            parent = rotations[..., a, :, :]
            origin = joint.position
            turn: Array = parent @ joint.rotation
            if joint.kind == "prismatic":
                origin = origin + q[..., column[joint.name], None] * (joint.rotation @ joint.axis)
            elif joint.kind in MOVING:
                turn = turn @ axis_angle_matrix(joint.axis, q[..., column[joint.name]])
            origins[..., b, :] = origins[..., a, :] + (parent @ origin[..., None])[..., 0]
            rotations[..., b, :, :] = turn
        return origins, rotations

    def centres(self, origins: Array, rotations: Array) -> Array:
        """Return the centre of mass (..., 3) [m] of links in poses as of `forward`."""
        masses = np.array([link.mass for link in self.links])
        offsets = np.array([link.centre for link in self.links])
        weights = masses / masses.sum() if masses.sum() else np.full(len(masses), 1 / len(masses))
        where = origins + np.einsum("...kij,kj->...ki", rotations, offsets)
        return np.asarray(np.einsum("k,...ki->...i", weights, where))


def _follow(joints: list[Joint], reached: list[str], ordered: list[Joint], source: str) -> None:
    """Append all links below the one in `reached` to it, and their joints to `ordered`."""
    hanging: dict[str, list[Joint]] = {}
    for joint in joints:
        hanging.setdefault(joint.parent, []).append(joint)
    for name in reached:
        for joint in hanging.get(name, ()):
            if joint.child in reached:
                raise AccordError(f"broken description {source}: a loop at {joint.name}")
            ordered.append(joint)
            reached.append(joint.child)


def _pose(element: ET.Element | None) -> tuple[Array, Array]:
    origin = element.find("origin") if element is not None else None
    if origin is None:
        return np.zeros(3), np.eye(3)
    return numbers(origin, "xyz"), rpy_matrix(*numbers(origin, "rpy"))


def _read_link(element: ET.Element) -> Link:
    inertial = element.find("inertial")
    mass = inertial.find("mass") if inertial is not None else None
    tensor = inertial.find("inertia") if inertial is not None else None
    centre, turn = _pose(inertial)
    inertia = np.zeros((3, 3))
    if tensor is not None:
        inertia = turn @ symmetric([float(tensor.attrib[key]) for key in MOMENTS]) @ turn.T
    boxes = []
    for visual in element.findall("visual"):
        box = visual.find("geometry/box")
        if box is not None:
            boxes.append((numbers(box, "size"), *_pose(visual)))
    kilograms = float(mass.attrib["value"]) if mass is not None else 0.0
    return Link(element.attrib["name"], kilograms, centre, inertia, tuple(boxes))


def symmetric(moments: Sequence[float]) -> Array:
    """Return the symmetric matrix (3, 3) of six entries in the order of `MOMENTS`."""
    xx, xy, xz, yy, yz, zz = moments
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _read_joint(element: ET.Element) -> Joint:
    parent, child = element.find("parent"), element.find("child")
    if parent is None or child is None:
        raise ValueError(f"joint {element.get('name')} lacks a parent or a child")
    axis, dynamics = element.find("axis"), element.find("dynamics")
    direction = numbers(axis, "xyz", "1 0 0")
    direction = direction / (math.hypot(*direction) or 1.0)  # of any length in the file
    if element.get("type") in MOVING and not direction.any():
        raise ValueError(f"joint {element.get('name')}: its axis has no direction")
    stiff, damped = numbers(dynamics, "servo", "0 0").tolist()
    limit, mimic, lead = element.find("limit"), element.find("mimic"), None
    if mimic is not None:
        factor, offset = number(mimic, "multiplier", 1.0), number(mimic, "offset", 0.0)
        lead = (mimic.get("joint", ""), factor, offset)
    return Joint(
        element.attrib["name"], element.attrib["type"], parent.attrib["link"],
        child.attrib["link"], *_pose(element), direction,
        lower=number(limit, "lower", -np.inf), upper=number(limit, "upper", np.inf),
        effort=number(limit, "effort", np.inf), damping=number(dynamics, "damping", 0.0),
        friction=number(dynamics, "friction", 0.0), mimic=lead,
        servo=(stiff, damped),
    )  # fmt: skip


def driven(joints: Sequence[Joint], top: ET.Element) -> list[Joint]:
    """Return joints with the rotors and springs that a URDF states outside their elements."""
    rotors, springs = rotor_inertias(top), springs_of(top)
    return [
        replace(j, armature=rotors.get(j.name, 0.0), spring=springs.get(j.name, (0.0, 0.0)))
        for j in joints
    ]


def rotors_of(tree: Tree, joints: Sequence[str]) -> Array:
    """Return the inertia that rotors add to joints of a tree (n,) [kg m^2 or kg]."""
    armatures = {joint.name: joint.armature for joint in tree.moving}
    return np.array([armatures.get(name, 0.0) for name in joints])
