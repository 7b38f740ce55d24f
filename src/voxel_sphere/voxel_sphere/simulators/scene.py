"""The terrain of a scenario, from slices of a folder or generated in memory, and its closed mesh.

Each argument of `make_scene` is a key of a scenario's `terrain`; others may be added with a
default. SMOOTHING may be tuned, but the mesh stays within a tenth of a voxel of the surface
(test_voxel_engines), so it must not rise to please one engine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from roboaccord.contract import AccordError
from roboaccord.scenario import Setup

from voxel_sphere.rolling.scene import Scene
from voxel_sphere.terrain.generate import surface_parts
from voxel_sphere.terrain.mesh import Mesh, terrain_mesh
from voxel_sphere.terrain.recipes import surface_of
from voxel_sphere.terrain.settings import SIZE_WORKSPACE
from voxel_sphere.terrain.workspace import Terrain, check_size, open_workspace

# Gaussian of the slices [voxels]. Facets brake a ball: in a bowl it is 0.19 r off after 4 s where
# slices are smoothed by 1.5 voxels, 0.10 r by 2, and 0.07 r by 2.5 (n = 100, DART;
# docs/voxel_sphere.md).
SMOOTHING = 2.5
CACHED = 4  # terrains kept in a process: one of 200 voxels takes some hundred megabytes
SAME_RADIUS = 1e-3  # relative difference up to which radii in slices and parameters are the same
NO_PARAMETERS: Mapping[str, float] = MappingProxyType({})


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
    """Return the terrain of a scenario, from a cache for keys that were asked for before.

    Args:
        setup: robot and scenario.
        surface: a named surface, or the name of one in `folder`.
        parameters: of a named surface; lengths in radii of the ball.
        height: an expression of x, y, n and r in voxels, instead of a named surface.
        n: size of the grid [voxels].
        size_workspace: n over the radius of the ball.
        folder: a `Bitmaps_n` folder, or a folder with one in it.
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


@lru_cache(maxsize=CACHED)
def _generate(recipe: str, n: int, size_workspace: float, radius: float) -> Scene:
    """Return a terrain that is generated from a recipe, as JSON."""
    check_size(n, "terrain.n is")
    if not 2.0 < size_workspace <= n:
        raise AccordError(f"terrain.size_workspace is {size_workspace:g}: from 2 to n")
    n, ball = int(n), n / size_workspace
    generated = surface_of(json.loads(recipe), n, ball)
    volumes = {part.kind: part.volume for part in surface_parts(generated, n)}
    surface, walls = volumes["surface"], volumes.get("walls")
    return Scene(Terrain(n, ball, radius / ball, surface, walls, generated.name))


@lru_cache(maxsize=CACHED)
def _read(folder: str, surface: str, walls: str, workspace: str, radius: float) -> Scene:
    """Return a terrain of slices."""
    opened = open_workspace(Path(folder))
    names = {"surface": surface, "walls": walls, "workspace": workspace}
    scene = Scene.of(opened, **{key: name or None for key, name in names.items()})
    ball = scene.terrain.radius * scene.voxel
    if abs(ball - radius) > SAME_RADIUS * radius:
        raise AccordError(
            f"{opened.path}: its ball has a radius of {ball:.6g} m, the robot's has {radius:g}; "
            f"try --set parameters.radius={ball:.6g}"
        )
    return scene


def contact_mesh(scene: Scene) -> Mesh:
    """Return ground and walls as a closed, outward mesh [voxels].

    Raises:
        AccordError: if it is not closed.
    """
    mesh = terrain_mesh(scene.terrain, smoothing=SMOOTHING)
    if not mesh.watertight or mesh.volume <= 0:
        raise AccordError(f"the mesh of {scene.terrain.name} is not closed")
    return mesh
