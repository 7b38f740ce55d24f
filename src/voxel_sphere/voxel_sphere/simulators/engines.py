"""The terrain of a scenario, and the heavy ball on it: DART takes a mesh, MuJoCo heights.

SMOOTHING, measured (docs/voxel_sphere.md), may be tuned, PLATE and DRAWN, which only shape
pictures, too. A key of a scenario's `terrain` is an argument of `make_scene`, to which others may
be added with a default. VERSION must rise whenever a world comes out differently, or old files are
used on. The mesh stays within a tenth of a voxel (test_voxel_engines); do not smooth further to
please one engine.

A terrain is slices of a folder, or a surface that is generated in memory. Fields and voxels count
in voxels, engines and ROS in metres; both from the corner of the grid.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
from roboaccord import engines, gazebo
from roboaccord.contract import AccordError, AnyEngine, Array, Engine, HeightField, MeshFixture
from roboaccord.description import Faces
from roboaccord.scenario import Setup
from roboaccord.simulators import Simulator

from voxel_sphere.model import GROUND, is_kinematic
from voxel_sphere.rolling.scene import Scene
from voxel_sphere.terrain.generate import surface_parts
from voxel_sphere.terrain.mesh import SMOOTH, Mesh, height_field, terrain_mesh
from voxel_sphere.terrain.recipes import surface_of
from voxel_sphere.terrain.sdf_model import world_name, write_world
from voxel_sphere.terrain.slices import SIZE_WORKSPACE, SOLID
from voxel_sphere.terrain.workspace import Terrain, check_size, open_workspace

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


def fixture_for(engine: Engine, scene: Scene) -> MeshFixture | HeightField:
    """Return ground and walls as an engine takes them: as a mesh, or the ground as heights [m].

    Raises:
        AccordError: where it takes heights, and there are walls or the ground is no graph.
    """
    why = engines.spec(engine).lacks.get("terrain_mesh")
    if why is None:
        return mesh_fixture(scene)
    if scene.terrain.walls is not None:
        raise AccordError(f"{why}, and {scene.terrain.name} has walls; try dart")
    try:
        return replace(height_field(scene.terrain), name=GROUND)
    except AccordError as error:
        raise AccordError(f"{why}: {error}; try dart") from None


def refuse_kinematic(setup: Setup, engine: str) -> None:
    """Refuse the kinematic ball in an engine.

    Raises:
        AccordError: with what else can be run.
    """
    if is_kinematic(setup):
        raise AccordError(
            f"friction.law is rolling, the kinematic ball, and {engine} has forces: "
            "run the reference, or --set friction.law=contact with a controller of torques"
        )


def make_engine_simulator(setup: Setup, engine: AnyEngine) -> Simulator:
    """Make the heavy ball of an engine, on its terrain.

    Raises:
        AccordError: for the kinematic ball, and terrain that the engine does not take.
    """
    refuse_kinematic(setup, engine.name)
    contact = setup.contact
    if contact is not None:
        contact = replace(contact, fixtures=(fixture_for(engine, setup.terrain),))
    return engines.simulate_model(engines.EngineModel.of(setup, contact=contact), engine)


PLATE = 0.5  # radii of the ball: what is drawn of the solid below the ground
DRAWN = 1.0  # voxels that grey slices are smoothed by to be drawn
FRICTION = 100.0  # of the terrain; Gazebo takes the smaller one, which is the ball's
VERSION = 4  # of what is made; a new one regenerates all worlds


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
    folder = gazebo.cache("voxel_sphere") / digest[:12]
    world = folder / "worlds" / f"{name}.sdf"
    if not world.is_file() or setup.scenario.terrain.get("folder"):
        write_world(contact_mesh(scene), folder, name, voxel_size=scene.voxel, friction=FRICTION)
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


NO_PARAMETERS: Mapping[str, float] = MappingProxyType({})
KEPT = 4  # terrains of a process: some hundred megabytes each, of 200 voxels
ALIKE = 1e-3  # relative, radii in slices and in parameters.yaml that are the same


def make_scene(
    setup: Setup,
    surface: str = "",
    parameters: Mapping[str, float] = NO_PARAMETERS,
    height: str = "",
    n: int = 100,
    size_workspace: float = SIZE_WORKSPACE,
    folder: str = "",
    walls: str = "",
    workspace: str = "",
) -> Scene:
    """Return the terrain of a scenario; the same one within a process for the same keys.

    Args:
        setup: robot and scenario.
        surface: a named surface, or the name of one in `folder`.
        parameters: of a named surface; lengths in radii of the ball.
        height: an expression of x, y, n and r in voxels, instead of a named surface.
        n: size of the grid [voxels].
        size_workspace: n over the radius of the ball.
        folder: a `Bitmaps_n` folder, or one that holds one.
        walls, workspace: names in `folder`, as `accord voxel-sphere roll` takes them.

    Raises:
        AccordError: for keys that make no terrain, or a ball of another size than the robot's.
    """
    radius: float = setup.parameters.radius
    if folder:
        if height or parameters:
            raise AccordError("terrain: a folder has its slices: leave out height and parameters")
        return _read(folder, surface, walls, workspace, radius)
    if walls or workspace:
        raise AccordError("terrain: walls and workspace are names in a folder, which is missing")
    if bool(surface) == bool(height):
        raise AccordError("terrain: name one of surface, height and folder")
    named = {"surface": surface, "parameters": dict(parameters)}
    recipe = json.dumps(named if surface else {"height": height}, sort_keys=True)
    return _generate(recipe, n, size_workspace, radius)


@lru_cache(maxsize=KEPT)
def _generate(recipe: str, n: int, size_workspace: float, radius: float) -> Scene:
    """Return a terrain that is generated from a recipe, as JSON."""
    check_size(n, "terrain.n is")
    if not 2.0 < size_workspace <= n:
        raise AccordError(f"terrain.size_workspace is {size_workspace:g}: from 2 to n")
    n, ball = int(n), n / size_workspace
    generated = surface_of(json.loads(recipe), n, ball)
    parts = {part.kind: part.volume for part in surface_parts(generated, n)}
    surface, walls = parts["surface"], parts.get("walls")
    return Scene(Terrain(n, ball, radius / ball, surface, walls, generated.name))


@lru_cache(maxsize=KEPT)
def _read(folder: str, surface: str, walls: str, workspace: str, radius: float) -> Scene:
    """Return a terrain of slices."""
    opened = open_workspace(Path(folder))
    names = {"surface": surface, "walls": walls, "workspace": workspace}
    scene = Scene.of(opened, **{key: name or None for key, name in names.items()})
    ball = scene.terrain.radius * scene.voxel
    if abs(ball - radius) > ALIKE * radius:
        raise AccordError(
            f"{opened.path}: its ball has a radius of {ball:.6g} m, the robot's has {radius:g}; "
            f"try --set parameters.radius={ball:.6g}"
        )
    return scene
