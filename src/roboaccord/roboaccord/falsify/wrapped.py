"""Engines with deliberate errors: specifications around others, in whose place they stand.

An error of the model is built into each model that a robot hands to the engine; one of commands,
measurements or steps stands in front of the simulator that the robot makes of these.
"""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from roboaccord.contract.contact import EllipseFriction
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Engine
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.description.tree import Tree
from roboaccord.engines import spec
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import EngineModel
from roboaccord.engines.spec import EngineSpec
from roboaccord.falsify.perturbation import KINDS, Perturbation
from roboaccord.numerics.rotations import axis_angle_matrix
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Proxy, Simulator
from roboaccord.simulators.joints import JointFriction

AfterStep = Callable[[Simulator], None]
OUTSIDE = ("sensor", "delay")  # of the model
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def wrap(
    engine: Engine,
    *,
    perturbations: Sequence[Perturbation] = (),
    after_step: AfterStep | None = None,
) -> EngineSpec:
    """Return an engine with deliberate errors, in whose place it stands.

    Args:
        engine: by name or specification, which may be wrapped itself.
        perturbations: those of other engines are left out.
        after_step: is called with the simulator after each step, and may put it elsewhere; a
            function, for it goes to other processes.
    """
    inner = spec(engine)
    own = tuple(item for item in perturbations if item.engine == inner.name)
    kept = {each.name: getattr(inner, each.name) for each in fields(EngineSpec)}
    texts = [str(item) for item in own]
    if after_step:
        texts.append(f"{inner.name}:after_step={after_step.__name__}")
    kept["changes"] = (*inner.changes, *texts)
    return WrappedSpec(**kept, inner=inner, perturbations=own, after_step=after_step)


@dataclass(frozen=True, kw_only=True)
class WrappedSpec(EngineSpec):
    """Specify an engine with deliberate errors; `wrap` makes it."""

    inner: EngineSpec
    perturbations: tuple[Perturbation, ...]
    after_step: AfterStep | None

    def make(self, setup: Setup) -> Simulator:
        raise AccordError(
            f"--perturb: {self.name} runs a description of its own, which cannot be perturbed"
        )

    def simulate(self, model: EngineModel) -> EngineSimulator:
        model = self.configured(model)
        simulator = self.inner.simulate(perturb_model(model, self.perturbations))
        simulator.intended = model
        return simulator

    def complete(self, simulator: Simulator) -> Simulator:
        found = self.inner.complete(simulator)
        signals = [item for item in self.perturbations if item.kind in OUTSIDE]
        if signals:
            found = PerturbedSignals(found, signals)
        return BrokenSteps(found, self.after_step) if self.after_step else found


class PerturbedSignals(Proxy):
    """Shift what a simulator measures, or hand it commands late.

    Args:
        simulator: that is right in itself.
        items: perturbations of measurements and commands.
    """

    def __init__(self, simulator: Simulator, items: Sequence[Perturbation]) -> None:
        super().__init__(simulator)
        self._offset = np.zeros(len(simulator.joints))
        self._late = 0
        for item in items:
            if item.kind == "delay":
                self._late = round(item.value)
            else:
                picked = item.pick(simulator.joints)
                self._offset += [item.value if n in picked else 0.0 for n in simulator.joints]
        self._waiting: list[Command] = []

    def _start(self, state: RobotState) -> None:
        rest = Command(np.zeros(len(self._offset)))
        self._waiting = [rest] * self._late
        super()._start(state)

    def _advance(self, command: Command, duration: float) -> None:
        """Advance under the command that is due."""
        self._waiting.append(command)
        late = self._waiting.pop(0)
        super()._advance(replace(command, effort=late.effort), duration)

    def _read(self) -> RobotState:
        """Return the present state as it is measured, with the effort that was commanded."""
        state = super()._read()
        return replace(state, q=state.q + self._offset, effort=self._effort)


class BrokenSteps(Proxy):
    """Call a function with a simulator after each of its steps.

    Args:
        simulator: that is right in itself.
        after_step: what breaks it.
    """

    def __init__(self, simulator: Simulator, after_step: AfterStep) -> None:
        super().__init__(simulator)
        self._after_step = after_step

    def _advance(self, command: Command, duration: float) -> None:
        super()._advance(command, duration)
        self._after_step(self._inner)

    def _read(self) -> RobotState:
        """Return the present state at the time at which the step ends, with the effort in force."""
        return replace(super()._read(), time=self._time, effort=self._effort)


def _perturb_text(urdf: str, joints: Sequence[str], item: Perturbation) -> str:
    """Return a URDF with one error, of a kind in TEXT.

    Args:
        urdf: the description.
        joints: names of those that a joint's error can be of.
        item: the error.

    Raises:
        AccordError: if there is no such link or joint.
    """
    root = ET.fromstring(urdf)
    if KINDS[item.kind].place == "link":
        found = {link.get("name", ""): link.find("inertial") for link in root.iter("link")}
    else:
        inside = "limit" if item.kind == "limit" else "."
        found = {j.get("name", ""): j.find(inside) for j in root.findall("joint")}
        found = {name: found[name] for name in found if name in joints}
    there = {name: e for name, e in found.items() if e is not None}
    if item.kind == "limit":
        there = {name: e for name, e in there.items() if e.get("lower") is not None}
    for name in item.pick(there):
        TEXT[item.kind](there[name], item.value)
    return ET.tostring(root, encoding="unicode")


