"""Robots: the class by which a package brings a mechanism into the workspace."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from roboaccord.contract.errors import AccordError, did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.random import Generator

    from roboaccord.contract.contact import Contact, ContactPoint
    from roboaccord.contract.interfaces import Controller, ForceLaw, Odometry, Simulator
    from roboaccord.contract.state import Array, RobotState
    from roboaccord.contract.trajectory import Trajectory
    from roboaccord.description.solids import Faces
    from roboaccord.scenario.perturbation import Perturbations
    from roboaccord.scenario.setup import Setup

GROUP = "roboaccord.robots"
NOTHING: Mapping[str, Any] = MappingProxyType({})


class Robot:
    """Base class of robots: everything the core needs, and all it sees of a package.

    A package derives from it, sets `name`, `summary` and `parameters`, writes `joints`,
    `effort_limits` and `reference`, and overrides what its mechanism needs beyond that.

    Attributes:
        name: of the robot; topics start with it.
        package: ROS package with `urdf/NAME.urdf.xacro`, `config/parameters.yaml`, `scenarios/`;
            that of the robot's name if empty.
        summary: one line.
        parameters: frozen dataclass of the physical parameters.
        controllers: by name; a controller is made with `(setup, **parameters)`.
        friction_laws: by name; a force law is made with `(setup, **parameters)`.
        contacts: by name, beside the laws: what an engine's own contact solver is to deal with.
        effort_topics: teleoperation: topics `/R/NAME` with a number, and the joint whose effort
            it is; they make `Target.effort`.
        velocity_topic: teleoperation: the topic `/R/NAME` with velocities of some of the joints,
            `joint_velocity_command`, or ""; it makes `Target.velocity`.
        switches: names of what commands can switch, a magnet say, with the state to start from.
        cli: `module:attribute` of the Typer group that `accord` adds, or "".
    """

    name: str
    package: str = ""
    summary: str
    parameters: type[Any]
    controllers: Mapping[str, Callable[..., Controller]] = NOTHING
    friction_laws: Mapping[str, Callable[..., ForceLaw]] = NOTHING
    contacts: Mapping[str, Callable[..., Contact]] = NOTHING
    effort_topics: Mapping[str, str] = NOTHING
    velocity_topic: str = ""
    switches: Mapping[str, bool] = NOTHING
    cli: str = ""

    def __init__(self) -> None:
        self.package = self.package or self.name

    def joints(self, setup: Setup) -> tuple[str, ...]:
        """Return the names of the n joints of a setup, in the order of every array."""
        raise NotImplementedError

    def effort_limits(self, setup: Setup) -> Array:
        """Return what the efforts are clipped to (n,) [N m or N]."""
        raise NotImplementedError

    def reference(self, setup: Setup) -> Simulator:
        """Make the analytical simulator."""
        raise NotImplementedError

    def engine(self, setup: Setup, engine: str, perturbations: Perturbations) -> Simulator | None:
        """Make the simulator of an engine, for a robot that is more than one model.

        None, the default, takes the description for all there is.
        """
        return None

    def initial(self, setup: Setup, state: RobotState) -> RobotState:
        """Complete the initial state that the scenario gives; by default it stays as given."""
        return state

    def terrain(self, setup: Setup) -> Any:
        """Make what stands around the robot, with the scenario's keys `terrain` as arguments.

        None, the default, is level ground, and knows no keys.
        """
        return None

    def relief(self, setup: Setup) -> tuple[Array, Faces] | None:
        """Return vertices (v, 3) [m] and faces of the terrain, to be drawn; None for none."""
        return None

    def surroundings(self, setup: Setup) -> Sequence[tuple[Array, Faces]]:
        """Return the convex solids that stand around on level ground, to be drawn.

        Each is given by its vertices (v, 3) [m] and faces; by default there are none.
        """
        return ()

    def world(self, setup: Setup) -> Path | None:
        """Make the world of a setup for Gazebo, with its terrain, and return its file.

        Models are in ../models of that. None, the default, takes the scenario's `world`.
        """
        return None

    def contact_points(self, setup: Setup) -> Callable[[RobotState], Sequence[ContactPoint]] | None:
        """Make what finds contacts by geometry alone, where a simulator tells of none.

        None, the default: contacts that a simulator does not tell are not known.
        """
        return None

    def odometry(self, setup: Setup) -> Odometry | None:
        """Make what places `base_link` where the simulated one stays, a ball in a bearing say.

        None, the default: the base really moves.
        """
        return None

    def draw_state(
        self, setup: Setup, rng: Generator, index: int
    ) -> tuple[RobotState, Array] | None:
        """Draw a random state and efforts (n,) [N m] for the cross-check.

        Args:
            setup: robot and scenario.
            rng: to draw from.
            index: of the draw, counted from 0.

        None, the default, has every joint drawn within its limits, and the base where it can go.
        """
        return None

    def metrics(self, setup: Setup, trajectory: Trajectory) -> Mapping[str, float]:
        """Return figures of a trajectory beside the general ones; by default there are none."""
        return {}


def robot_names() -> list[str]:
    """Return the names of the robots that are installed."""
    return sorted(_entries())


def find_robot(name: str) -> Robot:
    """Return a robot by name; a hyphen stands for an underscore.

    Raises:
        AccordError: if there is none of that name, or its package cannot be imported.
    """
    key = name.replace("-", "_")
    entry = _entries().get(key)
    if entry is None:
        raise AccordError(f"unknown robot {name}{did_you_mean(key, robot_names())}")
    try:
        robot = entry.load()
    except AccordError:
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0]
        raise AccordError(
            f"robot {key} cannot be loaded: {type(error).__name__}: {reason}"
        ) from error
    if not isinstance(robot, Robot):
        raise AccordError(f"entry point {GROUP}:{key} gives {type(robot).__name__}, not a Robot")
    return robot


@cache
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def parameter_names(robot: Robot) -> list[str]:
    """Return the names of a robot's physical parameters."""
    return [f.name for f in dataclasses.fields(robot.parameters)]
