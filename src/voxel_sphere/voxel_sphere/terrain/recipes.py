"""Recipes of generated volumes in `workspace.yaml`, and their closed forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from roboaccord.contract.errors import AccordError

from voxel_sphere.terrain.expressions import Array, expression
from voxel_sphere.terrain.sheets import Sheet
from voxel_sphere.terrain.surfaces import Distance, Surface, make_surface

Recipe = Mapping[str, Any]


def surface_of(recipe: Recipe, n: int, radius: float) -> Surface:
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


def sheet_of(recipe: Recipe, n: int, radius: float) -> Sheet:
    """Return the sheet of a recipe `xyz` (three expressions), with `s`, `t` and `thickness`.

    Raises:
        AccordError: if the recipe is not that, or cannot be made.
    """
    constants = {"n": float(n), "r": radius}
    try:
        texts, s, t = ([str(text) for text in recipe[key]] for key in ("xyz", "s", "t"))
        thickness = float(recipe["thickness"])
        if (len(texts), len(s), len(t)) != (3, 2, 2):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise AccordError(f"the recipe {dict(recipe)} makes no sheet") from None
    if not 1 <= thickness <= n:
        raise AccordError(f"thickness is {thickness:g}; it must be 1 to {n} voxels")
    parts = [expression(text, "st", constants) for text in texts]

    def xyz(s: Array, t: Array) -> tuple[Array, Array, Array]:
        x, y, z = (part(s, t) for part in parts)
        return x, y, z

    return Sheet(xyz, interval("s", s, constants), interval("t", t, constants), thickness)


def interval(
    name: str, texts: Sequence[str], constants: Mapping[str, float]
) -> tuple[float, float]:
    """Return the ends of a range, which are expressions of n, r and pi.

    Raises:
        AccordError: if they are not two different finite numbers.
    """
    first, last = (float(expression(text, "", constants)()) for text in texts)
    if not np.isfinite([first, last]).all() or first == last:
        raise AccordError(f"--{name} goes from {first:g} to {last:g}, and must be a range")
    return first, last


def distance_of(recipe: Recipe, kind: str, n: int, radius: float) -> Distance | None:
    """Return the signed distance to what a recipe makes of one kind; None if it says nothing.

    Raises:
        AccordError: if the recipe cannot be made.
    """
    if "xyz" in recipe:
        return sheet_of(recipe, n, radius).distance
    if not {"surface", "height"} & recipe.keys():
        return None
    surface = surface_of(recipe, n, radius)
    return surface.walls if kind == "walls" else surface.ground


def union(distances: Sequence[Distance | None]) -> Distance | None:
    """Return the signed distance to several volumes, None if that to one of them is not known."""
    known = [distance for distance in distances if distance is not None]
    if not known or len(known) < len(distances):
        return None

    def distance(x: Array, y: Array, z: Array) -> Array:
        return np.asarray(np.minimum.reduce([each(x, y, z) for each in known]))

    return distance
