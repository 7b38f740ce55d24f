"""Setup: a robot and a scenario brought together, with all data that follow from the two."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from roboaccord.contract.contact import Contact
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.interfaces import ForceLaw
from roboaccord.contract.state import Array, RobotState, freeze
from roboaccord.description.parameters import load_parameters
from roboaccord.description.resources import share
from roboaccord.description.tree import Tree
from roboaccord.description.xacro_file import expand_xacro
from roboaccord.numerics.rotations import rpy_quaternion
from roboaccord.scenario.robot import Robot, find_robot
from roboaccord.scenario.scenario import Scenario

NOTHING_MORE: Mapping[str, str] = MappingProxyType({})


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
        return self.robot.initial(self, state)

    @cached_property
    def terrain(self) -> Any:
        """What stands around the robot, as its package has it; None where there is nothing.

        Raises:
            AccordError: for keys that the package does not know, or where it knows none.
        """
        given = self.scenario.terrain
        if given and type(self.robot).terrain is Robot.terrain:
            raise AccordError(f"{self.robot.name} has no terrain: leave out the key terrain")
        return build(self.robot.terrain, self, given, "terrain")

    @cached_property
    def _descriptions(self) -> dict[tuple[str, str, tuple[tuple[str, str], ...]], str]:
        return {}

    def urdf(
        self,
        *,
        base: str = "",
        root: str = "base_link",
        more: Mapping[str, str] = NOTHING_MORE,
    ) -> str:
        """Return the robot's xacro as URDF, with the scenario's base and parameters.

        The numbers of the scenario's friction law are arguments of the xacro, too, for Gazebo.
        Each description is expanded once.

        Args:
            base: instead of the scenario's.
            root: link on which all others hang; `world` where that is a hinge to the world.
            more: further arguments of the xacro.

        Raises:
            AccordError: if the xacro or the URDF is broken.
        """
        key = (base or self.scenario.base, root, tuple(sorted(more.items())))
        if key not in self._descriptions:
            path = share(self.robot.package) / "urdf" / f"{self.robot.name}.urdf.xacro"
            text = expand_xacro(path, {**self._xacro_arguments, "base": key[0], **more})
            Tree.parse(text, path.name, root=root)
            self._descriptions[key] = text
        return self._descriptions[key]

    @cached_property
    def tree(self) -> Tree:
        """The links and joints of the description."""
        return Tree.parse(self.urdf())

    def at_step(self, physics_step: float) -> Setup:
        """Return the same setup with another physics step [s]; what is expanded is shared."""
        data = {**self.scenario.data(), "physics_step": physics_step}
        other = Setup(self.robot, Scenario(**data))
        other.__dict__["_descriptions"] = self._descriptions
        return other

    @property
    def _xacro_arguments(self) -> dict[str, str]:
        names = (f.name for f in dataclasses.fields(self.parameters))
        friction = self.scenario.friction
        numbers = {k: repr(v) for k, v in friction.items() if isinstance(v, (int, float))}
        return {
            **{name: repr(getattr(self.parameters, name)) for name in names},
            **numbers,
            "friction": str(friction.get("law", "none")),
        }

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
        made: ForceLaw | Contact = build(laws[law], self, spec, "friction")
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


def build(factory: Callable[..., Any], setup: Setup, spec: Mapping[str, Any], key: str) -> Any:
    """Call `factory(setup, **spec)` with keys and numbers checked against its signature.

    Raises:
        AccordError: for a key that it does not take, or a value that it refuses.
    """
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
