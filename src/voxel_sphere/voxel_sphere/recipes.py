"""What a volume was generated from, as `workspace.yaml` keeps it, and the closed form behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roboaccord.errors import AccordError

from voxel_sphere.expressions import expression
from voxel_sphere.surfaces import Distance, Surface, make_surface
from voxel_sphere.workspace import Workspace


def surface_of(recipe: Mapping[str, Any], n: int, radius: float) -> Surface:
    """Return the graph of a recipe `surface` (named, with `parameters`) or `height` (expression).

    Args:
        recipe: as in `workspace.yaml`.
        n: size of the grid [voxels].
        radius: of the sphere [voxels].

    Raises:
        AccordError: if the recipe is neither, or cannot be made.
    """
    try:
        if "surface" in recipe:
            parameters = {key: float(v) for key, v in recipe.get("parameters", {}).items()}
            return make_surface(str(recipe["surface"]), n, radius, **parameters)
        text = str(recipe["height"])
    except (AttributeError, KeyError, TypeError, ValueError):
        raise AccordError(f"the recipe {dict(recipe)} makes no surface") from None
    return Surface(name="height", height=expression(text, "xy", {"n": n, "r": radius}))


def find_surface(workspace: Workspace, name: str) -> Surface | None:
    """Return the closed form behind a volume of a workspace, None where it has none.

    Raises:
        AccordError: if its recipe cannot be made.
    """
    recipe = workspace.settings.volumes.get(name, {}).get("recipe") or {}
    if not {"surface", "height"} & recipe.keys():
        return None
    return surface_of(recipe, workspace.n, workspace.n / workspace.size_workspace)


def exact_distance(workspace: Workspace, surface: str, walls: str | None) -> Distance | None:
    """Return the signed distance [voxels] to what was generated, None if that is not known.

    Raises:
        AccordError: if a recipe cannot be made.
    """
    ground = find_surface(workspace, surface)
    if ground is None:
        return None
    if walls is None:
        return ground.ground
    side = find_surface(workspace, walls)
    if side is None or side.walls is None:
        return None
    return Surface(**{**vars(ground), "walls": side.walls}).distance
