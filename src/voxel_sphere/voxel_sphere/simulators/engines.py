"""The heavy ball in physics engines, with its terrain as a mesh or as heights.

An engine that takes meshes, such as DART, gets ground and walls as one closed mesh. One that does
not, such as MuJoCo, gets the height of each column, if the ground is a graph. Fields and voxels
measure lengths in voxels, engines in metres, both from the corner of the grid. test_voxel_engines
compares engines with the reference.
"""

from __future__ import annotations

from dataclasses import replace

from roboaccord import engines
from roboaccord.contract import AccordError, AnyEngine, Engine, HeightField, MeshFixture
from roboaccord.scenario import Setup
from roboaccord.simulators import Simulator

from voxel_sphere.model import GROUND, is_kinematic
from voxel_sphere.rolling.scene import Scene
from voxel_sphere.simulators.scene import contact_mesh
from voxel_sphere.terrain.mesh import height_field


def mesh_fixture(scene: Scene) -> MeshFixture:
    """Return ground and walls as a mesh [m]."""
    mesh = contact_mesh(scene)
    return MeshFixture(name=GROUND, vertices=mesh.vertices * scene.voxel, faces=mesh.faces)


def fixture_for(engine: Engine, scene: Scene) -> MeshFixture | HeightField:
    """Return ground and walls in the form that an engine takes: a mesh, or heights [m].

    Raises:
        AccordError: if it takes heights, and there are walls or the ground is no graph.
    """
    # What an engine lacks is listed with the message that says so.
    no_mesh = engines.spec(engine).lacks.get("terrain_mesh")
    if no_mesh is None:
        return mesh_fixture(scene)
    if scene.terrain.walls is not None:
        raise AccordError(f"{no_mesh}, and {scene.terrain.name} has walls; try dart")
    try:
        return replace(height_field(scene.terrain), name=GROUND)
    except AccordError as error:
        raise AccordError(f"{no_mesh}: {error}; try dart") from None


def refuse_kinematic(setup: Setup, engine: str) -> None:
    """Refuse the kinematic ball, which no engine has.

    Raises:
        AccordError: for a kinematic ball; it names what can be run instead.
    """
    if is_kinematic(setup):
        raise AccordError(
            f"friction.law is rolling, the kinematic ball, and {engine} has forces: "
            "run the reference, or --set friction.law=contact with a controller of torques"
        )


def make_engine_simulator(setup: Setup, engine: AnyEngine) -> Simulator:
    """Make the heavy ball of an engine, on its terrain.

    Raises:
        AccordError: for the kinematic ball, or a terrain that the engine does not take.
    """
    refuse_kinematic(setup, engine.name)
    assert setup.contact is not None  # or it was refused
    contact = replace(setup.contact, fixtures=(fixture_for(engine, setup.terrain),))
    return engines.simulate_model(engines.EngineModel.of(setup, contact=contact), engine)
