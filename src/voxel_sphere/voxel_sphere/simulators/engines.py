"""The heavy ball in a physics engine: DART takes the terrain as a mesh, MuJoCo as heights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from roboaccord.contract.contact import HeightField, MeshFixture
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import AnyEngine, Engine
from roboaccord.engines import spec
from roboaccord.engines.factory import simulate_model
from roboaccord.engines.model import EngineModel
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

from voxel_sphere.model.contact import GROUND, is_kinematic
from voxel_sphere.simulators.scene import Scene
from voxel_sphere.terrain.heights import height_field
from voxel_sphere.terrain.mesh import Mesh, terrain_mesh

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
        field = height_field(scene.terrain)
    except AccordError as error:
        raise AccordError(f"{why}: {error}; try dart") from None
    corner = 0.5 * field.spacing  # the first column's middle
    return HeightField(
        name=GROUND,
        heights=field.heights,
        spacing=field.spacing,
        position=np.array([corner, corner, 0.0]),
    )


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
    model = EngineModel.of(setup)
    if model.contact is not None:
        model = replace(
            model, contact=replace(model.contact, fixtures=(fixture_for(engine, setup.terrain),))
        )
    return simulate_model(model, engine)
