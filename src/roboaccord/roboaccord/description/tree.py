"""Kinematic tree of a URDF: links, joints, inertias and forward kinematics.

`Tree.parse` reads a URDF into `Link` and `Joint` objects, with frames, axes and defaults as URDF
defines them (test_kinematics). Scenarios, simulators and engines take the robot from there. Links
and joints are in the order of the tree: from the root level by level, joints of one link as in the
file. Arrays of all simulators follow it.

An attribute of the file may be added: give `Link` or `Joint` a field with a default and read it in
`_read_link` or `_read_joint`. Joints that move have one degree of freedom (MOVING); others are
first split by degrees.py.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from roboaccord.contract import AccordError, Array
from roboaccord.description.rotors import Springs, rotor_inertias, springs_of
from roboaccord.description.xml_numbers import number, numbers
from roboaccord.numerics.rotations import axis_angle_matrix, quaternion_matrix, rpy_matrix

MOVING = ("revolute", "continuous", "prismatic")  # kinds of joints with a degree of freedom
# Attributes of an inertia, in the order of the upper triangle.
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@dataclass(frozen=True)
class Link:
    """A link of a URDF, with its inertia.

    Args:
        name: of the link.
        mass: [kg].
        centre: of mass, in the link's frame (3,) [m].
        inertia: about the centre of mass, in the axes of the link (3, 3) [kg m^2].
    """

    name: str
    mass: float
    centre: Array
    inertia: Array


@dataclass(frozen=True)
class Joint:
    """A joint of a URDF, with its drive.

    Args:
        name, kind: as in the URDF.
        parent, child: names of the links that it connects.
        position, rotation: of its frame in the parent's (3,) [m], (3, 3).
        axis: unit vector in its frame (3,).
        lower, upper: limits [rad or m].
        effort, velocity: limits [N m or N], [rad/s or m/s].
        damping, friction: viscous [N m s/rad or N s/m] and dry [N m or N].
        mimic: name of the joint that it follows, with multiplier and offset; or None.
        armature: inertia that its rotor adds [kg m^2 or kg].
        spring: stiffness [N m/rad or N/m], and the position at which the spring is slack.
        servo: stiffness [N m/rad or N/m] and damping [N m s/rad or N s/m] of the servo that drives
            the joint to a position or rate.
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
    velocity: float = np.inf

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest position [rad or m]; infinite for a joint without stops."""
        return (-np.inf, np.inf) if self.kind == "continuous" else (self.lower, self.upper)


@dataclass(frozen=True)
class Tree:
    """The kinematic tree of a URDF, with its forward kinematics.

    The first link is the root. If `base_link` is a ball between rollers, a floating joint (URDF's
    word) connects it to the root of a second tree: `world`, which does not move, or a body with a
    bearing, which travels with the ball but does not turn.

    Args:
        links: k links, each tree from its root.
        joints: between them, without the floating one of `base_link`.
        frame: index of the root of the second tree, 0 if there is none.
        in_world: whether there is a link `world` that is not part of the tree.
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
            drives = rotor_inertias(top), springs_of(top)
            joints = [_read_joint(e, *drives) for e in top.findall("joint")]
        except (ET.ParseError, ValueError, AttributeError, KeyError) as error:
            raise AccordError(f"{broken}: {error}") from None
        if root not in links:
            raise AccordError(f"{broken}: it has no {root}")
        for joint in joints:
            for end in (joint.parent, joint.child):
                if end not in links:
                    missing = f"link {end}, which does not exist"
                    raise AccordError(f"{broken}: {joint.name} names {missing}")
        # Links and joints level by level; then the second tree, below the joint of a ball.
        names, ordered = [root], list[Joint]()
        frame = 0
        _append_below(joints, names, ordered, source)
        ball = next((j for j in joints if j.kind == "floating" and j.child == root), None)
        if ball is not None:
            frame, second = len(names), [ball.parent]
            _append_below([j for j in joints if j is not ball], second, ordered, source)
            names += second
        outside = set(links) - set(names)
        if unattached := outside - {"world"}:
            raise AccordError(f"{broken}: {min(unattached)} is not attached to any link")
        ordered_links = tuple(links[name] for name in names)
        return cls(ordered_links, tuple(ordered), frame, in_world=bool(outside))

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
        """Return how the positions of all joints follow from those of the independent ones.

        Returns:
            G (n, m) and q0 (n,) of q = G z + q0, with the positions q of all n joints and z of the
            m joints that mimic no other.

        Raises:
            AccordError: for a joint that mimics itself, or one that is not among `joints`.
        """
        mimics = {joint.name: joint.mimic for joint in self.moving if joint.mimic}
        independent_names = [name for name in joints if name not in mimics]
        columns = {name: i for i, name in enumerate(independent_names)}
        matrix, offset = np.zeros((len(joints), len(independent_names))), np.zeros(len(joints))
        # Follow each joint to the one that it mimics in the end, and multiply the ratios.
        for row, name in enumerate(joints):
            leader, ratio, visited = name, 1.0, set[str]()
            while leader in mimics:
                if leader in visited:
                    raise AccordError(f"broken description: joint {name} mimics itself")
                visited.add(leader)
                leader, multiplier, addend = mimics[leader]
                offset[row] += ratio * addend
                ratio *= multiplier
            if leader not in columns:
                not_moving = f"{leader}, which does not move"
                raise AccordError(f"broken description: joint {name} mimics {not_moving}")
            matrix[row, columns[leader]] = ratio
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
        columns = {name: i for i, name in enumerate(joints)}
        index = {link.name: i for i, link in enumerate(self.links)}
        origins = np.empty((*q.shape[:-1], len(self.links), 3))
        rotations = np.empty((*q.shape[:-1], len(self.links), 3, 3))
        origins[..., self.frame, :] = position if self.bearing else 0.0
        rotations[..., self.frame, :, :] = np.eye(3)
        origins[..., 0, :] = position
        rotations[..., 0, :, :] = quaternion_matrix(orientation)
        for joint in self.joints:
            parent, child = index[joint.parent], index[joint.child]
            parent_turn = rotations[..., parent, :, :]
            shift = joint.position  # of the child in the parent's frame
            rotation: Array = parent_turn @ joint.rotation
            if joint.kind == "prismatic":
                shift = shift + q[..., columns[joint.name], None] * (joint.rotation @ joint.axis)
            elif joint.kind in MOVING:
                rotation = rotation @ axis_angle_matrix(joint.axis, q[..., columns[joint.name]])
            lever = (parent_turn @ shift[..., None])[..., 0]
            origins[..., child, :] = origins[..., parent, :] + lever
            rotations[..., child, :, :] = rotation
        return origins, rotations

    def centres(self, origins: Array, rotations: Array) -> Array:
        """Return the centre of mass (..., 3) [m] of links in poses as of `forward`."""
        masses = np.array([link.mass for link in self.links])
        offsets = np.array([link.centre for link in self.links])
        weights = masses / masses.sum() if masses.sum() else np.full(len(masses), 1 / len(masses))
        positions = origins + np.einsum("...kij,kj->...ki", rotations, offsets)
        return np.asarray(np.einsum("k,...ki->...i", weights, positions))


