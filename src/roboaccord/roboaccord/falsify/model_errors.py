"""Deliberate errors of a model, built into what an engine is given.

`perturb_model` returns an `EngineModel` with errors. URDF_ERRORS has, by kind, the edits of the
model's URDF (mass, inertia, axis, ...), and MODEL_ERRORS the function that changes fields of the
model (gravity, friction, damping, ...). Both tables are at the end of this file. Kinds, with their
units and bounds, are in perturbation.py; those that are in neither table are no errors of a model.
"""

from __future__ import annotations

import operator
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from roboaccord.contract.sliding_friction import EllipseFriction
from roboaccord.contract.state import Array
from roboaccord.description.tree import Tree
from roboaccord.description.xml_numbers import edit_numbers
from roboaccord.engines.deviations import scaled_ground
from roboaccord.engines.force_laws import ScaledLaw
from roboaccord.engines.model import EngineModel
from roboaccord.falsify.perturbation import KINDS, Perturbation
from roboaccord.numerics.rotations import axis_angle_matrix
from roboaccord.simulators.friction import JointFriction

# New values of fields of an `EngineModel`, by name of the field.
Fields = dict[str, Any]


class UrdfEdit(NamedTuple):
    """Change of the numbers of one attribute of a URDF element.

    Args:
        element, attribute: names in the URDF, below a link's `inertial` or a joint.
        default: numbers of an attribute that is missing.
        change: function from the error's value and the present numbers to the new numbers.
    """

    element: str
    attribute: str
    default: str
    change: Callable[[float, Array], Array]


def perturb_model(model: EngineModel, errors: Sequence[Perturbation]) -> EngineModel:
    """Return a model with errors built in; errors of signals are ignored.

    Raises:
        AccordError: for an error that does not apply to the model.
    """
    for error in errors:
        if error.kind in URDF_ERRORS:
            model = replace(model, urdf=_perturb_urdf(model.urdf, model.joints, error))
        elif error.kind in MODEL_ERRORS:
            model = replace(model, **MODEL_ERRORS[error.kind](model, error))
    return model


def values_by_joint(joints: Sequence[str], error: Perturbation, neutral: float) -> Array:
    """Return the error's value for joints that it applies to, and `neutral` for others (n,)."""
    affected = error.affected(joints)
    return np.array([error.value if name in affected else neutral for name in joints])


def _perturb_urdf(urdf: str, joints: Sequence[str], error: Perturbation) -> str:
    """Return a URDF with one error, of a kind in URDF_ERRORS.

    Args:
        urdf: the description.
        joints: names of those that can have an error.
        error: to be built in.

    Raises:
        AccordError: if there is no such link or joint.
    """
    root = ET.fromstring(urdf)
    if KINDS[error.kind].place == "link":
        links = {link.get("name", ""): link.find("inertial") for link in root.iter("link")}
        elements = {name: inertial for name, inertial in links.items() if inertial is not None}
    else:
        path = "joint/limit[@lower]/.." if error.kind == "limit" else "joint"
        all_joints = {joint.get("name", ""): joint for joint in root.findall(path)}
        elements = {name: joint for name, joint in all_joints.items() if name in joints}
    for name in error.affected(elements):
        for edit in URDF_ERRORS[error.kind]:
            change = partial(edit.change, error.value)
            edit_numbers(elements[name], edit.element, edit.attribute, change, edit.default)
    return ET.tostring(root, encoding="unicode")


def _lengthened(shift: float, offset: Array) -> Array:
    """Return an offset (3,) that is longer by `shift` [m]; along x if the offset is 0."""
    norm = float(np.linalg.norm(offset))
    return offset + shift * (offset / norm if norm else np.array([1.0, 0.0, 0.0]))


def _tilted(angle: float, axis: Array) -> Array:
    """Return an axis tilted by an angle [rad] about a direction perpendicular to it."""
    unit = axis / np.linalg.norm(axis)
    across = np.cross(unit, np.eye(3)[int(np.argmin(np.abs(unit)))])
    return np.asarray(axis_angle_matrix(across / np.linalg.norm(across), np.array(angle)) @ unit)


def _factors(model: EngineModel, error: Perturbation) -> Array:
    """Return the error's factor for each joint (n,); 1 where it does not apply."""
    return values_by_joint(model.joints, error, neutral=1.0)


