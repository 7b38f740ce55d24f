"""Robot and Setup: a mechanism as its package registers it, and the mechanism in a scenario.

A scenario (scenario.py) is a complete experiment as data: initial state, controller, duration and
so on. `Robot` is the base class of robots: a package derives from it and overrides what its
mechanism needs; only `joints` and `effort_limits` are abstract (docs/new_robot.md explains all).
`Setup` is a robot with a scenario, from which every simulator and controller is made. It is
immutable; properties that follow from it, such as the URDF or the initial state, are computed once
and cached, and changes make another setup (`at_step`, `failing`). The classes refer to each other
and so share this module.

A method may be added to `Robot` with a default that changes no other robot. What only Gazebo needs
goes into `GazeboHooks`, what only a user's file has into `RobotFile` (robot_file.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from roboaccord.contract import AccordError, Contact, Fault, FreeBody, check_known, parse_fault
from roboaccord.contract.state import Aim, Array, RobotState, freeze
from roboaccord.description import KINDS, FixedBase, Parameters, Tree, load_parameters, share
from roboaccord.description.xacro_file import expand_xacro
from roboaccord.scenario.bodies import make_bodies
from roboaccord.scenario.initial import check_fault, freeze_at_start, initial_state
from roboaccord.scenario.installed import GROUP, load_robot
from roboaccord.scenario.registration import NOTHING, InputTopics
from roboaccord.scenario.scenario import Scenario
from roboaccord.scenario.user_code import build

if TYPE_CHECKING:
    from numpy.random import Generator

    from roboaccord.contract import interfaces
    from roboaccord.contract.contact import ContactPoint
    from roboaccord.description.solids import Faces


class GazeboHooks(NamedTuple):
    """Data and functions of a robot that Gazebo needs beyond the description.

    Args:
        contact_shapes: by value of the xacro's argument `contacts`, which chooses the shapes with
            which links touch the ground: changes of the scenario's key `friction`, which give the
            friction law of such contacts in a cross-check. {} keeps the scenario's law. The first
            value is the default.
        world: function that makes the world of a setup, with its terrain, and returns its file,
            whose models are in ../models; None for the scenario's `world`.
        odometry: function that makes the odometry of a `base_link` that does not move on in the
            simulation, such as a ball in a bearing; None where the base really moves.
    """

    contact_shapes: Mapping[str, Mapping[str, Any]] = NOTHING
    world: Callable[[Setup], Path | None] = lambda setup: None
    odometry: Callable[[Setup], interfaces.Odometry | None] = lambda setup: None


class Robot(ABC):
    """Base class of robots: all that the core knows of a robot's package.

    A package derives from it, sets `name` and `summary`, writes `joints`, `effort_limits` and
    `reference`, and overrides what its mechanism needs beyond that.

    Attributes:
        name: of the robot; its topics begin with it.
        package: ROS package with `urdf/NAME.urdf.xacro`, `config/parameters.yaml`, `scenarios/`;
            by default it has the robot's name.
        summary: the robot in one line.
        parameters: class of the physical parameters, which `config/parameters.yaml` declares.
        controllers: by name, classes that are called with `(setup, **parameters)`.
        friction_laws: by name, functions that are called with `(setup, **parameters)` and return
            a `ForceLaw`, which acts as forces in every simulator, or a `Contact` for an engine's
            own contact solver.
        input_topics: on which people drive the robot, in addition to `cmd_vel`.
        switches: names of what commands can switch, such as a magnet, with their initial states.
        gazebo: what Gazebo needs beyond the description.
        cli: commands of `accord ROBOT` by name, as `module:function`; the function returns a
            `roboaccord.cli.Result`.
    """

    name: str
    package: str = ""
    summary: str
    parameters: type[Parameters] = Parameters
    controllers: Mapping[str, Callable[..., interfaces.Controller]] = NOTHING
    friction_laws: Mapping[str, Callable[..., interfaces.ForceLaw | Contact]] = NOTHING
    input_topics: InputTopics = InputTopics()
    switches: Mapping[str, bool] = NOTHING
    gazebo: GazeboHooks = GazeboHooks()
    cli: Mapping[str, str] = NOTHING

    def __init__(self) -> None:
        self.package = self.package or self.name

    @property
    def key(self) -> str:
        """Value of the key `robot` in scenarios."""
        return self.name

    def description(self, setup: Setup, base: str, more: Mapping[str, str]) -> tuple[str, str]:
        """Return the URDF of a setup, and the name of its file; `Setup.urdf` keeps it.

        Args:
            setup: robot and scenario.
            base: kind of base.
            more: further arguments of the xacro.
        """
        path = share(self.package) / "urdf" / f"{self.name}.urdf.xacro"
        arguments = {**setup.xacro_arguments, "base": base, **more}
        files = sorted([*path.parent.iterdir(), *(path.parents[1] / "config").glob("*.yaml")])
        # Times of change of the files on which the expanded URDF depends.
        changed = tuple(file.stat().st_mtime_ns for file in files)
        return _expanded(path, tuple(arguments.items()), changed), path.name

    @abstractmethod
    def joints(self, setup: Setup) -> tuple[str, ...]:
        """Return the names of the n joints of a setup, in the order of every array."""

    @abstractmethod
    def effort_limits(self, setup: Setup) -> Array:
        """Return the largest efforts (n,) [N m or N]; commands are clipped to them."""

    def reference(self, setup: Setup) -> interfaces.AnySimulator:
        """Make the analytical simulator, a `simulators.base.Simulator`.

        Raises:
            AccordError: by default, for a robot without a reference.
        """
        raise AccordError(f"{self.name} has no reference: name an engine")

    def engine(self, setup: Setup, engine: interfaces.AnyEngine) -> interfaces.AnySimulator | None:
        """Make an engine's simulator, for a robot that needs more than its description.

        The robot makes a model and passes it, with `engine`, to `engines.simulate_model`. With
        None, the default, the description is simulated.
        """
        return None

    def initial(self, setup: Setup, state: RobotState) -> RobotState:
        """Return the initial state, made from the scenario's `state`; by default the same."""
        return state

    def terrain(self, setup: Setup) -> Any:
        """Make the terrain and obstacles; an override takes the keys of `terrain` as arguments.

        None, the default, stands for level ground, which has no keys. A `Contact` acts beside a
        friction law that is a `ForceLaw`.
        """
        return None

    def surroundings(self, setup: Setup) -> Mapping[str, tuple[Array, Faces]]:
        """Return what is drawn around the robot: vertices (v, 3) [m] and faces by name.

        The name `terrain` replaces level ground, and `wall` is the wall on which the robot moves;
        any other name is a convex solid. By default there is only level ground.
        """
        return {}

    def contact_points(self, setup: Setup) -> Callable[[RobotState], Sequence[ContactPoint]] | None:
        """Return a function that finds contacts by geometry, where a simulator reports none.

        With None, the default, such contacts are unknown.
        """
        return None

    def draw_state(
        self, setup: Setup, rng: Generator, index: int
    ) -> tuple[RobotState, Array] | None:
        """Draw a random state and efforts (n,) [N m] for the cross-check.

        Args:
            setup: robot and scenario.
            rng: to draw from.
            index: number of the draw, from 0.

        With None, the default, each joint is drawn within its limits, and the base by its kind.
        """
        return None

    def aim(self, setup: Setup) -> Aim | None:
        """Return the point whose speed and path pictures show, with its target.

        With None, the default, it is the centre of mass.
        """
        return None

    def tally(self, setup: Setup, ticks: int) -> interfaces.Tally | None:
        """Make a tally of the robot's own figures for a run of `ticks` control periods.

        With None, the default, the robot has no figures of its own.
        """
        return None


