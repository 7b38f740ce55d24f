"""Recipes of volumes in `workspace.yaml`: named surfaces, heights and sheets that users write.

A recipe is a mapping that states from what a volume of voxels was made, so that its closed form is
known later. `surface_of` and `sheet_of` make the surface or sheet of a recipe, for
`accord voxel-sphere make` and for scenarios. The keys (surface, parameters, height, xyz, s, t,
thickness) are in users' files and stay. A new kind of volume is a function like `sheet_of` and a
branch in cli/make.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from roboaccord.contract import AccordError, Array

from voxel_sphere.terrain.expressions import expression
from voxel_sphere.terrain.sheets import Sheet
from voxel_sphere.terrain.surfaces import Surface, make_surface

# What a volume was made from, as it is written in `workspace.yaml`.
Recipe = Mapping[str, Any]


def surface_of(recipe: Recipe, n: int, radius: float) -> Surface:
    """Return the surface of a recipe with the key `surface` (a name) or `height` (an expression).

    Args:
        recipe: as in `workspace.yaml`; a named surface may have `parameters`.
        n: voxels along an edge of the grid.
        radius: radius of the sphere [voxels].

    Raises:
        AccordError: if the recipe is neither, or makes no surface.
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
        AccordError: if the recipe has not these keys, or makes no sheet.
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
    coordinates = [expression(text, "st", constants) for text in texts]

    def xyz(s: Array, t: Array) -> tuple[Array, Array, Array]:
        x, y, z = (coordinate(s, t) for coordinate in coordinates)
        return x, y, z

    return Sheet(xyz, interval("s", s, constants), interval("t", t, constants), thickness)


def interval(
    name: str, texts: Sequence[str], constants: Mapping[str, float]
) -> tuple[float, float]:
    """Return the ends of a range, given as expressions of n, r and pi.

    Raises:
        AccordError: if they are not two different finite numbers.
    """
    first, last = (float(expression(text, "", constants)()) for text in texts)
    if not np.isfinite([first, last]).all() or first == last:
        raise AccordError(f"--{name} goes from {first:g} to {last:g}, and must be a range")
    return first, last
