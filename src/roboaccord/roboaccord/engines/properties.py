"""Model properties of links and joints, from a description and from an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from roboaccord.contract.results import Quantity
from roboaccord.contract.state import Array
from roboaccord.description.tree import Joint, Tree
from roboaccord.engines.model import EngineModel

WORLD = "world"


@dataclass(frozen=True)
class LinkProperties:
    """Hold the mass, centre of mass (3,) and inertia about it (3, 3) of a link, in its axes."""

    mass: Annotated[float, Quantity("kg", "mass")]
    centre: Annotated[Array, Quantity("m", "centre of mass")]
    inertia: Annotated[Array, Quantity("kg m^2", "inertia about the centre of mass")]


@dataclass(frozen=True)
class JointProperties:
    """Hold origin, axis, limits, friction and reflected inertia of a joint.

    Args:
        origin: in the parent's frame (3,).
        axis: in the parent's frame, where the joint is at 0 (3,).
        limits: lower and upper (2,).
        damping, friction, armature: of a prismatic joint in N s/m, N and kg.
    """

    origin: Annotated[Array, Quantity("m", "origin")]
    axis: Annotated[Array, Quantity("1", "axis")]
    limits: Annotated[Array, Quantity("rad", "lower and upper limit")]
    damping: Annotated[float, Quantity("N m s/rad", "viscous damping")]
    friction: Annotated[float, Quantity("N m", "dry friction")]
    armature: Annotated[float, Quantity("kg m^2", "reflected inertia")]


@dataclass(frozen=True)
class Properties:
    """Hold the properties of links and joints by name, and gravity in the world (3,) [m/s^2]."""

    links: Mapping[str, LinkProperties]
    joints: Mapping[str, JointProperties]
    gravity: Array


def axis_in_parent(joint: Joint) -> Array:
    """Return the unit axis of a joint in the frame of its parent (3,)."""
    return np.asarray(joint.rotation @ joint.axis)


def intended_properties(model: EngineModel) -> Properties:
    """Return the properties of a model as described, independent of an engine."""
    tree = Tree.parse(model.urdf, root=model.root)
    braked = braking(model)
    bounded = {
        joint.name: (-np.inf, np.inf) if joint.kind == "continuous" else (joint.lower, joint.upper)
        for joint in tree.moving
    }
    return Properties(
        links={
            k.name: LinkProperties(k.mass, k.centre, k.inertia)
            for k in tree.links
            if k.name != WORLD
        },
        joints={
            joint.name: JointProperties(
                joint.position,
                axis_in_parent(joint),
                np.array(bounded[joint.name]),
                *braked.get(joint.name, (0.0, 0.0)),
                0.0 if model.armature is None else _of(model, model.armature, joint.name),
            )
            for joint in tree.moving
        },
        gravity=np.array([0.0, 0.0, -model.gravity]),
    )


def braking(model: EngineModel) -> dict[str, tuple[float, float]]:
    """Return viscous damping and dry friction of each joint by a model's own law."""
    law = model.friction
    if law is None:
        return {}
    return {
        name: (float(law.viscous[i]), float(law.constant[i])) for i, name in enumerate(model.joints)
    }


def _of(model: EngineModel, values: Array, joint: str) -> float:
    return float(values[model.joints.index(joint)]) if joint in model.joints else 0.0
