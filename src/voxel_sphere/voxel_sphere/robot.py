"""Registration of the voxel sphere in the workspace, and the figures of its runs.

The workspace finds ROBOT by the entry point in setup.cfg. VoxelSphere names the controllers,
contact laws and commands of the ball, and makes its simulators. By its URDF the ball has no joints,
and its base is free. docs/voxel_sphere.md describes the source (the description of a MATLAB
program) and what it leaves open.

Controllers, laws of contact and figures may be added; names that exist stay, for they are in
scenarios and in `--json`. Kinds of terrain are added in terrain/surfaces.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from roboaccord.contract import AccordError, AnyEngine, Array, Event, RobotState, Tally, Trajectory
from roboaccord.description import Faces
from roboaccord.numerics import quaternion_matrix
from roboaccord.scenario import GazeboHooks, Robot, Setup, commands_of
from roboaccord.simulators import Simulator

from voxel_sphere.controllers import DriveController, RollController
from voxel_sphere.model import VoxelSphereParameters, is_kinematic, rolling, touching
from voxel_sphere.rolling.scene import Scene
from voxel_sphere.simulators import engines, world
from voxel_sphere.simulators.reference import HeavyReference, RollingReference
from voxel_sphere.simulators.scene import make_scene


class BallFigures(Tally):
    """Path length of the centre [m], and its displacement from the start [m]."""

    def __init__(self) -> None:
        self._length = 0.0  # length of the path so far [m]
        self._start: Array | None = None  # first position (3,) [m]
        self._displacement = np.zeros(3)  # of the last position from the first [m]

    def add(self, part: Trajectory) -> None:
        """Add the next part of the motion to the figures."""
        position = part.position
        if self._start is None:
            self._start = position[0]
        self._length += float(np.linalg.norm(np.diff(position, axis=0), axis=1).sum())
        self._displacement = position[-1] - self._start

    def figures(self, events: Sequence[Event]) -> dict[str, float]:
        """Return the length of the path and the displacement, by name [m]."""
        x, y, z = self._displacement.tolist()
        return {"path_length": self._length, "displacement_x": x, "displacement_y": y, "rise": z}


def gazebo_world(setup: Setup) -> Path:
    """Return the world of the terrain, which the heavy ball alone can be in."""
    engines.refuse_kinematic(setup, "gz")
    return world.make_world(setup)


class VoxelSphere(Robot):
    """A ball on terrain given as voxel slices: kinematic, or heavy."""

    name = "voxel_sphere"
    summary = "a ball that rolls over terrain given as voxel slices"
    parameters = VoxelSphereParameters
    controllers = {"roll": RollController, "drive": DriveController}
    friction_laws = {"rolling": rolling, "contact": touching}
    gazebo = GazeboHooks(world=gazebo_world)
    cli = commands_of("voxel_sphere", {"make": "make", "list": "list", "roll": "roll"})
    terrain = staticmethod(make_scene)

    def joints(self, setup: Setup) -> tuple[str, ...]:
        """Return no joints: the ball is one body.

        Raises:
            AccordError: for a base other than free.
        """
        if setup.scenario.base != "free":
            raise AccordError(f"base is {setup.scenario.base}; the voxel sphere takes free")
        return ()

    def effort_limits(self, setup: Setup) -> Array:
        return np.zeros(0)

    def reference(self, setup: Setup) -> Simulator:
        """Make the analytical simulator of the kinematic ball, or of the heavy one."""
        return RollingReference(setup) if is_kinematic(setup) else HeavyReference(setup)

    def engine(self, setup: Setup, engine: AnyEngine) -> Simulator:
        return engines.make_engine_simulator(setup, engine)

    def surroundings(self, setup: Setup) -> Mapping[str, tuple[Array, Faces]]:
        return {"terrain": world.draw_relief(setup)}

    def initial(self, setup: Setup, state: RobotState) -> RobotState:
        """Return the ball lowered onto the ground at its x and y, rolling with its spin.

        If there are several floors at x and y, a height z other than 0 selects one.

        Raises:
            AccordError: for a linear velocity, which follows from the angular one.
        """
        if np.any(state.twist[:3]):
            raise AccordError("initial.twist: give the angular velocity; the linear one follows")
        scene: Scene = setup.terrain
        field, _ = scene.fields
        x, y, z = state.position / scene.voxel
        centre = field.place(x, y, z if z else None)
        rotation = quaternion_matrix(state.orientation)
        spin = rotation @ state.twist[3:]
        speed = setup.parameters.radius * np.cross(spin, field.normal(centre))
        twist = np.concatenate([speed @ rotation, state.twist[3:]])
        return replace(state, position=centre * scene.voxel, twist=twist)

    def tally(self, setup: Setup, ticks: int) -> Tally:
        return BallFigures()


ROBOT = VoxelSphere()
