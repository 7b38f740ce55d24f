"""The terrain of a scenario, read from slices in a folder or generated, and its closed mesh.

`make_scene` takes the keys of a scenario's `terrain` as arguments; another key is another argument
with a default. Terrains are kept in a cache. A cache needs keys that can be hashed, which a mapping
of parameters cannot, so a terrain to generate is described by a recipe, a JSON text.

SMOOTHING may be tuned, but the mesh stays within a tenth of a voxel of the surface
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

# voxels; standard deviation of the Gaussian that smooths slices before the mesh is made, for facets
# brake a ball. In a bowl its position after 4 s is wrong by 0.19 r if slices are smoothed by 1.5
# voxels, by 0.10 r with 2, and by 0.07 r with 2.5 (n = 100, DART; docs/voxel_sphere.md).
SMOOTHING = 2.5
# Terrains kept in memory: one of 200 voxels takes some hundred megabytes; a run uses one. By
# choice: more help only who goes back to an earlier one.
CACHE_SIZE = 4
# Largest relative difference between the ball's radii in slices and parameters: above that of a
# radius which is typed with four digits, and below the smallest errors of paths, 0.003 r
# (docs/voxel_rolling.md).
RADIUS_TOLERANCE = 1e-3
NO_PARAMETERS: Mapping[str, float] = MappingProxyType({})


def make_scene(
    setup: Setup, surface: str = "", parameters: Mapping[str, float] = NO_PARAMETERS,
    height: str = "", n: int = 100, size_workspace: float = SIZE_WORKSPACE, folder: str = "",
    walls: str = "", workspace: str = "",
) -> Scene:  # fmt: skip
    """Return the terrain of a scenario; the same keys return the same terrain, from a cache.

    Args:
        setup: robot and scenario.
        surface: a named surface, or the name of one in `folder`.
        parameters: parameters of a named surface; lengths in radii of the ball.
        height: an expression of x, y, n and r in voxels, instead of a named surface.
        n: voxels along an edge of the grid.
        size_workspace: n over the radius of the ball in voxels.
        folder: a `Bitmaps_n` folder, or a folder with one in it.
        walls, workspace: names in `folder`, as `accord voxel-sphere roll` takes them.

    Raises:
        AccordError: for keys that make no terrain, or a ball of another size than the robot's.
    """
    radius: float = setup.parameters.radius  # [m]
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


@lru_cache(maxsize=CACHE_SIZE)
def _generate(recipe: str, n: int, size_workspace: float, radius: float) -> Scene:
    """Return the terrain of a recipe, JSON with the keyword arguments of `surface_of`.

    Args:
        recipe: the JSON text.
        n: voxels along an edge of the grid.
        size_workspace: n over the radius of the ball in voxels.
        radius: radius of the ball [m].
    """
    check_size(n, "terrain.n is")
    if not 2.0 < size_workspace <= n:
        raise AccordError(f"terrain.size_workspace is {size_workspace:g}: from 2 to n")
    n, ball_radius = int(n), n / size_workspace  # [voxels]
    generated = surface_of(json.loads(recipe), n, ball_radius)
    volumes = {part.kind: part.volume for part in surface_parts(generated, n)}
    surface, walls = volumes["surface"], volumes.get("walls")
    return Scene(Terrain(n, ball_radius, radius / ball_radius, surface, walls, generated.name))


@lru_cache(maxsize=CACHE_SIZE)
def _read(folder: str, surface: str, walls: str, workspace: str, radius: float) -> Scene:
    """Return the terrain of slices in a folder; their ball must have the robot's radius [m]."""
    opened = open_workspace(Path(folder))
    names = {"surface": surface, "walls": walls, "workspace": workspace}
    scene = Scene.of(opened, **{key: name or None for key, name in names.items()})
    ball_radius = scene.terrain.radius * scene.voxel  # [m]
    if abs(ball_radius - radius) > RADIUS_TOLERANCE * radius:
        raise AccordError(
            f"{opened.path}: its ball has a radius of {ball_radius:.6g} m, the robot's has "
            f"{radius:g}; try --set parameters.radius={ball_radius:.6g}"
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
