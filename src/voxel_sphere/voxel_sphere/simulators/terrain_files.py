"""The terrain of a scenario as a world of Gazebo, kept in a cache folder, and to be drawn."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.solids import Faces
from roboaccord.gazebo.meshes import cache
from roboaccord.scenario.setup import Setup

from voxel_sphere.simulators.engines import contact_mesh
from voxel_sphere.simulators.scene import Scene
from voxel_sphere.terrain.mesh import SMOOTH, terrain_mesh
from voxel_sphere.terrain.sdf_model import world_name, write_world
from voxel_sphere.terrain.slices import SOLID

PLATE = 0.5  # radii of the ball: what is drawn of the solid below the ground
DRAWN = 1.0  # voxels that grey slices are smoothed by to be drawn
FRICTION = 100.0  # of the terrain; Gazebo takes the smaller one, which is the ball's
VERSION = 3  # of what is made; a new one makes all worlds anew


def make_world(setup: Setup) -> Path:
    """Return the file of the world of a scenario, made if it is not there.

    Its models are in ../models, and it is named after the terrain. Slices of a folder are read
    each time, because they may have changed.

    Raises:
        AccordError: if the terrain has no closed mesh, or the folder cannot be written.
    """
    scene: Scene = setup.terrain
    name = world_name(scene.terrain.name)
    key = [VERSION, setup.parameters.radius, dict(setup.scenario.terrain)]
    digest = hashlib.sha256(json.dumps(key, sort_keys=True, default=str).encode()).hexdigest()
    folder = cache("voxel_sphere") / digest[:12]
    world = folder / "worlds" / f"{name}.sdf"
    if not world.is_file() or setup.scenario.terrain.get("folder"):
        write_world(
            contact_mesh(scene), folder, name,
            voxel_size=scene.voxel, friction=FRICTION, replace=True,
        )  # fmt: skip
    return world


def draw_relief(setup: Setup) -> tuple[Array, Faces]:
    """Return the ground and walls of a scenario as a closed mesh, outward [m].

    What is drawn is what is seen from above, each column filled to its first gap: so a tunnel is
    drawn as its floor. Of the solid below the ground a plate is left.
    """
    scene: Scene = setup.terrain
    filled = np.minimum.accumulate(scene.terrain.solid, axis=2)
    full = (filled >= SOLID).all(axis=(0, 1))
    below = max(int(np.argmin(full)) - round(PLATE * scene.terrain.radius), 0)
    plate = replace(scene.terrain, surface=filled[:, :, below:], walls=None)
    mesh = terrain_mesh(plate, smoothing=DRAWN if scene.terrain.grey else SMOOTH)
    vertices = (mesh.vertices + np.array([0.0, 0.0, below])) * scene.voxel
    return vertices, tuple(map(tuple, mesh.faces.tolist()))
