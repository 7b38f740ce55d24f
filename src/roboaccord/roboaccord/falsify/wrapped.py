"""Engines with deliberate errors: specifications that wrap others and replace them.

An error of the model is built into each model that a robot passes to the engine: as a change of its
URDF (TEXT) or of a field of `EngineModel` (MODEL). An error of commands, measurements or steps
wraps the finished simulator (OUTSIDE, `PerturbedSignals`, `BrokenSteps`). `simulator.intended`
remains the model without the error, with which level 1 compares. A new kind needs an entry in one
of these tables; without one it has no effect, and no error is raised.
"""

from __future__ import annotations

import operator
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Engine
from roboaccord.contract.sliding_friction import EllipseFriction
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.description.tree import Tree
from roboaccord.description.xml_numbers import edit_numbers
from roboaccord.engines import spec
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.deviations import scaled_ground
from roboaccord.engines.force_laws import ScaledLaw
from roboaccord.engines.model import EngineModel
from roboaccord.engines.spec import EngineSpec
from roboaccord.falsify.perturbation import KINDS, Perturbation
from roboaccord.numerics.rotations import axis_angle_matrix
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.friction import JointFriction
from roboaccord.simulators.proxy import Proxy

AfterStep = Callable[[Simulator], None]  # called with the simulator after each step
OUTSIDE = ("sensor", "delay")  # kinds that are not errors of the model
Changes = dict[str, Any]  # fields of an EngineModel, by name


def wrap(
    engine: Engine,
    *,
    perturbations: Sequence[Perturbation] = (),
    after_step: AfterStep | None = None,
) -> EngineSpec:
    """Return an engine with deliberate errors, which takes the place of the given one.

    Args:
        engine: by name or specification, which may be wrapped itself.
        perturbations: those of other engines are ignored.
        after_step: called with the simulator after each step, and may change its state; a function
            of a module, since it is sent to other processes.
    """
    inner = spec(engine)
    of_engine = tuple(item for item in perturbations if item.engine == inner.name)
    texts = [*map(str, of_engine)]
    if after_step:
        texts.append(f"{inner.name}:after_step={after_step.__name__}")
    changes, parts = (*inner.changes, *texts), {"inner": inner, "perturbations": of_engine}
    return WrappedSpec.of(inner, changes=changes, after_step=after_step, **parts)


@dataclass(frozen=True, kw_only=True)
class WrappedSpec(EngineSpec):
    """Specification of an engine with deliberate errors, made by `wrap`.

    Args:
        inner: specification without the errors.
        perturbations: of this engine.
        after_step: called with the simulator after each step; None for nothing.
    """

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
        complete = self.inner.complete(simulator)
        signals = [item for item in self.perturbations if item.kind in OUTSIDE]
        if signals:
            complete = PerturbedSignals(complete, signals)
        return BrokenSteps(complete, self.after_step) if self.after_step else complete


class PerturbedSignals(Proxy):
    """Simulator with shifted measurements or late commands.

    Args:
        simulator: without these errors.
        items: perturbations of measurements (`sensor`) and commands (`delay`).
    """

    def __init__(self, simulator: Simulator, items: Sequence[Perturbation]) -> None:
        super().__init__(simulator)
        self._offset = np.zeros(len(simulator.joints))
        self._delay = 0
        for item in items:
            if item.kind == "delay":
                self._delay = round(item.value)
            else:
                self._offset += _by_joint(simulator.joints, item, 0.0)
        self._pending: list[Command] = []

    def _start(self, state: RobotState) -> None:
        idle = Command(np.zeros(len(self._offset)))
        self._pending = [idle] * self._delay
        super()._start(state)

    def _advance(self, command: Command, duration: float) -> None:
        """Advance under the effort that was commanded some periods before."""
        self._pending.append(command)
        due = self._pending.pop(0)
        super()._advance(replace(command, effort=due.effort), duration)

    def _read(self) -> RobotState:
        """Return the present state as measured, with the commanded effort."""
        state = super()._read()
        return replace(state, q=state.q + self._offset, effort=self._effort)


class BrokenSteps(Proxy):
    """Simulator with a function that is called after each of its steps.

    Args:
        simulator: without the error.
        after_step: causes the error.
    """

    def __init__(self, simulator: Simulator, after_step: AfterStep) -> None:
        super().__init__(simulator)
        self._after_step = after_step

    def _advance(self, command: Command, duration: float) -> None:
        super()._advance(command, duration)
        self._after_step(self._inner)

    def _read(self) -> RobotState:
        """Return the present state at the end of the step, with the effort in force."""
        return replace(super()._read(), time=self._time, effort=self._effort)


def _along(offset: Array) -> Array:
    """Return the unit vector along an offset from the parent's origin; x if the offset is 0."""
    norm = float(np.linalg.norm(offset))
    return offset / norm if norm else np.array([1.0, 0.0, 0.0])


def _tilt(angle: float, axis: Array) -> Array:
    """Return an axis tilted by an angle [rad] about a direction perpendicular to it."""
    unit = axis / np.linalg.norm(axis)
    across = np.cross(unit, np.eye(3)[int(np.argmin(np.abs(unit)))])
    return np.asarray(axis_angle_matrix(across / np.linalg.norm(across), np.array(angle)) @ unit)