def _scale(element: ET.Element, keys: Sequence[str], factor: float) -> None:
    for key in keys:
        element.set(key, repr(float(element.get(key, "0")) * factor))


def _mass(inertial: ET.Element, factor: float) -> None:
    _scale(inertial.find("mass"), ("value",), factor)  # type: ignore[arg-type]


def _inertia(inertial: ET.Element, factor: float) -> None:
    _scale(inertial.find("inertia"), MOMENTS, factor)  # type: ignore[arg-type]


def _origin(element: ET.Element) -> tuple[ET.Element, Array]:
    origin = element.find("origin")
    if origin is None:
        origin = ET.SubElement(element, "origin")
    return origin, np.array([float(x) for x in origin.get("xyz", "0 0 0").split()])


def _put(element: ET.Element, key: str, values: Array) -> None:
    element.set(key, " ".join(repr(float(value)) for value in values))


def _centre(inertial: ET.Element, shift: float) -> None:
    origin, place = _origin(inertial)
    _put(origin, "xyz", place + shift)


def _length(joint: ET.Element, shift: float) -> None:
    origin, place = _origin(joint)
    norm = float(np.linalg.norm(place))
    along = place / norm if norm else np.array([1.0, 0.0, 0.0])
    _put(origin, "xyz", place + shift * along)


def _tilt(axis: Array, angle: float) -> Array:
    """Return an axis turned by an angle [rad] about a direction across it."""
    unit = axis / np.linalg.norm(axis)
    across = np.cross(unit, np.eye(3)[int(np.argmin(np.abs(unit)))])
    return np.asarray(axis_angle_matrix(across / np.linalg.norm(across), np.array(angle)) @ unit)


def _change_axis(change: Callable[[Array, float], Array]) -> Callable[[ET.Element, float], None]:
    def act(joint: ET.Element, value: float) -> None:
        axis = joint.find("axis")
        if axis is None:
            axis = ET.SubElement(joint, "axis", xyz="1 0 0")
        old = np.array([float(x) for x in axis.get("xyz", "1 0 0").split()])
        _put(axis, "xyz", change(old, value))

    return act


def _limit(limit: ET.Element, shift: float) -> None:
    for key, sign in (("lower", -1.0), ("upper", 1.0)):
        limit.set(key, repr(float(limit.get(key, "0")) + sign * shift))


TEXT: dict[str, Callable[[ET.Element, float], None]] = {
    "mass": _mass,
    "inertia": _inertia,
    "centre": _centre,
    "length": _length,
    "axis": _change_axis(_tilt),
    "axis_sign": _change_axis(lambda axis, sign: axis * sign),
    "limit": _limit,
}


def perturb_model(model: EngineModel, items: Sequence[Perturbation]) -> EngineModel:
    """Return a model with perturbations built in.

    Raises:
        AccordError: for one that has nothing here to act on.
    """
    for item in items:
        if item.kind in TEXT:
            model = replace(model, urdf=_perturb_text(model.urdf, model.joints, item))
        elif item.kind in MODEL:
            model = MODEL[item.kind](model, item)
    return model


def _law(change: Callable[[EllipseFriction, float], None]) -> Callable[..., EngineModel]:
    def act(model: EngineModel, item: Perturbation) -> EngineModel:
        if not isinstance(model.force_law, EllipseFriction):
            raise item.impossible("its ground friction is not an ellipse")
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
    if model.restitution is not None:
        return replace(model, restitution=model.restitution + item.value)
    if model.contact is None:
        raise item.impossible("it has no contact")
    return replace(model, contact=replace(model.contact, restitution=item.value))


def _stop(model: EngineModel, item: Perturbation) -> EngineModel:
    if not any(np.isfinite(j.upper) for j in Tree.parse(model.urdf, root=model.root).moving):
        raise item.impossible("its joints have no limits")
    return replace(model, stop_softness=item.value)


MODEL: dict[str, Callable[[EngineModel, Perturbation], EngineModel]] = {
    "gravity": lambda model, item: replace(model, gravity=model.gravity * item.value),
    "friction_along": _law(_scale_mu(0)),
    "friction_across": _law(_scale_mu(1)),
    "slip_speed": _law(_scale_slip),
    "friction": _dry,
    "contact_friction": _contact_friction,
    "damping": lambda model, item: replace(model, damping=_addends(model, item, model.damping)),
    "gear": lambda model, item: replace(model, gear=_factors(model, item)),
    "effort_limit": lambda model, item: replace(
        model, effort_limits=model.effort_limits * _factors(model, item)
    ),
    "armature": lambda model, item: replace(model, armature=_addends(model, item, model.armature)),
    "stop": _stop,
    "impact": _impact,
}
