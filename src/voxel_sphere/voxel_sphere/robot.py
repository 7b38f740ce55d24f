"""The voxel sphere's registration: the one object that brings the package into the workspace."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from roboaccord.assembly import Setup
from roboaccord.errors import AccordError
from roboaccord.interfaces import Simulator
from roboaccord.robot import Robot
from roboaccord.rotations import quaternion_matrix
from roboaccord.state import Array, RobotState

from voxel_sphere.contact import is_kinematic, rolling, touching
from voxel_sphere.controllers import DriveController, RollController
from voxel_sphere.engines import make_engine_simulator
from voxel_sphere.heavy_reference import HeavyReference
from voxel_sphere.metrics import metrics
from voxel_sphere.parameters import VoxelSphereParameters
from voxel_sphere.reference import RollingReference
from voxel_sphere.scene import Scene, make_scene
from voxel_sphere.terrain_files import draw_relief, make_world


def joints(setup: Setup) -> tuple[str, ...]:
    """Return no joints: the ball is one body."""
    if setup.scenario.base != "free":
        raise AccordError(f"base is {setup.scenario.base}; the voxel sphere takes free")
    return ()


def effort_limits(setup: Setup) -> Array:
    """Return no limits: there are no joints."""
    return np.zeros(len(setup.joints))


def make_reference(setup: Setup) -> Simulator:
    """Make the analytical simulator of the kinematic ball, or of the heavy one."""
    return RollingReference(setup) if is_kinematic(setup) else HeavyReference(setup)


def lower(setup: Setup, state: RobotState) -> RobotState:
    """Lower the ball onto the ground at its x and y, rolling with the spin that is given.

    A height z other than 0 says on which floor, where there are several.
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


ROBOT = Robot(
    name="voxel_sphere",
    package="voxel_sphere",
    summary="a ball that rolls over terrain given as voxel slices",
    parameters=VoxelSphereParameters,
    joints=joints,
    effort_limits=effort_limits,
    reference=make_reference,
    controllers={"roll": RollController, "drive": DriveController},
    contacts={"rolling": rolling, "contact": touching},
    terrain=make_scene,
    relief=draw_relief,
    world=make_world,
    engine=make_engine_simulator,
    initial=lower,
    metrics=metrics,
    cli="voxel_sphere.cli:app",
)
