"""What an engine simulates (`EngineModel`), and the properties that it should then have.

An `EngineModel` is a description (URDF) with everything that the description lacks: how the base
moves, limits of efforts, friction, contacts, faults. Each robot makes one from a scenario, and
every engine accepts it. `intended_properties` computes masses, axes and limits from the model
alone; the level `acceleration` of the cross-check compares an engine's own `Properties` with them,
so this function must never ask an engine.

To let engines simulate more, add a field with a default to `EngineModel`; an engine that cannot do
it gets a name in `Feature` of spec.py and a line in its `lacks`.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from roboaccord.contract import AccordError, Array, Contact, Fault, Quantity
from roboaccord.contract.interfaces import ForceLaw
from roboaccord.description.base_kinds import Base
from roboaccord.description.tree import Tree, rotors_of

if TYPE_CHECKING:
    from roboaccord.scenario.setup import Setup
    from roboaccord.simulators.friction import JointFriction

# Names of links in a URDF that all engines rely on: the robot's first link, and the world itself.
BASE_LINK = "base_link"
WORLD = "world"


@dataclass(frozen=True)
class Ball:
    """A ball: mass [kg], inertia about its centre (3, 3) [kg m^2] and radius [m]."""

    mass: float
    inertia: Array
    radius: float


def split_ball(urdf: str, tree: Tree) -> tuple[str, Ball]:
    """Return a URDF without its `base_link`, and that link as a ball.

    It is used for a ball that floats inside the frame of a bearing: engines differ in how they load
    a link that is connected to no other, so each engine adds the ball itself.

    Raises:
        AccordError: if `base_link` has no sphere to collide with, or its mass is off its origin.
    """
    root = ET.fromstring(urdf)
    name = tree.links[0].name
    link = next(e for e in root.findall("link") if e.get("name") == name)
    sphere = link.find("collision/geometry/sphere")
    if sphere is None or np.any(tree.links[0].centre):
        raise AccordError("the base_link that floats in the description is not a ball")
    root.remove(link)
    for joint in root.findall(f"joint/child[@link='{name}']/.."):
        root.remove(joint)
    ball = Ball(tree.links[0].mass, tree.links[0].inertia, float(sphere.attrib["radius"]))
    return ET.tostring(root, encoding="unicode"), ball


@dataclass(frozen=True, kw_only=True)
class EngineModel:
    """A robot and the forces on it, as every engine receives it.

    Args:
        urdf: the description; damping and friction of its joints are ignored.
        base: how `base_link` moves: only with its joints, in the plane, freely, or as a ball that
            turns about its fixed centre.
        joints: names, in the order of every array; n of them.
        effort_limits: largest efforts, to which commands are clipped (n,) [N m].
        physics_step: [s].
        gravity: along -z [m/s^2].
        root: first link of the tree; `world` if one of `joints` is a hinge to the world.
        force_law: external forces on the links, or None.
        friction: law of the joints, or None.
        armature: reflected inertia of drives that is not in the description (n,) [kg m^2], or
            None.
        faults: joints that fail.
        preload: efforts of uncommanded joints, such as springs, by name [N m or N].
        contact: pairs that can touch, by the engine's own contact solver; None for no contacts.
        contact_events: whether a pair that begins to touch makes an event.
        options: settings by the name of the engine, as `engine_options` of a scenario.
        gear: factors on the efforts (n,); None for 1.
        damping: viscous damping that the engine itself adds to `friction` (n,) [N m s/rad].
        stop_softness: factor on the softness of joint stops, 1 for the engine's stiffest.
        restitution: coefficient of impacts that the robot itself computes, or None.
        servos: whether each joint gets the engine's own servo, which `drive` then sets.
    """

    urdf: str
    base: Base
    joints: tuple[str, ...]
    effort_limits: Array
    physics_step: float
    gravity: float
    root: str = BASE_LINK
    force_law: ForceLaw | None = None
    friction: JointFriction | None = None
    armature: Array | None = None
    faults: tuple[Fault, ...] = ()
    preload: Mapping[str, float] = field(default_factory=dict)
    contact: Contact | None = None
    contact_events: bool = False
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    gear: Array | None = None
    damping: Array | None = None
    stop_softness: float = 1.0
    restitution: float | None = None
    servos: bool = False

    @property
    def tree(self) -> Tree:
        """Links and joints of the description."""
        return described(self.urdf, self.root)

    @property
    def rotors(self) -> Array:
        """Reflected inertia of all rotors (n,) [kg m^2].

        DART accepts none where contacts or stops can act.
        """
        described = rotors_of(self.tree, self.joints)
        return described if self.armature is None else described + self.armature

    @classmethod
    def of(cls, setup: Setup, **more: Any) -> EngineModel:
        """Return the model of a setup whose description is complete.

        Args:
            setup: robot and scenario.
            more: fields that the description does not have, such as `friction` and `armature`.
        """
        scenario = setup.scenario
        fields: dict[str, Any] = {
            "urdf": setup.urdf(),
            "base": scenario.base,
            "joints": setup.joints,
            "effort_limits": setup.effort_limits,
            "physics_step": scenario.physics_step,
            "gravity": setup.parameters.gravity,
            "faults": setup.faults,
            "force_law": setup.force_law,
            "contact": setup.contact,
            "options": scenario.engine_options,
        }
        return cls(**(fields | more))


@lru_cache(maxsize=8)
def described(urdf: str, root: str) -> Tree:
    """Return the tree of a description, from a cache that twins and engines of a model share."""
    return Tree.parse(urdf, root=root)


@dataclass(frozen=True)
class LinkProperties:
    """Mass, centre of mass (3,) and inertia about it (3, 3) of a link, in the link's axes."""

    mass: Annotated[float, Quantity("kg", "mass")]
    centre: Annotated[Array, Quantity("m", "centre of mass")]
    inertia: Annotated[Array, Quantity("kg m^2", "inertia about the centre of mass")]


