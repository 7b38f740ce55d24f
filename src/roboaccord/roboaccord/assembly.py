"""A setup: a robot and a scenario brought together, and what is made from them."""

from __future__ import annotations

import importlib
import inspect
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from roboaccord.contact import Contact
from roboaccord.errors import AccordError
from roboaccord.interfaces import Controller, ForceLaw, Simulator
from roboaccord.parameters import load_parameters
from roboaccord.perturbation import Perturbations, of_engine
from roboaccord.robot import Robot, find_robot
from roboaccord.rotations import rpy_quaternion
from roboaccord.scenario import Scenario, did_you_mean
from roboaccord.state import Array, Command, RobotState, Target, freeze
from roboaccord.watch import START_TIMEOUT, line_of, starting


@dataclass(frozen=True)
class Setup:
    """Hold a scenario with its robot; every simulator and controller is made from it."""

    robot: Robot
    scenario: Scenario

    @classmethod
    def of(cls, scenario: Scenario) -> Setup:
        """Find the robot of a scenario, and check what the scenario asks of it.

        Raises:
            AccordError: for an unknown robot, parameter, joint, switch or friction law.
        """
        setup = cls(find_robot(scenario.robot), scenario)
        _ = setup.parameters, setup.terrain, setup.initial, setup.force_law
        return setup

    @cached_property
    def parameters(self) -> Any:
        """The physical parameters, as the robot's dataclass."""
        return load_parameters(self.robot.parameters, self.robot.package, self.scenario.parameters)

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """The joint names, in the order of every array."""
        return self.robot.joints(self)

    @cached_property
    def effort_limits(self) -> Array:
        """What efforts are clipped to (n,) [N m or N]."""
        return freeze(self.robot.effort_limits(self))

    @cached_property
    def initial(self) -> RobotState:
        """The state to start from."""
        given = self.scenario.initial
        state = RobotState(
            time=0.0,
            q=self._by_joint(given.q, "initial.q") + self._spread(given.spread_q),
            qd=self._by_joint(given.qd, "initial.qd"),
            effort=np.zeros(len(self.joints)),
            position=np.array(given.position),
            orientation=rpy_quaternion(given.roll, given.pitch, given.yaw),
            twist=np.array(given.twist),
            switches=self._switches(given.switches),
        )
        return self.robot.initial(self, state) if self.robot.initial else state

    @cached_property
    def terrain(self) -> Any:
        """What stands around the robot, as its package has it; None where there is nothing.

        Raises:
            AccordError: for keys that the package does not know, or where it knows none.
        """
        make, given = self.robot.terrain, self.scenario.terrain
        if make is None:
            if given:
                raise AccordError(f"{self.robot.name} has no terrain: leave out the key terrain")
            return None
        return _build(make, self, given, "terrain")

    @property
    def force_law(self) -> ForceLaw | None:
        """The friction law that acts as forces, alike in every simulator, or None."""
        made = self._friction
        return None if isinstance(made, Contact) else made

    @property
    def contact(self) -> Contact | None:
        """What an engine's own contact solver deals with, or None."""
        made = self._friction
        return made if isinstance(made, Contact) else None

    @cached_property
    def _friction(self) -> ForceLaw | Contact | None:
        spec = dict(self.scenario.friction)
        law = spec.pop("law", "none")
        if law == "none":
            return None
        laws = {**self.robot.friction_laws, **self.robot.contacts}
        if law not in laws:
            raise AccordError(f"unknown friction law {law}{did_you_mean(law, ['none', *laws])}")
        made: ForceLaw | Contact = _build(laws[law], self, spec, "friction")
        return made

    def _spread(self, width: float) -> Array:
        if not width:
            return np.zeros(len(self.joints))
        rng = np.random.default_rng(self.scenario.seed)
        return rng.uniform(-width, width, len(self.joints))

    def _switches(self, given: Mapping[str, bool]) -> dict[str, bool]:
        known = self.robot.switches
        for name in given:
            if name not in known:
                hint = did_you_mean(name, known)
                raise AccordError(f"unknown key initial.switches.{name}{hint}")
        return {**known, **given}

    def _by_joint(self, values: Mapping[str, float], key: str) -> Array:
        for name in values:
            if name not in self.joints:
                raise AccordError(f"unknown key {key}.{name}{did_you_mean(name, self.joints)}")
            if not math.isfinite(values[name]):
                raise AccordError(f"{key}.{name}: {values[name]} is no angle or rate")
        return np.array([values.get(name, 0.0) for name in self.joints])