def _scale_effort_limits(model: EngineModel, error: Perturbation) -> Fields:
    """Scale the effort limits of some joints."""
    return {"effort_limits": model.effort_limits * _factors(model, error)}


def _add_to_field(model: EngineModel, error: Perturbation) -> Fields:
    """Add the value at the joints to the model's field of that name: damping or armature."""
    present, added = getattr(model, error.kind), values_by_joint(model.joints, error, neutral=0.0)
    return {error.kind: added if present is None else present + added}


def _scale_ground_friction(model: EngineModel, error: Perturbation) -> Fields:
    """Scale one parameter of the ground's friction law."""
    if not isinstance(model.force_law, EllipseFriction):
        raise error.impossible("its ground friction is not an ellipse")
    return {"force_law": scaled_ground(model.force_law, error.kind.replace("_", " "), error.value)}


def _scale_link_friction(model: EngineModel, error: Perturbation) -> Fields:
    """Scale the friction forces that act on some links."""
    law = model.force_law
    if law is None:
        raise error.impossible("no friction acts on its links")
    factors = dict.fromkeys(error.affected(law.links), error.value)
    return {"force_law": ScaledLaw(law, factors) if error.value != 1.0 else law}


def _scale_dry_friction(model: EngineModel, error: Perturbation) -> Fields:
    """Scale the dry friction of some joints."""
    law = model.friction
    if not isinstance(law, JointFriction) or not np.any(law.constant):
        raise error.impossible("its joints have no dry friction")
    factors = _factors(model, error)
    stiction = None if law.stiction is None else law.stiction * factors
    return {"friction": replace(law, constant=law.constant * factors, stiction=stiction)}


def _scale_contact_friction(model: EngineModel, error: Perturbation) -> Fields:
    """Scale all friction coefficients of the contact."""
    if model.contact is None or not any(model.contact.friction.values()):
        raise error.impossible("it has no contact with friction")
    scaled = {name: mu * error.value for name, mu in model.contact.friction.items()}
    return {"contact": replace(model.contact, friction=scaled)}


def _change_restitution(model: EngineModel, error: Perturbation) -> Fields:
    """Add the value to the model's restitution, or else set that of its contact to the value."""
    if model.restitution is not None:
        return {"restitution": model.restitution + error.value}
    if model.contact is None:
        raise error.impossible("it has no contact")
    return {"contact": replace(model.contact, restitution=error.value)}


def _set_stop_softness(model: EngineModel, error: Perturbation) -> Fields:
    """Set the softness of the joints' stops."""
    if not any(np.isfinite(j.upper) for j in Tree.parse(model.urdf, root=model.root).moving):
        raise error.impossible("its joints have no limits")
    return {"stop_softness": error.value}


# Attributes of URDF's inertia.
INERTIAS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
# Edits of the URDF by kind of error.
URDF_ERRORS: dict[str, Sequence[UrdfEdit]] = {
    "mass": [UrdfEdit("mass", "value", "0", operator.mul)],
    "inertia": [UrdfEdit("inertia", name, "0", operator.mul) for name in INERTIAS],
    "centre": [UrdfEdit("origin", "xyz", "0 0 0", operator.add)],
    "length": [UrdfEdit("origin", "xyz", "0 0 0", _lengthened)],
    "axis": [UrdfEdit("axis", "xyz", "1 0 0", _tilted)],
    "axis_sign": [UrdfEdit("axis", "xyz", "1 0 0", operator.mul)],
    "limit": [
        UrdfEdit("limit", "lower", "0", lambda shift, lower: lower - shift),
        UrdfEdit("limit", "upper", "0", operator.add),
    ],
}

# Function that returns the changed fields of a model, by kind of error.
MODEL_ERRORS: dict[str, Callable[[EngineModel, Perturbation], Fields]] = {
    "gravity": lambda model, error: {"gravity": model.gravity * error.value},
    "friction_along": _scale_ground_friction,
    "friction_across": _scale_ground_friction,
    "slip_speed": _scale_ground_friction,
    "link_friction": _scale_link_friction,
    "friction": _scale_dry_friction,
    "contact_friction": _scale_contact_friction,
    "damping": _add_to_field,
    "gear": lambda model, error: {"gear": _factors(model, error)},
    "effort_limit": _scale_effort_limits,
    "armature": _add_to_field,
    "stop": _set_stop_softness,
    "impact": _change_restitution,
}