@dataclass(frozen=True)
class JointProperties:
    """Origin, axis, limits, friction and reflected inertia of a joint.

    Args:
        origin: in the parent's frame (3,).
        axis: in the parent's frame, where the joint is at 0 (3,).
        limits: lower and upper (2,).
        damping, friction, armature: in N s/m, N and kg for a prismatic joint.
    """

    origin: Annotated[Array, Quantity("m", "origin")]
    axis: Annotated[Array, Quantity("1", "axis")]
    limits: Annotated[Array, Quantity("rad", "lower and upper limit")]
    damping: Annotated[float, Quantity("N m s/rad", "viscous damping")]
    friction: Annotated[float, Quantity("N m", "dry friction")]
    armature: Annotated[float, Quantity("kg m^2", "reflected inertia")]


@dataclass(frozen=True)
class Properties:
    """Properties of a robot: links and joints by name, and gravity in the world (3,) [m/s^2]."""

    links: Mapping[str, LinkProperties]
    joints: Mapping[str, JointProperties]
    gravity: Array


def intended_properties(model: EngineModel) -> Properties:
    """Return the properties that an engine should have, from the model alone."""
    tree = model.tree
    friction = friction_by_joint(model)
    rotors = dict(zip(model.joints, model.rotors.tolist()))
    links = [link for link in tree.links if link.name != WORLD]
    joints = dict[str, JointProperties]()
    for joint in tree.moving:
        axis, limits = np.asarray(joint.rotation @ joint.axis), np.array(joint.ends)
        viscous, dry = friction.get(joint.name, (0.0, 0.0))
        rotor = rotors.get(joint.name, 0.0)
        properties = JointProperties(joint.position, axis, limits, viscous, dry, rotor)
        joints[joint.name] = properties
    by_name = {link.name: LinkProperties(link.mass, link.centre, link.inertia) for link in links}
    return Properties(by_name, joints, np.array([0.0, 0.0, -model.gravity]))


def friction_by_joint(model: EngineModel) -> dict[str, tuple[float, float]]:
    """Return the viscous damping and the dry friction of each joint in the model's law, by name."""
    law = model.friction
    if law is None:
        return {}
    pairs = zip(law.viscous.tolist(), law.constant.tolist())
    return dict(zip(model.joints, pairs))
