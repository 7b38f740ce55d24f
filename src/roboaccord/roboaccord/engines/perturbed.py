"""Deliberate errors in an engine's model."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from roboaccord.contract.friction import EllipseFriction
from roboaccord.contract.state import Array
from roboaccord.description.tree import Tree
from roboaccord.engines.model import EngineModel
from roboaccord.engines.perturbed_text import INERTIAL, JOINT, perturb_text
from roboaccord.scenario.perturbation import Perturbation
from roboaccord.simulators.joints import JointFriction


def perturb_model(model: EngineModel) -> EngineModel:
    """Return a model with its perturbations built in.

    Raises:
        AccordError: for one that has nothing here to act on.
    """
    for item in model.perturbations:
        if item.kind in INERTIAL or item.kind in JOINT:
            model = replace(model, urdf=perturb_text(model.urdf, model.joints, item))
        elif item.kind in MODEL:
            model = MODEL[item.kind](model, item)
    return model


def _gravity(model: EngineModel, item: Perturbation) -> EngineModel:
    return replace(model, gravity=model.gravity * item.value)


def _law(change: Callable[[EllipseFriction, float], None]) -> Callable[..., EngineModel]:
    def act(model: EngineModel, item: Perturbation) -> EngineModel:
        if not isinstance(model.force_law, EllipseFriction):
            raise item.impossible("its ground friction is no ellipse")
        law = copy.deepcopy(model.force_law)
        change(law, item.value)
        return replace(model, force_law=law)

    return act


def _scale_mu(index: int) -> Callable[[EllipseFriction, float], None]:
    def change(law: EllipseFriction, factor: float) -> None:
        law.mu[index] *= factor

    return change


def _scale_slip(law: EllipseFriction, factor: float) -> None:
    law.slip_speed *= factor


def _factors(model: EngineModel, item: Perturbation) -> Array:
    picked = item.pick(model.joints)
    return np.array([item.value if name in picked else 1.0 for name in model.joints])


def _addends(model: EngineModel, item: Perturbation, present: Array | None) -> Array:
    picked = item.pick(model.joints)
    more = np.array([item.value if name in picked else 0.0 for name in model.joints])
    return more if present is None else present + more


def _dry(model: EngineModel, item: Perturbation) -> EngineModel:
    law = model.friction
    if not isinstance(law, JointFriction) or not np.any(law.constant):
        raise item.impossible("its joints have no dry friction")
    factors = _factors(model, item)
    stiction = None if law.stiction is None else law.stiction * factors
    changed = replace(law, constant=law.constant * factors, stiction=stiction)
    return replace(model, friction=changed)


def _contact_friction(model: EngineModel, item: Perturbation) -> EngineModel:
    if model.contact is None or not any(model.contact.friction.values()):
        raise item.impossible("it has no contact with friction")
    scaled = {name: mu * item.value for name, mu in model.contact.friction.items()}
    return replace(model, contact=replace(model.contact, friction=scaled))


def _impact(model: EngineModel, item: Perturbation) -> EngineModel:
    if model.contact is None:
        raise item.impossible("it has no contact")
    return replace(model, contact=replace(model.contact, restitution=item.value))


def _effort_limit(model: EngineModel, item: Perturbation) -> EngineModel:
    return replace(model, effort_limits=model.effort_limits * _factors(model, item))


def _gear(model: EngineModel, item: Perturbation) -> EngineModel:
    return replace(model, gear=_factors(model, item))


def _damping(model: EngineModel, item: Perturbation) -> EngineModel:
    return replace(model, damping=_addends(model, item, model.damping))


def _armature(model: EngineModel, item: Perturbation) -> EngineModel:
    return replace(model, armature=_addends(model, item, model.armature))


def _stop(model: EngineModel, item: Perturbation) -> EngineModel:
    if not any(np.isfinite(j.upper) for j in Tree.parse(model.urdf, root=model.root).moving):
        raise item.impossible("its joints have no limits")
    return replace(model, stop_softness=item.value)


MODEL: dict[str, Callable[[EngineModel, Perturbation], EngineModel]] = {
    "gravity": _gravity,
    "friction_along": _law(_scale_mu(0)),
    "friction_across": _law(_scale_mu(1)),
    "slip_speed": _law(_scale_slip),
    "friction": _dry,
    "contact_friction": _contact_friction,
    "damping": _damping,
    "gear": _gear,
    "effort_limit": _effort_limit,
    "armature": _armature,
    "stop": _stop,
    "impact": _impact,
}
