"""The terrain of a scenario as a world of Gazebo, kept in a cache folder."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from roboaccord.assembly import Setup

from voxel_sphere.engines import contact_mesh
from voxel_sphere.scene import Scene
from voxel_sphere.sdf_model import world_name, write_world

FRICTION = 100.0  # of the terrain; Gazebo takes the smaller one, which is the ball's
VERSION = 1  # of what is made; a new one makes all worlds anew


def cache() -> Path:
    """Return where worlds are kept."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "roboaccord" / "voxel_sphere"


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
    folder = cache() / digest[:12]
    world = folder / "worlds" / f"{name}.sdf"
    if not world.is_file() or setup.scenario.terrain.get("folder"):
        write_world(
            contact_mesh(scene), folder, name,
            voxel_size=scene.voxel, friction=FRICTION, replace=True,
        )  # fmt: skip
    return world
