"""Deviations: a model of which one number is otherwise, made anew from the model as it is.

A parameter that a cause may be sought in is a name in GROUND, OF_JOINTS, OF_LINKS or OF_FEET, a
branch of `deviating`, and a unit in UNITS of crosscheck/causes/hypotheses.py. Those names stay, for
reports have them. CREEP may be tuned. Nothing is changed in place: a twin, and a robot along a log,
is made of what these functions return.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from roboaccord.contract.contact import EllipseFriction
from roboaccord.contract.state import Array
from roboaccord.description.tree import Joint, Link, Tree
from roboaccord.engines.base import PushedLaw, ScaledLaw
from roboaccord.engines.model import EngineModel
from roboaccord.numerics.rotations import axis_angle_matrix
from roboaccord.simulators.joints import JointFriction

EVERY = "*"  # joint or link
GROUND = ("friction along", "friction across", "slip speed")
OF_JOINTS = ("gear", "damping", "dry friction", "armature", "origin")
OF_LINKS = ("mass", "centre", "inertia")
OF_FEET = ("friction",)  # of links on which a force law acts
PLACED = ("origin", "axis")  # joints of a tree
UPWARDS = 2  # axis
CREEP = 1e-3  # rad/s: below it dry friction falls to 0 where the model has none
TRIANGLE = np.triu_indices(3)
PRODUCTS = "products of inertia"  # whose sign drawing programs reverse


class ModelChange(NamedTuple):
    """Name a number that is off, and by how much.

    Args:
        quantity: `gravity`, `axis`, or one of OF_LINKS, OF_FEET, OF_JOINTS or GROUND.
        where: joint or link, EVERY; "" for what there is one of.
        axis: of a link's centre, a joint's origin or gravity, component of an inertia.
        size: part of the parameter, or an addend in its unit.
    """

    quantity: str
    where: str
    axis: int
    size: float


def deviating_tree(tree: Tree, off: ModelChange) -> Tree:
    """Return a tree of which a number of links or joints is otherwise."""
    if off.quantity in (*OF_LINKS, PRODUCTS):
        links = (_link(x, off) if off.where in (x.name, EVERY) else x for x in tree.links)
        return replace(tree, links=tuple(links))
    if off.quantity in PLACED:
        joints = (_joint(x, off) if off.where in (x.name, EVERY) else x for x in tree.joints)
        return replace(tree, joints=tuple(joints))
    return tree


def loaded(link: Link, mass: float, place: Array) -> Link:
    """Return a link that carries a point of a mass [kg] at a place in its frame (3,) [m]."""
    whole = link.mass + mass
    centre = (link.mass * link.centre + mass * place) / whole
    arm = place - link.centre
    more = mass * link.mass / whole * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return replace(link, mass=whole, centre=centre, inertia=link.inertia + more)


def _link(link: Link, off: ModelChange) -> Link:
    """Return a link with another mass, whose inertia is kept, centre [m] or moment of inertia.

    The moment xx xy xz yy yz zz about the centre changes by a part of itself, or of the mean of
    two.
    """
    if off.quantity == "mass":
        return replace(link, mass=link.mass * (1.0 + off.size))
    if off.quantity == "centre":
        return replace(link, centre=link.centre + off.size * np.eye(3)[off.axis])
    if off.quantity == PRODUCTS:
        own = np.diag(np.diag(link.inertia))
        return replace(link, inertia=own + (1.0 + off.size) * (link.inertia - own))
    i, j = (half[off.axis] for half in TRIANGLE)
    inertia = link.inertia.copy()
    part = off.size * np.sqrt(abs(link.inertia[i, i] * link.inertia[j, j]))
    inertia[i, j] = inertia[j, i] = inertia[i, j] + part
    return replace(link, inertia=inertia)


def _joint(joint: Joint, off: ModelChange) -> Joint:
    """Return a joint moved along an axis of its parent [m], or turned about one of its own."""
    along = np.eye(3)[off.axis]
    if off.quantity == "origin":
        return replace(joint, position=joint.position + off.size * along)
    return replace(joint, axis=axis_angle_matrix(along, np.array(off.size)) @ joint.axis)


def deviating(model: EngineModel, tree: Tree, off: ModelChange) -> EngineModel:
    """Return a model of which a number that is not the tree's is otherwise.

    Args:
        model: n joints.
        tree: of the model.
        off: by how much.
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
    """Return a friction law of which one quantity of GROUND is larger by a factor."""
    found = copy.deepcopy(law)
    if quantity == "slip speed":
        found.slip_speed *= factor
    else:
        found.mu[GROUND.index(quantity)] *= factor
    return found
