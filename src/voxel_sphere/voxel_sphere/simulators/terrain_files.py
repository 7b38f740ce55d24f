"""The terrain of a scenario as a world of Gazebo, kept in a cache folder, and to be drawn."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
from roboaccord.contract.state import Array
from roboaccord.description.solids import Faces
from roboaccord.gazebo.meshes import cache
from roboaccord.scenario.setup import Setup

from voxel_sphere.simulators.engines import contact_mesh
from voxel_sphere.simulators.scene import Scene
from voxel_sphere.terrain.sdf_model import world_name, write_world

FRICTION = 100.0  # of the terrain; Gazebo takes the smaller one, which is the ball's
CELLS = 40  # of what is drawn, along an edge
VERSION = 2  # of what is made; a new one makes all worlds anew


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
    """Return the ground and walls of a scenario, seen from above, as triangles.

    What is drawn is the height that each column is filled to, so a tunnel is drawn as its floor.
    """
    scene: Scene = setup.terrain
    heights = scene.terrain.surface.sum(axis=2) / 255.0
    if scene.terrain.walls is not None and heights.max() < scene.terrain.n:
        filled = scene.terrain.walls.sum(axis=2) / 255.0
        heights = np.maximum(heights, np.where(_standing(scene), filled, 0.0))
    n = scene.terrain.n
    at = np.unique(np.linspace(0, n - 1, min(CELLS, n - 1) + 1).astype(int))
    x, y = np.meshgrid(at + 0.5, at + 0.5, indexing="ij")
    vertices = np.stack([x, y, heights[np.ix_(at, at)]], axis=-1).reshape(-1, 3) * scene.voxel
    k = len(at)
    corner = (k * np.arange(k - 1)[:, None] + np.arange(k - 1)).ravel()
    faces = [(int(c), int(c + k), int(c + k + 1)) for c in corner]
    faces += [(int(c), int(c + k + 1), int(c + 1)) for c in corner]
    return vertices, tuple(faces)


def _standing(scene: Scene) -> npt.NDArray[np.bool_]:
    """Return which columns (n, n) have walls from the bottom on."""
    walls = scene.terrain.walls
    assert walls is not None
    return np.asarray(walls[:, :, 0] >= 128)