TEXT: dict[str, Sequence[tuple[str, str, str, Callable[[float, Array], Array]]]] = {
    "mass": [("mass", "value", "0", operator.mul)],
    "inertia": [("inertia", f"i{axes}", "0", operator.mul) for axes in "xx xy xz yy yz zz".split()],
    "centre": [("origin", "xyz", "0 0 0", operator.add)],
    "length": [("origin", "xyz", "0 0 0", lambda shift, offset: offset + shift * _along(offset))],
    "axis": [("axis", "xyz", "1 0 0", _tilt)],
    "axis_sign": [("axis", "xyz", "1 0 0", operator.mul)],
    "limit": [
        ("limit", "lower", "0", lambda shift, end: end - shift),
        ("limit", "upper", "0", operator.add),
    ],
}
"""Errors in a URDF: element, attribute, default, and (value, present numbers) to new numbers."""


def _perturb_text(urdf: str, joints: Sequence[str], item: Perturbation) -> str:
    """Return a URDF with one error, of a kind in TEXT.

    Args:
        urdf: the description.
        joints: names of those that can have an error.
        item: the error.

    Raises:
        AccordError: if there is no such link or joint.
    """
    root = ET.fromstring(urdf)
    if KINDS[item.kind].place == "link":
        elements = {link.get("name", ""): link.find("inertial") for link in root.iter("link")}
    else:
        elements = {joint.get("name", ""): joint for joint in root.findall("joint")}
        elements = {name: elements[name] for name in elements if name in joints}
    if item.kind == "limit":
        bounded = root.findall("joint/limit[@lower]/..")
        elements = {name: e for name, e in elements.items() if e in bounded}
    present = {name: e for name, e in elements.items() if e is not None}
    for name in item.pick(present):
        for tag, key, default, change in TEXT[item.kind]:
            edit_numbers(present[name], tag, key, partial(change, item.value), default)
    return ET.tostring(root, encoding="unicode")


def perturb_model(model: EngineModel, items: Sequence[Perturbation]) -> EngineModel:
    """Return a model with perturbations built in; kinds of OUTSIDE are left to wrappers.

    Raises:
        AccordError: for a perturbation that does not apply to the model.
    """
    for item in items:
        if item.kind in TEXT:
            model = replace(model, urdf=_perturb_text(model.urdf, model.joints, item))
        elif item.kind in MODEL:
            model = replace(model, **MODEL[item.kind](model, item))
    return model


def _by_joint(joints: Sequence[str], item: Perturbation, neutral: float) -> Array:
    """Return the value of a perturbation at the joints that it applies to, else `neutral` (n,)."""
    picked = item.pick(joints)
    return np.array([item.value if name in picked else neutral for name in joints])


def _factors(model: EngineModel, item: Perturbation) -> Array:
    """Return the factor of a perturbation at each joint (n,); 1 where it does not apply."""
    return _by_joint(model.joints, item, 1.0)


def _more(model: EngineModel, item: Perturbation) -> Changes:
    """Return a model's field with the value added at the joints: damping or armature."""
    present, added = getattr(model, item.kind), _by_joint(model.joints, item, 0.0)
    return {item.kind: added if present is None else present + added}


def _ground(model: EngineModel, item: Perturbation) -> Changes:
    """Return the ground friction law with one parameter scaled."""
    if not isinstance(model.force_law, EllipseFriction):
        raise item.impossible("its ground friction is not an ellipse")
    quantity = item.kind.replace("_", " ")
    return {"force_law": scaled_ground(model.force_law, quantity, item.value)}


def _scaled(model: EngineModel, item: Perturbation) -> Changes:
    """Return the friction law with the forces on some links scaled."""
    law = model.force_law
    if law is None:
        raise item.impossible("no friction acts on its links")
    factors = dict.fromkeys(item.pick(law.links), item.value)
    return {"force_law": ScaledLaw(law, factors) if item.value != 1.0 else law}


def _dry(model: EngineModel, item: Perturbation) -> Changes:
    """Return joint friction with dry friction scaled at some joints."""
    law = model.friction
    if not isinstance(law, JointFriction) or not np.any(law.constant):
        raise item.impossible("its joints have no dry friction")
    factors = _factors(model, item)
    stiction = None if law.stiction is None else law.stiction * factors
    return {"friction": replace(law, constant=law.constant * factors, stiction=stiction)}


def _contact_friction(model: EngineModel, item: Perturbation) -> Changes:
    """Return the contact with all friction coefficients scaled."""
    if model.contact is None or not any(model.contact.friction.values()):
        raise item.impossible("it has no contact with friction")
    scaled = {name: mu * item.value for name, mu in model.contact.friction.items()}
    return {"contact": replace(model.contact, friction=scaled)}


def _impact(model: EngineModel, item: Perturbation) -> Changes:
    """Return the restitution increased by the value; that of contacts is set to it."""
    if model.restitution is not None:
        return {"restitution": model.restitution + item.value}
    if model.contact is None:
        raise item.impossible("it has no contact")
    return {"contact": replace(model.contact, restitution=item.value)}


def _stop(model: EngineModel, item: Perturbation) -> Changes:
    """Return the softness of the joints' stops."""
    if not any(np.isfinite(j.upper) for j in Tree.parse(model.urdf, root=model.root).moving):
        raise item.impossible("its joints have no limits")
    return {"stop_softness": item.value}


MODEL: dict[str, Callable[[EngineModel, Perturbation], Changes]] = {
    "gravity": lambda model, item: {"gravity": model.gravity * item.value},
    **dict.fromkeys(("friction_along", "friction_across", "slip_speed"), _ground),
    "link_friction": _scaled,
    "friction": _dry,
    "contact_friction": _contact_friction,
    "damping": _more,
    "gear": lambda model, item: {"gear": _factors(model, item)},
    "effort_limit": lambda model, item: {
        "effort_limits": model.effort_limits * _factors(model, item)
    },
    "armature": _more,
    "stop": _stop,
    "impact": _impact,
}
