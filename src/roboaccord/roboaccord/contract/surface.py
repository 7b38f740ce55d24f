"""Surfaces around a robot, to be drawn: ground, wall, terrain and solids."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from roboaccord.contract.contact import Index
from roboaccord.contract.state import Array

GROUND, WALL, TERRAIN = BACKDROPS = "ground", "wall", "terrain"


@dataclass(frozen=True, eq=False)
class Surface:
    """Hold a surface that stands still in the world.

    Args:
        name: `ground`, `wall`, `terrain`, or another for a convex solid that stands around.
        vertices: (v, 3) [m].
        faces: convex polygons as indices of vertices, counter-clockwise seen from outside.
        colour: red, green and blue (3,), each 0 to 1.
    """

    name: str
    vertices: Array
    faces: tuple[tuple[int, ...], ...]
    colour: Array

    @property
    def triangles(self) -> Index:
        """The faces as triangles (f, 3)."""
        fans = [(face[0], *pair) for face in self.faces for pair in pairwise(face[1:])]
        return np.array(fans, dtype=np.int64).reshape(-1, 3)
