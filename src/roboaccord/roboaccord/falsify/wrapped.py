"""Engines with deliberate errors: specifications around others, in whose place they stand.

What a kind does may be added as one entry: to TEXT (a change in the URDF), to MODEL (a field of
`EngineModel`), or to OUTSIDE with its code in `PerturbedSignals`. Without an entry a kind changes
nothing, and no error is raised. `simulator.intended` stays the model without the error, with which
level 1 compares.

An error of the model is built into each model that a robot hands to the engine; one of commands,
measurements or steps stands in front of the simulator that the robot makes of these.
"""

from __future__ import annotations

import operator
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from roboaccord.contract.contact import EllipseFriction
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Engine
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

AfterStep = Callable[[Simulator], None]
OUTSIDE = ("sensor", "delay")  # of the model
Changes = dict[str, Any]


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
    texts = [*map(str, own)]
    if after_step:
        texts.append(f"{inner.name}:after_step={after_step.__name__}")
    changes, parts = (*inner.changes, *texts), {"inner": inner, "perturbations": own}
    return WrappedSpec.of(inner, changes=changes, after_step=after_step, **parts)


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
                self._offset += _by_joint(simulator.joints, item, 0.0)
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


def _along(place: Array) -> Array:
    """Return the direction of a place from the parent's origin; x where it is there."""
    norm = float(np.linalg.norm(place))
    return place / norm if norm else np.array([1.0, 0.0, 0.0])


def _tilt(angle: float, axis: Array) -> Array:
    """Return an axis turned by an angle [rad] about a direction across it."""
    unit = axis / np.linalg.norm(axis)
    across = np.cross(unit, np.eye(3)[int(np.argmin(np.abs(unit)))])
    return np.asarray(axis_angle_matrix(across / np.linalg.norm(across), np.array(angle)) @ unit)


TEXT: dict[str, Sequence[tuple[str, str, str, Callable[[float, Array], Array]]]] = {
    "mass": [("mass", "value", "0", operator.mul)],
    "inertia": [("inertia", f"i{axes}", "0", operator.mul) for axes in "xx xy xz yy yz zz".split()],
    "centre": [("origin", "xyz", "0 0 0", operator.add)],
    "length": [("origin", "xyz", "0 0 0", lambda shift, place: place + shift * _along(place))],
    "axis": [("axis", "xyz", "1 0 0", _tilt)],
    "axis_sign": [("axis", "xyz", "1 0 0", operator.mul)],
    "limit": [
        ("limit", "lower", "0", lambda shift, end: end - shift),
        ("limit", "upper", "0", operator.add),
    ],
}
"""Errors in a description: element of an inertial or a joint, attribute, default and change."""


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
        found = {joint.get("name", ""): joint for joint in root.findall("joint")}
        found = {name: found[name] for name in found if name in joints}
    if item.kind == "limit":
        bounded = root.findall("joint/limit[@lower]/..")
        found = {name: e for name, e in found.items() if e in bounded}
    there = {name: e for name, e in found.items() if e is not None}
    for name in item.pick(there):
        for tag, key, default, change in TEXT[item.kind]:
            edit_numbers(there[name], tag, key, partial(change, item.value), default)
    return ET.tostring(root, encoding="unicode")


def perturb_model(model: EngineModel, items: Sequence[Perturbation]) -> EngineModel:
    """Return a model with perturbations built in.

    Raises:
        AccordError: for one that has nothing here to act on.
    """
    for item in items:
        if item.kind in TEXT:
            model = replace(model, urdf=_perturb_text(model.urdf, model.joints, item))
        elif item.kind in MODEL:
            model = replace(model, **MODEL[item.kind](model, item))
    return model


def _by_joint(joints: Sequence[str], item: Perturbation, neutral: float) -> Array:
    """Return the value of a perturbation at the joints that it applies to (n,)."""
    picked = item.pick(joints)
    return np.array([item.value if name in picked else neutral for name in joints])


def _factors(model: EngineModel, item: Perturbation) -> Array:
    return _by_joint(model.joints, item, 1.0)


def _more(model: EngineModel, item: Perturbation) -> Changes:
    present, more = getattr(model, item.kind), _by_joint(model.joints, item, 0.0)
    return {item.kind: more if present is None else present + more}


def _ground(model: EngineModel, item: Perturbation) -> Changes:
    if not isinstance(model.force_law, EllipseFriction):
        raise item.impossible("its ground friction is not an ellipse")
    quantity = item.kind.replace("_", " ")
    return {"force_law": scaled_ground(model.force_law, quantity, item.value)}


def _scaled(model: EngineModel, item: Perturbation) -> Changes:
    law = model.force_law
    if law is None:
        raise item.impossible("no friction acts on its links")
    factors = dict.fromkeys(item.pick(law.links), item.value)
    return {"force_law": ScaledLaw(law, factors) if item.value != 1.0 else law}


def _dry(model: EngineModel, item: Perturbation) -> Changes:
    law = model.friction
    if not isinstance(law, JointFriction) or not np.any(law.constant):
        raise item.impossible("its joints have no dry friction")
    factors = _factors(model, item)
    stiction = None if law.stiction is None else law.stiction * factors
    return {"friction": replace(law, constant=law.constant * factors, stiction=stiction)}


def _contact_friction(model: EngineModel, item: Perturbation) -> Changes:
    if model.contact is None or not any(model.contact.friction.values()):
        raise item.impossible("it has no contact with friction")
    scaled = {name: mu * item.value for name, mu in model.contact.friction.items()}
    return {"contact": replace(model.contact, friction=scaled)}


def _impact(model: EngineModel, item: Perturbation) -> Changes:
    if model.restitution is not None:
        return {"restitution": model.restitution + item.value}
    if model.contact is None:
        raise item.impossible("it has no contact")
    return {"contact": replace(model.contact, restitution=item.value)}


def _stop(model: EngineModel, item: Perturbation) -> Changes:
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