@dataclass(frozen=True)
class Setup:
    """A robot in a scenario: every simulator and controller is made from it.

    Args:
        robot: what moves.
        scenario: where, from which start and under which controller.
        given: `KEY=VALUE` by which a user has changed the scenario's `controller`.
    """

    robot: Robot
    scenario: Scenario
    given: tuple[str, ...] = field(default=(), repr=False, compare=False)
    # URDF texts that were expanded, by base, root and further arguments of `urdf`.
    _descriptions: dict[tuple[str, str, tuple[tuple[str, str], ...]], str] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def of(cls, scenario: Scenario, robot: Robot | None = None, given: Sequence[str] = ()) -> Setup:
        """Return a checked setup; by default of the robot that the scenario names.

        Raises:
            AccordError: for an unknown robot, parameter, joint, switch or friction law, or a fault
                of a joint that cannot fail.
        """
        given = tuple(change for change in given if change.lstrip().startswith("controller"))
        setup = cls(robot or find_robot(scenario.robot), scenario, given)
        # Each property checks its section of the scenario when it is first computed.
        _ = setup.parameters, setup.terrain, setup.faults, setup.bodies, setup.initial
        _ = setup.force_law, setup.contact
        if setup.bodies and not (setup.contact and setup.contact.bodies):
            raise AccordError(f"bodies: {setup.robot.name} touches none by this friction.law")
        try:
            _ = setup.assumed.force_law
        except AccordError as error:
            raise AccordError(f"controller.friction: {error}") from None
        return setup

    @cached_property
    def parameters(self) -> Any:
        """The physical parameters, as an object of the robot's class."""
        return load_parameters(self.robot.parameters, self.robot.package, self.scenario.parameters)

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints, in the order of every array."""
        return self.robot.joints(self)

    @cached_property
    def effort_limits(self) -> Array:
        """Effort limits (n,) [N m or N]."""
        return freeze(self.robot.effort_limits(self))

    @cached_property
    def base(self) -> FixedBase:
        """The kind of base: how `base_link` moves."""
        return KINDS[self.scenario.base]

    @cached_property
    def initial(self) -> RobotState:
        """State at the start of the scenario, completed by the robot."""
        state = initial_state(self.scenario, self.joints, self.robot.switches)
        state = freeze_at_start(state, self.faults, self.joints)
        if self.bodies:
            state = replace(state, bodies=np.array([body.start for body in self.bodies]))
        return self.robot.initial(self, state)

    @cached_property
    def bodies(self) -> tuple[FreeBody, ...]:
        """Free bodies beside the robot.

        Raises:
            AccordError: for a body that is not whole.
        """
        return make_bodies(self.scenario.bodies, share(self.robot.package) / "meshes")

    @property
    def body_names(self) -> list[str]:
        """Names of the free bodies, in the order of `bodies`."""
        return [body.name for body in self.bodies]

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """Joints that fail, in order of time.

        Raises:
            AccordError: for a text of another form, or a joint that cannot fail.
        """
        faults = [parse_fault(text) for text in self.scenario.faults]
        for fault in faults:
            check_fault(fault, self.joints, self.tree)
        return tuple(sorted(faults, key=lambda fault: fault.time))

    @cached_property
    def terrain(self) -> Any:
        """Terrain and obstacles, as the robot's package represents them; None for level ground.

        Raises:
            AccordError: for unknown keys, or any key of a robot without terrain.
        """
        keys = self.scenario.terrain
        if type(self.robot).terrain is not Robot.terrain:
            return build(self.robot.terrain, self, keys, "terrain")
        if keys:
            raise AccordError(f"{self.robot.name} has no terrain: leave out the key terrain")
        return None

    @property
    def xacro_arguments(self) -> dict[str, str]:
        """Arguments of the robot's xacro: all parameters, name and numbers of the friction law."""
        values = self.parameters.as_dict().items()
        friction = self.scenario.friction
        numbers = {k: repr(v) for k, v in friction.items() if isinstance(v, (int, float))}
        parameters = ", ".join(f"{name}={value!r}" for name, value in values)
        law = str(friction.get("law", "none"))
        return {"parameters": parameters, "complete": "true", **numbers, "friction": law}

    def urdf(
        self, *, base: str = "", root: str = "base_link", more: Mapping[str, str] = NOTHING
    ) -> str:
        """Return the robot's xacro as URDF, with the scenario's base and parameters.

        Each description is expanded only once.

        Args:
            base: kind of base; by default the scenario's.
            root: link that carries all others; `world` where a hinge connects it to the world.
            more: further arguments of the xacro.

        Raises:
            AccordError: if the xacro or the URDF is broken.
        """
        key = (base or self.scenario.base, root, tuple(sorted(more.items())))
        if key not in self._descriptions:
            text, source = self.robot.description(self, key[0], more)
            Tree.parse(text, source, root=root)
            self._descriptions[key] = text
        return self._descriptions[key]

    @cached_property
    def tree(self) -> Tree:
        """The links and joints of the description."""
        return Tree.parse(self.urdf())

    def at_step(self, physics_step: float) -> Setup:
        """Return the setup with another physics step [s]; what is computed already is shared."""
        other = self._with_key("physics_step", physics_step)
        # Values of the cached properties; those of `assumed` depend on the step.
        shared = vars(self).keys() - {"scenario", "assumed"}
        vars(other).update({name: vars(self)[name] for name in shared})
        return other

    def failing(self, faults: Sequence[Fault]) -> Setup:
        """Return the setup with these faults in place of its own; descriptions are shared.

        Raises:
            AccordError: for a fault of a joint that cannot fail.
        """
        other = self._with_key("faults", [str(fault) for fault in faults])
        _ = other.faults
        return other

    @cached_property
    def assumed(self) -> Setup:
        """The setup that the controller is given, with the friction of `controller.friction`."""
        if not (friction := self.scenario.controller.get("friction")):
            return self
        changed = friction if "law" in friction else {**self.scenario.friction, **friction}
        return self._with_key("friction", changed)

    def _with_key(self, key: str, value: Any) -> Setup:
        """Return the setup with another value of a key of the scenario."""
        other = Setup(self.robot, Scenario(**{**self.scenario.data(), key: value}), self.given)
        if key != "friction":  # its numbers are part of the description
            vars(other)["_descriptions"] = self._descriptions
        return other

    @cached_property
    def force_law(self) -> interfaces.ForceLaw | None:
        """The friction law that acts as forces, the same in every simulator; or None."""
        return None if isinstance(self._friction, Contact) else self._friction

    @cached_property
    def contact(self) -> Contact | None:
        """The contact specification for an engine's own contact solver; or None.

        It is the friction law, or the terrain beside a law that acts as forces.
        """
        given = (self._friction, self.terrain)
        return next((part for part in given if isinstance(part, Contact)), None)

    @cached_property
    def _friction(self) -> interfaces.ForceLaw | Contact | None:
        """Force law or contact of the scenario's friction law; None without a law."""
        spec = dict(self.scenario.friction)
        law = spec.pop("law", "none")
        if law == "none":
            return None
        laws = self.robot.friction_laws
        check_known("unknown friction law ", law, ["none", *laws])
        return build(laws[law], self, spec, "friction")


def find_robot(name: str, *recorded: str) -> Robot:
    """Return a robot by name, with hyphens or underscores, or by the path of its file.

    Args:
        name: of the robot, or path of the file.
        recorded: URDF and name of a recorded robot that is a file, which is then not opened.

    Raises:
        AccordError: if there is none of that name, its package cannot be imported, or its file
            cannot be read.
    """
    robot = load_robot(name, *recorded)
    if not isinstance(robot, Robot):
        entry = f"roboaccord.{GROUP}:{name.replace('-', '_')}"
        raise AccordError(f"entry point {entry} gives {type(robot).__name__}, not a Robot")
    return robot


@lru_cache(maxsize=256)  # a cross-check changes each parameter of a robot, of which some have 80
def _expanded(path: Path, arguments: tuple[tuple[str, str], ...], _changed: tuple[int, ...]) -> str:
    """Return the expanded URDF, from the cache until one of its files changes."""
    return expand_xacro(path, dict(arguments))