def _append_below(joints: list[Joint], names: list[str], ordered: list[Joint], source: str) -> None:
    """Append the links below the one in `names`, level by level, and their joints to `ordered`."""
    joints_of: dict[str, list[Joint]] = {}  # by name of their parent
    for joint in joints:
        joints_of.setdefault(joint.parent, []).append(joint)
    for name in names:  # which grows
        for joint in joints_of.get(name, ()):
            if joint.child in names:
                raise AccordError(f"broken description {source}: a loop at {joint.name}")
            ordered.append(joint)
            names.append(joint.child)


def _pose(element: ET.Element | None) -> tuple[Array, Array]:
    """Return position (3,) [m] and rotation (3, 3) of an element's `<origin>`."""
    origin = element.find("origin") if element is not None else None
    if origin is None:
        return np.zeros(3), np.eye(3)
    return numbers(origin, "xyz"), rpy_matrix(*numbers(origin, "rpy"))


def _read_link(element: ET.Element) -> Link:
    """Return the link of a `<link>`; without an inertial its mass and inertia are 0."""
    mass, tensor = element.find("inertial/mass"), element.find("inertial/inertia")
    centre, turn = _pose(element.find("inertial"))
    inertia = np.zeros((3, 3))
    if tensor is not None:
        inertia = turn @ symmetric([float(tensor.attrib[key]) for key in MOMENTS]) @ turn.T
    kilograms = float(mass.attrib["value"]) if mass is not None else 0.0
    return Link(element.attrib["name"], kilograms, centre, inertia)


def symmetric(moments: Sequence[float]) -> Array:
    """Return the symmetric matrix (3, 3) of six entries in the order of `MOMENTS`."""
    xx, xy, xz, yy, yz, zz = moments
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _read_joint(element: ET.Element, rotors: dict[str, float], springs: Springs) -> Joint:
    """Return the joint of a `<joint>`, with its rotor and spring, which are given by joint."""
    parent, child = element.find("parent"), element.find("child")
    if parent is None or child is None:
        raise ValueError(f"joint {element.get('name')} lacks a parent or a child")
    direction = numbers(element.find("axis"), "xyz", "1 0 0")
    direction = direction / (math.hypot(*direction) or 1.0)  # of any length in the file
    if element.get("type") in MOVING and not direction.any():
        raise ValueError(f"joint {element.get('name')}: its axis has no direction")
    limit, dynamics = element.find("limit"), element.find("dynamics")
    stiffness, damping = numbers(dynamics, "servo", "0 0").tolist()
    mimic = element.find("mimic")
    leader = None
    if mimic is not None:
        multiplier, offset = number(mimic, "multiplier", 1.0), number(mimic, "offset", 0.0)
        leader = (mimic.get("joint", ""), multiplier, offset)
    position, rotation = _pose(element)
    return Joint(
        name=element.attrib["name"],
        kind=element.attrib["type"],
        parent=parent.attrib["link"],
        child=child.attrib["link"],
        position=position,
        rotation=rotation,
        axis=direction,
        lower=number(limit, "lower", -np.inf),
        upper=number(limit, "upper", np.inf),
        effort=number(limit, "effort", np.inf),
        velocity=number(limit, "velocity", np.inf),
        damping=number(dynamics, "damping", 0.0),
        friction=number(dynamics, "friction", 0.0),
        mimic=leader,
        armature=rotors.get(element.attrib["name"], 0.0),
        spring=springs.get(element.attrib["name"], (0.0, 0.0)),
        servo=(stiffness, damping),
    )


def rotors_of(tree: Tree, joints: Sequence[str]) -> Array:
    """Return the inertia that rotors add to joints of a tree (n,) [kg m^2 or kg]."""
    armatures = {joint.name: joint.armature for joint in tree.moving}
    return np.array([armatures.get(name, 0.0) for name in joints])
