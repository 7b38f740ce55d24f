"""The terrain of a scenario: slices of a folder, or a surface that is generated in memory.

Fields and voxels count in voxels, engines and ROS in metres; both from the corner of the grid.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from roboaccord.contract import AccordError
from roboaccord.scenario import Setup

from voxel_sphere.rolling.field import Scene
from voxel_sphere.terrain.generate import surface_parts
from voxel_sphere.terrain.recipes import surface_of
from voxel_sphere.terrain.settings import SIZE_WORKSPACE
from voxel_sphere.terrain.workspace import LARGEST, SMALLEST, Terrain, open_workspace

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
    recipe: dict[str, Any] = {"height": height}
    if surface:
        recipe = {"surface": surface, "parameters": tuple(sorted(parameters.items()))}
    return _generate(tuple(recipe.items()), n, size_workspace, radius)


@lru_cache(maxsize=KEPT)
def _generate(
    items: tuple[tuple[str, Any], ...], n: int, size_workspace: float, radius: float
) -> Scene:
    """Return a terrain that is generated from the items of a recipe."""
    if n != int(n) or not SMALLEST <= n <= LARGEST:
        raise AccordError(f"terrain.n is {n:g}, and must be from {SMALLEST} to {LARGEST}")
    if not 2.0 < size_workspace <= n:
        raise AccordError(f"terrain.size_workspace is {size_workspace:g}: from 2 to n")
    recipe, n, ball = dict(items), int(n), n / size_workspace
    if "parameters" in recipe:
        recipe["parameters"] = dict(recipe["parameters"])
    made = surface_of(recipe, n, ball)
    parts = {part.kind: part.volume for part in surface_parts(made, n)}
    return Scene(
        Terrain(
            n=n, radius=ball, voxel_size=radius / ball, surface=parts["surface"],
            walls=parts.get("walls"), name=made.name, exact=made.distance,
        )
    )  # fmt: skip


@lru_cache(maxsize=KEPT)
def _read(folder: str, surface: str, walls: str, workspace: str, radius: float) -> Scene:
    """Return a terrain of slices."""
    opened = open_workspace(Path(folder))
    scene = Scene.of(
        opened, surface=surface or None, walls=walls or None, workspace=workspace or None
    )
    found = scene.terrain.radius * scene.voxel
    if abs(found - radius) > ALIKE * radius:
        raise AccordError(
            f"{opened.path}: its ball has a radius of {found:.6g} m, the robot's has {radius:g}; "
            f"try --set parameters.radius={found:.6g}"
        )
    return scene
