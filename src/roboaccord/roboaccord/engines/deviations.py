"""Copies of a model in which single numbers are changed, such as a mass or an axis.

If an engine disagrees with us, crosscheck/causes/ searches for a changed number of the model that
would explain the disagreement. For each candidate it simulates a twin (twin.py: our equations of
motion under the engine's integration method) of a changed model. A `ModelChange` names the number,
and `deviate` applies several of them. Nothing is changed in place.

To let the search try another parameter, add its name to GROUND, OF_JOINTS, OF_LINKS or OF_FEET, a
branch of `changed_model`, and a unit in UNITS of crosscheck/causes/hypotheses.py. Existing names
stay: reports contain them.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from roboaccord.contract import Array, EllipseFriction
from roboaccord.contract.interfaces import ForceLaw
from roboaccord.description.merge import TRIANGLE
from roboaccord.description.tree import Joint, Link, Tree
from roboaccord.engines.force_laws import PushedLaw, ScaledLaw
from roboaccord.engines.model import EngineModel
from roboaccord.numerics.rotations import axis_angle_matrix
from roboaccord.simulators.friction import JointFriction

EVERY = "*"  # stands for all joints or links
# Names of quantities, by what they belong to: the friction on the ground, joints, links, and links
# on which a force law acts.
GROUND = ("friction along", "friction across", "slip speed")
OF_JOINTS = ("gear", "damping", "dry friction", "armature", "origin")
OF_LINKS = ("mass", "centre", "inertia")
OF_FEET = ("friction",)
OF_TREE_JOINTS = ("origin", "axis")  # quantities of joints that are changed in the tree
Z_INDEX = 2  # index of the vertical among the axes x, y and z
# [rad/s] Speed below which added dry friction fades to 0. It is small compared with the rates of
# joints, and equal to the change of a rate in a step of 1 ms at 1 rad/s^2.
FADING_SPEED = 1e-3
PRODUCTS = "products of inertia"  # some CAD programs export them with the opposite sign


class ModelChange(NamedTuple):
    """Change of one number of a model.

    Args:
        quantity: `gravity`, `axis`, or one of OF_LINKS, OF_FEET, OF_JOINTS or GROUND.
        where: name of the joint or link, or EVERY; "" for a quantity that exists once.
        axis: index of the axis of a link's centre, a joint's origin or gravity; or of the component
            of an inertia.
        size: relative change, or the added amount in the unit of the quantity.
    """

    quantity: str
    where: str
    axis: int
    size: float


class ChangedModel(NamedTuple):
    """Model with changed numbers.

    Attributes:
        model: without the law of friction on the ground if that sticks.
        tree: changed links and joints; None if nothing is changed.
        sticking_law: law of the friction that sticks, with its changes; None if none sticks.
        factors: on that friction by link; 1 for a link that is not named.
    """

    model: EngineModel
    tree: Tree | None
    sticking_law: ForceLaw | None
    factors: dict[str, float]


def deviate(model: EngineModel, changes: Sequence[ModelChange], *, sticks: bool) -> ChangedModel:
    """Return a model with several changes.

    Args:
        model: the model that is copied.
        changes: the changes, made one after the other.
        sticks: whether friction on the ground sticks; its law is then returned separately, because
            such friction is no function of the motion, as force laws are.
    """
    law = model.force_law if sticks else None
    model = replace(model, force_law=None) if law else model
    tree = None
    factors = dict[str, float]()
    for change in changes:
        tree = deviating_tree(tree or model.tree, change)
        if law and change.quantity in OF_FEET:
            factors[change.where] = factors.get(change.where, 1.0) * (1.0 + change.size)
        elif isinstance(law, EllipseFriction) and change.quantity in GROUND:
            law = scaled_ground(law, change.quantity, 1.0 + change.size)
        else:
            model = changed_model(model, tree, change)
    return ChangedModel(model, tree, law, factors)


def deviating_tree(tree: Tree, change: ModelChange) -> Tree:
    """Return a tree with a changed number of its links or joints."""
    if change.quantity in (*OF_LINKS, PRODUCTS):
        return replace(tree, links=tuple(_changed_link(link, change) for link in tree.links))
    if change.quantity in OF_TREE_JOINTS:
        return replace(tree, joints=tuple(_changed_joint(joint, change) for joint in tree.joints))
    return tree


def loaded(link: Link, mass: float, point: Array) -> Link:
    """Return a link that carries a point mass [kg] at a point in its frame (3,) [m].

    The inertia about the common centre grows by that of the reduced mass m M / (m + M) at the
    distance between both centres.
    """
    total = link.mass + mass
    centre = (link.mass * link.centre + mass * point) / total
    arm = point - link.centre
    added = mass * link.mass / total * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return replace(link, mass=total, centre=centre, inertia=link.inertia + added)


def _changed_link(link: Link, change: ModelChange) -> Link:
    """Return a link with a changed mass, centre of mass [m] or inertia about the centre.

    A changed mass leaves the inertia as it is. Component `axis` of xx xy xz yy yz zz grows by
    `size` times itself, or, if it is a product of inertia, times the geometric mean of its moments.
    A link of another name than the change has is returned as it is.
    """
    if change.where not in (link.name, EVERY):
        return link
    if change.quantity == "mass":
        return replace(link, mass=link.mass * (1.0 + change.size))
    if change.quantity == "centre":
        return replace(link, centre=link.centre + change.size * np.eye(3)[change.axis])
    if change.quantity == PRODUCTS:
        moments = np.diag(np.diag(link.inertia))
        return replace(link, inertia=moments + (1.0 + change.size) * (link.inertia - moments))
    i, j = (indices[change.axis] for indices in TRIANGLE)  # row and column of the component
    inertia = link.inertia.copy()
    addend = change.size * np.sqrt(abs(link.inertia[i, i] * link.inertia[j, j]))
    inertia[i, j] = inertia[j, i] = inertia[i, j] + addend
    return replace(link, inertia=inertia)


def _changed_joint(joint: Joint, change: ModelChange) -> Joint:
    """Return a joint moved along an axis of its parent [m], or turned about one of its own [rad].

    A joint of another name than the change has is returned as it is.
    """
    if change.where not in (joint.name, EVERY):
        return joint
    along = np.eye(3)[change.axis]
    if change.quantity == "origin":
        return replace(joint, position=joint.position + change.size * along)
    return replace(joint, axis=axis_angle_matrix(along, np.array(change.size)) @ joint.axis)


def changed_model(model: EngineModel, tree: Tree, change: ModelChange) -> EngineModel:
    """Return a model with a changed number that is not one of its tree.

    Args:
        model: the model, with n joints.
        tree: links and joints of the model, of which the masses are used.
        change: the change of one number.
    """
    quantity, where, axis, size = change
    sizes = size * np.array([where in (name, EVERY) for name in model.joints], float)
    law = model.force_law
    match quantity:
        case "gear":
            gear = np.ones(len(sizes)) if model.gear is None else model.gear
            return replace(model, gear=gear * (1.0 + sizes))
        case "damping" | "dry friction":
            is_viscous = quantity == "damping"
            return replace(model, friction=_with_friction(model.friction, sizes, is_viscous))
        case "armature":
            armature = 0.0 if model.armature is None else model.armature
            return replace(model, armature=sizes + armature)
        case "gravity" if axis == Z_INDEX:
            return replace(model, gravity=model.gravity * (1.0 + size))
        case "gravity":
            pull = size * model.gravity * np.eye(3)[axis]
            pushes = {link.name: link.mass * pull for link in tree.links if link.mass}
            return replace(model, force_law=PushedLaw(law, pushes))
        case "friction" if law and where in law.links:
            return replace(model, force_law=ScaledLaw(law, {where: 1.0 + size}))
        case _ if quantity in GROUND and isinstance(law, EllipseFriction):
            return replace(model, force_law=scaled_ground(law, quantity, 1.0 + size))
    return model


def _with_friction(law: JointFriction | None, added: Array, viscous: bool) -> JointFriction:
    """Return the friction of joints with damping or dry friction added.

    Args:
        law: friction of the joints; None if they have none.
        added: addend to the friction of each joint (n,) [N m s/rad] or [N m].
        viscous: whether it is damping that is added.
    """
    zeros = np.zeros(len(added))
    law = law or JointFriction(zeros, zeros, FADING_SPEED)
    if viscous:
        return replace(law, viscous=law.viscous + added)
    stiction = None if law.stiction is None else law.stiction + added
    return replace(law, constant=law.constant + added, stiction=stiction)


def scaled_ground(law: EllipseFriction, quantity: str, factor: float) -> EllipseFriction:
    """Return a friction law with one quantity of GROUND multiplied by a factor."""
    scaled = copy.deepcopy(law)
    if quantity == "slip speed":
        scaled.slip_speed *= factor
    else:
        scaled.mu[GROUND.index(quantity)] *= factor
    return scaled