class Passive:
    """Publish no effort: the controller called `none`."""

    def __init__(self, setup: Setup) -> None:
        self._command = Command(np.zeros(len(setup.joints)))

    def reset(self, seed: int) -> None:
        """Do nothing: there is nothing to forget."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return zero efforts."""
        return self._command


def make_controller(
    setup: Setup, custom: str = "", *, timeout: float = START_TIMEOUT
) -> Controller:
    """Make the controller of a scenario, or a user's own.

    Args:
        setup: robot and scenario.
        custom: `package.module:Class`, which replaces the scenario's controller; the class is
            called with the setup, and with the scenario's `controller` keys that it takes.
        timeout: how long it may take to be made [s of wall time].

    Raises:
        AccordError: for an unknown controller or parameter, or one that cannot be made.
    """
    spec = dict(setup.scenario.controller)
    name = spec.pop("name", "none")
    with starting("controller", timeout):
        return _make_controller(setup, custom, name, spec)


def _make_controller(setup: Setup, custom: str, name: str, spec: dict[str, Any]) -> Controller:
    if custom:
        factory = _import_factory(custom)
        accepted = inspect.signature(factory).parameters
        spec = {key: value for key, value in spec.items() if key in accepted}
    else:
        known = {"none": Passive, **setup.robot.controllers}
        if name not in known:
            raise AccordError(f"unknown controller {name}{did_you_mean(name, known)}")
        factory = known[name]
    controller = _build(factory, setup, spec, "controller")
    if not isinstance(controller, Controller):
        raise AccordError(f"{custom or name} has no reset(seed) and update(state, target)")
    return controller


def make_simulator(
    setup: Setup,
    engine: str = "reference",
    *,
    physics_step: float | None = None,
    perturbations: Perturbations = (),
) -> Simulator:
    """Make a simulator of a setup.

    Args:
        setup: robot and scenario.
        engine: `reference`, `dart` or `mujoco`.
        physics_step: [s]; the scenario's where None.
        perturbations: deliberate errors, by which the cross-check is itself checked; those of
            other engines are left out.

    Raises:
        AccordError: for an unknown engine, one that is not installed, or a broken description.
    """
    if physics_step is not None:
        data = {**setup.scenario.data(), "physics_step": physics_step}
        setup = Setup(setup.robot, Scenario(**data))
    if engine == "reference":
        return setup.robot.reference(setup)
    from roboaccord.engines import make_engine

    return make_engine(setup, engine, of_engine(perturbations, engine))


def _import_factory(path: str) -> Callable[..., Any]:
    module_name, colon, attribute = path.partition(":")
    if not colon:
        raise AccordError(f"--controller takes package.module:Class, not {path!r}")
    here = str(Path.cwd())
    if not {"", here} & set(sys.path):
        sys.path.insert(0, here)  # as `python -m` does; a script's path lacks it
    try:
        factory = getattr(importlib.import_module(module_name), attribute)
    except SystemExit as error:
        raise AccordError(f"cannot import {path}: it {line_of(error)}") from error
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise AccordError(f"cannot import {path}: {reason}") from error
    if not callable(factory):
        raise AccordError(f"{path} is no class")
    made: Callable[..., Any] = factory
    return made


def _build(factory: Callable[..., Any], setup: Setup, spec: Mapping[str, Any], key: str) -> Any:
    accepted = [p for p in inspect.signature(factory).parameters if p != "setup"]
    for name in spec:
        if name not in accepted:
            raise AccordError(f"unknown key {key}.{name}{did_you_mean(name, accepted)}")
        default = inspect.signature(factory).parameters[name].default
        number = isinstance(default, (int, float)) and not isinstance(default, bool)
        if number and (isinstance(spec[name], bool) or not isinstance(spec[name], (int, float))):
            raise AccordError(f"{key}.{name}: {spec[name]!r} is no number")
    try:
        return factory(setup, **spec)
    except AccordError:
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise AccordError(f"{key}: {reason}") from error
