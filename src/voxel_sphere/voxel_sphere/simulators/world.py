"""The terrain of a scenario as a world for Gazebo, kept in a cache, and as a mesh for pictures.

A world is made once for each terrain. VERSION must rise whenever a world comes out differently, or
old files would still be used. PLATE_THICKNESS and GREY_SMOOTHING only shape pictures and may be
tuned.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from roboaccord import gazebo
from roboaccord.contract import Array
from roboaccord.description import Faces
from roboaccord.scenario import Setup

from voxel_sphere.rolling.scene import Scene
from voxel_sphere.simulators.scene import contact_mesh
from voxel_sphere.terrain.mesh import SMOOTH_SD, terrain_mesh
from voxel_sphere.terrain.sdf_model import world_name, write_world
from voxel_sphere.terrain.slices import SOLID

PLATE_THICKNESS = 0.5  # radii of the ball; drawn thickness of the solid below the ground, by eye
# voxels; standard deviation of the Gaussian that smooths grey slices for pictures: half of that for
# binary ones (SMOOTH_SD), as GREY_SD and BINARY_SD of rolling/distance.py
GREY_SMOOTHING = 1.0
# Friction coefficient of the terrain: so large that the ball's counts, for Gazebo takes the
# smaller.
FRICTION = 100.0
VERSION = 4  # version of the files; a new one makes all worlds anew


def make_world(setup: Setup) -> Path:
    """Return the world file of a scenario, and make it if it is missing.

    Its models are in ../models, and it is named after the terrain. A world from a folder of slices
    is made anew each time, because they may have changed.

    Raises:
        AccordError: if the terrain has no closed mesh, or the folder cannot be written.
    """
    scene: Scene = setup.terrain
    name = world_name(scene.terrain.name)
    key = [VERSION, setup.parameters.radius, dict(setup.scenario.terrain)]
    digest = hashlib.sha256(json.dumps(key, sort_keys=True, default=str).encode()).hexdigest()
    folder = gazebo.cache("voxel_sphere") / digest[:12]
    world = folder / "worlds" / f"{name}.sdf"
    if not world.is_file() or setup.scenario.terrain.get("folder"):
        write_world(contact_mesh(scene), folder, name, voxel_size=scene.voxel, friction=FRICTION)
    return world


def draw_relief(setup: Setup) -> tuple[Array, Faces]:
    """Return the ground and walls of a scenario as a closed mesh, outward [m].

    The picture shows the terrain from above: each column is filled to its first gap, so a tunnel is
    drawn as its floor. The solid below the ground is cut to a plate.
    """
    scene: Scene = setup.terrain
    # Each voxel as full as the emptiest one from it down.
    filled = np.minimum.accumulate(scene.terrain.solid, axis=2)
    is_full_layer = (filled >= SOLID).all(axis=(0, 1))
    lowest_ground = int(np.argmin(is_full_layer))  # first layer that is not full
    bottom = max(lowest_ground - round(PLATE_THICKNESS * scene.terrain.radius), 0)
    plate = replace(scene.terrain, surface=filled[:, :, bottom:], walls=None)
    mesh = terrain_mesh(plate, smoothing=GREY_SMOOTHING if scene.terrain.grey else SMOOTH_SD)
    vertices = (mesh.vertices + np.array([0.0, 0.0, bottom])) * scene.voxel
    return vertices, tuple(map(tuple, mesh.faces.tolist()))
