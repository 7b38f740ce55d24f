"""What a deliberate error does to an engine's model, and to what goes in and comes out of it."""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from roboaccord.description import Tree
from roboaccord.engines.model import EngineModel, JointFriction
from roboaccord.friction import EllipseFriction
from roboaccord.interfaces import Simulator
from roboaccord.loop import clip_efforts
from roboaccord.perturbation import Perturbation, Perturbations
from roboaccord.rotations import axis_angle_matrix
from roboaccord.state import Array, Command, RobotState

MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
OUTSIDE = ("sensor", "delay")  # of the model: at its measurements and its input


def perturb_model(model: EngineModel) -> EngineModel:
    """Return a model with its perturbations built in.

    Raises:
        AccordError: for one that has nothing here to act on.
    """
    for item in model.perturbations:
        if item.kind in INERTIAL or item.kind in JOINT:
            model = replace(model, urdf=_perturb_text(model, item))
        elif item.kind in MODEL:
            model = MODEL[item.kind](model, item)
    return model


def perturb_signals(simulator: Simulator, items: Perturbations) -> Simulator:
    """Return a simulator whose measurements or commands are off, where `items` say so."""
    found = [item for item in items if item.kind in OUTSIDE]
    return PerturbedSignals(simulator, found) if found else simulator


def _perturb_text(model: EngineModel, item: Perturbation) -> str:
    root = ET.fromstring(model.urdf)
    if item.kind in INERTIAL:
        INERTIAL[item.kind](root, item)
    else:
        JOINT[item.kind](root, item, model)
    return ET.tostring(root, encoding="unicode")


def _inertials(root: ET.Element, item: Perturbation) -> list[ET.Element]:
    found = {
        link.get("name", ""): inertial
        for link in root.iter("link")
        if (inertial := link.find("inertial")) is not None
    }
    return [found[name] for name in item.pick(found)]


def _joints(root: ET.Element, item: Perturbation, model: EngineModel) -> list[ET.Element]:
    found = {j.get("name", ""): j for j in root.findall("joint") if j.get("name") in model.joints}
    return [found[name] for name in item.pick(found)]


def _scale(element: ET.Element, keys: Sequence[str], factor: float) -> None:
    for key in keys:
        element.set(key, repr(float(element.get(key, "0")) * factor))


def _mass(root: ET.Element, item: Perturbation) -> None:
    for inertial in _inertials(root, item):
        _scale(inertial.find("mass"), ("value",), item.value)  # type: ignore[arg-type]


def _inertia(root: ET.Element, item: Perturbation) -> None:
    for inertial in _inertials(root, item):
        _scale(inertial.find("inertia"), MOMENTS, item.value)  # type: ignore[arg-type]


def _origin(element: ET.Element) -> tuple[ET.Element, Array]:
    origin = element.find("origin")
    if origin is None:
        origin = ET.SubElement(element, "origin")
    return origin, np.array([float(x) for x in origin.get("xyz", "0 0 0").split()])


def _put(element: ET.Element, key: str, values: Array) -> None:
    element.set(key, " ".join(repr(float(value)) for value in values))


def _centre(root: ET.Element, item: Perturbation) -> None:
    for inertial in _inertials(root, item):
        origin, place = _origin(inertial)
        _put(origin, "xyz", place + item.value)


def _length(root: ET.Element, item: Perturbation, model: EngineModel) -> None:
    for joint in _joints(root, item, model):
        origin, place = _origin(joint)
        norm = float(np.linalg.norm(place))
        along = place / norm if norm else np.array([1.0, 0.0, 0.0])
        _put(origin, "xyz", place + item.value * along)


def _tilt(axis: Array, angle: float) -> Array:
    """Return an axis turned by an angle [rad] about a direction across it."""
    unit = axis / np.linalg.norm(axis)
    across = np.cross(unit, np.eye(3)[int(np.argmin(np.abs(unit)))])
    return np.asarray(axis_angle_matrix(across / np.linalg.norm(across), np.array(angle)) @ unit)


def _change_axis(change: Callable[[Array, float], Array]) -> Callable[..., None]:
    def act(root: ET.Element, item: Perturbation, model: EngineModel) -> None:
        for joint in _joints(root, item, model):
            axis = joint.find("axis")
            if axis is None:
                axis = ET.SubElement(joint, "axis", xyz="1 0 0")
            old = np.array([float(x) for x in axis.get("xyz", "1 0 0").split()])
            _put(axis, "xyz", change(old, item.value))

    return act


def _limit(root: ET.Element, item: Perturbation, model: EngineModel) -> None:
    found = {j.get("name", ""): j.find("limit") for j in root.findall("joint")}
    limited = {n: e for n, e in found.items() if e is not None and e.get("lower") is not None}
    for name in item.pick([n for n in limited if n in model.joints]):
        limit = limited[name]
        for key, sign in (("lower", -1.0), ("upper", 1.0)):
            limit.set(key, repr(float(limit.get(key, "0")) + sign * item.value))


INERTIAL: dict[str, Callable[[ET.Element, Perturbation], None]] = {
    "mass": _mass,
    "inertia": _inertia,
    "centre": _centre,
}
JOINT: dict[str, Callable[[ET.Element, Perturbation, EngineModel], None]] = {
    "length": _length,
    "axis": _change_axis(_tilt),
    "axis_sign": _change_axis(lambda axis, sign: axis * sign),
    "limit": _limit,
}


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


class PerturbedSignals:
    """Shift what a simulator measures, or hand it commands late (Simulator).

    Args:
        simulator: that is right in itself.
        items: perturbations of measurements and commands.
    """

    def __init__(self, simulator: Simulator, items: Perturbations) -> None:
        self._simulator = simulator
        self._offset = np.zeros(len(simulator.joints))
        self._late = 0
        for item in items:
            if item.kind == "delay":
                self._late = round(item.value)
            else:
                picked = item.pick(simulator.joints)
                self._offset += [item.value if n in picked else 0.0 for n in simulator.joints]
        self._waiting: list[Command] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._simulator, name)

    def reset(self, state: RobotState) -> RobotState:
        """Put the robot in `state`, and return the state as it is measured."""
        rest = Command(np.zeros(len(self._offset)))
        self._waiting = [rest] * self._late
        return self._seen(self._simulator.reset(state))

    def state(self) -> RobotState:
        """Return the present state as it is measured."""
        return self._seen(self._simulator.state())

    def step(self, command: Command, duration: float) -> RobotState:
        """Advance by `duration` [s] under the command that is due; report the one given."""
        self._waiting.append(command)
        late = self._waiting.pop(0)
        after = self._simulator.step(replace(command, effort=late.effort), duration)
        told = clip_efforts(command.effort, self._simulator.effort_limits)
        return replace(self._seen(after), effort=told)

    def _seen(self, state: RobotState) -> RobotState:
        return replace(state, q=state.q + self._offset)
