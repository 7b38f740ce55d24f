"""The heavy ball in a physics engine: DART takes the terrain as a mesh, MuJoCo as heights."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from roboaccord.contract import AccordError, AnyEngine, Array, Engine, HeightField, MeshFixture
from roboaccord.description import Faces
from roboaccord.engines import EngineModel, simulate_model, spec
from roboaccord.gazebo import cache
from roboaccord.scenario import Setup
from roboaccord.simulators import Simulator

from voxel_sphere.model.contact import GROUND, is_kinematic
from voxel_sphere.rolling.field import Scene
from voxel_sphere.terrain.mesh import SMOOTH, Mesh, height_field, terrain_mesh
from voxel_sphere.terrain.sdf_model import world_name, write_world
from voxel_sphere.terrain.slices import SOLID

# Voxels. Facets brake a ball: in a bowl it is 0.19 r off after 4 s where slices are smoothed by 1.5
# voxels, 0.10 r by 2, and 0.07 r by 2.5 (n = 100, DART; docs/voxel_sphere.md).
SMOOTHING = 2.5


def contact_mesh(scene: Scene) -> Mesh:
    """Return ground and walls as a closed, outward mesh [voxels].

    Raises:
        AccordError: if it is not closed.
    """
    mesh = terrain_mesh(scene.terrain, smoothing=SMOOTHING)
    if not mesh.watertight or mesh.volume <= 0:
        raise AccordError(f"the mesh of {scene.terrain.name} is not closed")
    return mesh


def mesh_fixture(scene: Scene) -> MeshFixture:
    """Return ground and walls as a mesh [m]."""
    mesh = contact_mesh(scene)
    return MeshFixture(name=GROUND, vertices=mesh.vertices * scene.voxel, faces=mesh.faces)


def height_fixture(scene: Scene, why: str) -> HeightField:
    """Return the ground as a height field [m], for the reason given.

    Raises:
        AccordError: where there are walls, or it is no graph.
    """
    if scene.terrain.walls is not None:
        raise AccordError(f"{why}, and {scene.terrain.name} has walls; try dart")
    try:
        return replace(height_field(scene.terrain), name=GROUND)
    except AccordError as error:
        raise AccordError(f"{why}: {error}; try dart") from None


def fixture_for(engine: Engine, scene: Scene) -> MeshFixture | HeightField:
    """Return ground and walls as an engine takes them: as a mesh, or as a height field.

    Raises:
        AccordError: where it takes a height field, and the terrain is none.
    """
    lacks = spec(engine).lacks.get("terrain_mesh")
    return mesh_fixture(scene) if lacks is None else height_fixture(scene, lacks)


def make_engine_simulator(setup: Setup, engine: AnyEngine) -> Simulator:
    """Make the heavy ball of an engine, on its terrain.

    Raises:
        AccordError: for the kinematic ball, and terrain that the engine does not take.
    """
    if is_kinematic(setup):
        raise AccordError(
            f"friction.law is rolling, the kinematic ball, and {engine.name} has forces: "
            "run the reference, or --set friction.law=contact with a controller of torques"
        )
    contact = setup.contact
    if contact is not None:
        contact = replace(contact, fixtures=(fixture_for(engine, setup.terrain),))
    return simulate_model(EngineModel.of(setup, contact=contact), engine)


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
