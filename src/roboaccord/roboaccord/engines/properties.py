"""Model properties of links and joints, from a description and from an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.description.tree import Joint, Tree
from roboaccord.engines.model import EngineModel

WORLD = "world"


@dataclass(frozen=True)
class LinkProperties:
    """Hold the mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2] of a link.

    In the axes of the link.
    """

    mass: float
    centre: Array
    inertia: Array


@dataclass(frozen=True)
class JointProperties:
    """Hold origin, axis, limits, friction and reflected inertia of a joint.

    Args:
        origin: in the parent's frame (3,) [m].
        axis: in the parent's frame, where the joint is at 0 (3,).
        limits: lower and upper (2,) [rad or m].
        damping: viscous [N m s/rad or N s/m].
        friction: dry [N m or N].
        armature: reflected inertia [kg m^2 or kg].
    """

    origin: Array
    axis: Array
    limits: Array
    damping: float
    friction: float
    armature: float


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
