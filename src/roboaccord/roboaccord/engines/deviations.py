"""Deviations: copies of a model in which one number is changed.

To let the search for causes try another parameter, add its name to GROUND, OF_JOINTS, OF_LINKS or
OF_FEET, a branch of `deviating`, and a unit in UNITS of crosscheck/causes/hypotheses.py. Existing
names stay: reports contain them. CREEP may be tuned. Nothing is changed in place: twins, and robots
that follow a log, are made from what these functions return.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from roboaccord.contract.contact import EllipseFriction
from roboaccord.contract.interfaces import ForceLaw
from roboaccord.contract.state import Array
from roboaccord.description.tree import Joint, Link, Tree
from roboaccord.engines.force_laws import PushedLaw, ScaledLaw
from roboaccord.engines.model import EngineModel
from roboaccord.numerics.rotations import axis_angle_matrix
from roboaccord.simulators.friction import JointFriction

EVERY = "*"  # stands for all joints or links
GROUND = ("friction along", "friction across", "slip speed")
OF_JOINTS = ("gear", "damping", "dry friction", "armature", "origin")
OF_LINKS = ("mass", "centre", "inertia")
OF_FEET = ("friction",)  # of links on which a force law acts
PLACED = ("origin", "axis")  # joints of a tree
UPWARDS = 2  # index of z
# rad/s: below it dry friction fades to 0 in a model that has none of its own. May be tuned: slow
# beside the rates of joints, and still large enough for a physics step to follow.
CREEP = 1e-3
TRIANGLE = np.triu_indices(3)
PRODUCTS = "products of inertia"  # CAD programs may export them with the other sign


class ModelChange(NamedTuple):
    """Change of one number of a model.

    Args:
        quantity: `gravity`, `axis`, or one of OF_LINKS, OF_FEET, OF_JOINTS or GROUND.
        where: joint or link, or EVERY; "" for what exists once.
        axis: of a link's centre, a joint's origin or gravity; component of an inertia.
        size: relative, or an addend in the parameter's unit.
    """

    quantity: str
    where: str
    axis: int
    size: float


def deviate(
    model: EngineModel, off: Sequence[ModelChange], *, sticks: bool
) -> tuple[EngineModel, Tree | None, ForceLaw | None, dict[str, float]]:
    """Return a model with several changes.

    Args:
        model: to copy.
        off: changes.
        sticks: whether friction on the ground sticks; its law is then returned beside the model.

    Returns:
        model; its tree, None where nothing is changed; the law of sticking friction, None where
        none sticks; and factors on that friction by link, 1 where there is none.
    """
    law, tree, shares = model.force_law if sticks else None, None, dict[str, float]()
    model = replace(model, force_law=None) if law else model
    for one in off:
        tree = deviating_tree(tree or model.tree, one)
        if law and one.quantity in OF_FEET:
            shares[one.where] = shares.get(one.where, 1.0) * (1.0 + one.size)
        elif isinstance(law, EllipseFriction) and one.quantity in GROUND:
            law = scaled_ground(law, one.quantity, 1.0 + one.size)
        else:
            model = deviating(model, tree, one)
    return model, tree, law, shares


def deviating_tree(tree: Tree, off: ModelChange) -> Tree:
    """Return a tree with a changed number of its links or joints."""
    if off.quantity in (*OF_LINKS, PRODUCTS):
        links = (_link(x, off) if off.where in (x.name, EVERY) else x for x in tree.links)
        return replace(tree, links=tuple(links))
    if off.quantity in PLACED:
        joints = (_joint(x, off) if off.where in (x.name, EVERY) else x for x in tree.joints)
        return replace(tree, joints=tuple(joints))
    return tree


def loaded(link: Link, mass: float, point: Array) -> Link:
    """Return a link that carries a point mass [kg] at a point in its frame (3,) [m]."""
    whole = link.mass + mass
    centre = (link.mass * link.centre + mass * point) / whole
    arm = point - link.centre
    more = mass * link.mass / whole * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return replace(link, mass=whole, centre=centre, inertia=link.inertia + more)


def _link(link: Link, off: ModelChange) -> Link:
    """Return a link with another mass (its inertia is kept), centre [m] or moment of inertia.

    A moment of inertia about the centre, of xx xy xz yy yz zz, changes by `size` times itself, a
    product of inertia by `size` times the geometric mean of its two moments.
    """
    if off.quantity == "mass":
        return replace(link, mass=link.mass * (1.0 + off.size))
    if off.quantity == "centre":
        return replace(link, centre=link.centre + off.size * np.eye(3)[off.axis])
    if off.quantity == PRODUCTS:
        moments = np.diag(np.diag(link.inertia))
        return replace(link, inertia=moments + (1.0 + off.size) * (link.inertia - moments))
    i, j = (half[off.axis] for half in TRIANGLE)
    inertia = link.inertia.copy()
    addend = off.size * np.sqrt(abs(link.inertia[i, i] * link.inertia[j, j]))
    inertia[i, j] = inertia[j, i] = inertia[i, j] + addend
    return replace(link, inertia=inertia)


def _joint(joint: Joint, off: ModelChange) -> Joint:
    """Return a joint moved along an axis of its parent [m], or turned about one of its own."""
    along = np.eye(3)[off.axis]
    if off.quantity == "origin":
        return replace(joint, position=joint.position + off.size * along)
    return replace(joint, axis=axis_angle_matrix(along, np.array(off.size)) @ joint.axis)


def deviating(model: EngineModel, tree: Tree, off: ModelChange) -> EngineModel:
    """Return a model with a changed number that is not one of its tree.

    Args:
        model: n joints.
        tree: of the model.
        off: the change.
    """
    quantity, where, axis, size = off
    joint = size * np.array([where in (name, EVERY) for name in model.joints], float)
    law = model.force_law
    match quantity:
        case "gear":
            gear = np.ones(len(joint)) if model.gear is None else model.gear
            return replace(model, gear=gear * (1.0 + joint))
        case "damping" | "dry friction":
            return replace(model, friction=_braked(model.friction, joint, quantity == "damping"))
        case "armature":
            return replace(
                model, armature=joint + (0.0 if model.armature is None else model.armature)
            )
        case "gravity" if axis == UPWARDS:
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


def _braked(law: JointFriction | None, more: Array, viscous: bool) -> JointFriction:
    none = np.zeros(len(more))
    law = law or JointFriction(none, none, CREEP)
    if viscous:
        return replace(law, viscous=law.viscous + more)
    stiction = None if law.stiction is None else law.stiction + more
    return replace(law, constant=law.constant + more, stiction=stiction)


def scaled_ground(law: EllipseFriction, quantity: str, factor: float) -> EllipseFriction:
    """Return a friction law with one quantity of GROUND multiplied by a factor."""
    scaled = copy.deepcopy(law)
    if quantity == "slip speed":
        scaled.slip_speed *= factor
    else:
        scaled.mu[GROUND.index(quantity)] *= factor
    return scaled
