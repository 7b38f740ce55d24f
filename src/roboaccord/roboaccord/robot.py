"""Robots: the one object by which a package brings a mechanism into the workspace."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from roboaccord.errors import AccordError
from roboaccord.scenario import did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.random import Generator

    from roboaccord.assembly import Setup
    from roboaccord.contact import Contact, ContactPoint
    from roboaccord.interfaces import Controller, ForceLaw, Odometry, Simulator
    from roboaccord.perturbation import Perturbations
    from roboaccord.state import Array, RobotState
    from roboaccord.trajectory import Trajectory
    from roboaccord.view.solids import Faces

GROUP = "roboaccord.robots"


@dataclass(frozen=True)
class Robot:
    """Register a mechanism: everything the core needs, and the only thing it sees of a package.

    Args:
        name: of the robot; topics start with it.
        package: ROS package with `urdf/NAME.urdf.xacro`, `config/parameters.yaml`, `scenarios/`.
        summary: one line.
        parameters: frozen dataclass of the physical parameters.
        joints: gives the joint names from the setup.
        effort_limits: gives what the efforts are clipped to (n,) [N m or N] from the setup.
        reference: makes the analytical simulator.
        controllers: by name; a controller is made with `(setup, **parameters)`.
        friction_laws: by name; a force law is made with `(setup, **parameters)`.
        contacts: by name, beside the laws: what an engine's own contact solver is to deal with.
        contact_points: makes what finds contacts by geometry alone, without forces, where a
            simulator, Gazebo, tells of none.
        terrain: makes what stands around the robot from `(setup, **terrain)`, the scenario's keys;
            None for a robot whose scenarios have none.
        relief: gives vertices (v, 3) [m] and faces of the terrain of a setup, to be drawn.
        surroundings: gives the convex solids that stand around on level ground, each as vertices
            (v, 3) [m] and faces, to be drawn beside the robot.
        world: makes the world of a setup for Gazebo, with its terrain in it, and gives its file;
            models are in ../models of that. None for the scenario's `world`.
        effort_topics: teleoperation: topics `/R/NAME` with a number, and the joint whose effort
            it is; they make `Target.effort`.
        velocity_topic: teleoperation: the topic `/R/NAME` with velocities of some of the joints,
            `joint_velocity_command`, or ""; it makes `Target.velocity`.
        switches: names of what commands can switch, a magnet say, with the state to start from.
        engine: makes the simulator of an engine from `(setup, engine, perturbations)`, for a robot
            that is more than one model; None where the description says it all.
        draw_state: gives a random state and efforts (n,) [N m] from `(setup, rng, index)` for the
            cross-check, which counts the index up from 0; None draws every joint and the base.
        odometry: makes what gives `base_link` a place where the simulated one stays, a ball in a
            bearing say, or None for a setup whose base really moves.
        initial: completes the initial state that the scenario gives; None keeps it.
        metrics: figures of a trajectory beside the general ones.
        cli: `module:attribute` of the Typer group that `accord` adds, or "".
    """

    name: str
    package: str
    summary: str
    parameters: type[Any]
    joints: Callable[[Setup], tuple[str, ...]]
    effort_limits: Callable[[Setup], Array]
    reference: Callable[[Setup], Simulator]
    controllers: Mapping[str, Callable[..., Controller]]
    friction_laws: Mapping[str, Callable[..., ForceLaw]] = field(default_factory=dict)
    contacts: Mapping[str, Callable[..., Contact]] = field(default_factory=dict)
    contact_points: Callable[[Setup], Callable[[RobotState], Sequence[ContactPoint]]] | None = None
    terrain: Callable[..., Any] | None = None
    relief: Callable[[Setup], tuple[Array, Faces]] | None = None
    surroundings: Callable[[Setup], Sequence[tuple[Array, Faces]]] | None = None
    world: Callable[[Setup], Path] | None = None
    effort_topics: Mapping[str, str] = field(default_factory=dict)
    velocity_topic: str = ""
    switches: Mapping[str, bool] = field(default_factory=dict)
    engine: Callable[[Setup, str, Perturbations], Simulator] | None = None
    draw_state: Callable[[Setup, Generator, int], tuple[RobotState, Array]] | None = None
    odometry: Callable[[Setup], Odometry | None] | None = None
    initial: Callable[[Setup, RobotState], RobotState] | None = None
    metrics: Callable[[Setup, Trajectory], Mapping[str, float]] | None = None
    cli: str = ""


def robot_names() -> list[str]:
    """Return the names of the robots that are installed."""
    return sorted(_entries())


def find_robot(name: str) -> Robot:
    """Return a robot by name; a hyphen stands for an underscore.

    Raises:
        AccordError: if there is none of that name.
    """
    key = name.replace("-", "_")
    entry = _entries().get(key)
    if entry is None:
        raise AccordError(f"unknown robot {name}{did_you_mean(key, robot_names())}")
    robot = entry.load()
    if not isinstance(robot, Robot):
        raise AccordError(f"entry point {GROUP}:{key} gives {type(robot).__name__}, not a Robot")
    return robot


@cache
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def parameter_names(robot: Robot) -> list[str]:
    """Return the names of a robot's physical parameters."""
    return [f.name for f in dataclasses.fields(robot.parameters)]
