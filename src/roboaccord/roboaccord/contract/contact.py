"""Contact specification for engines: colliding links, fixtures, friction, restitution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from roboaccord.contract.state import ORIGIN, Array

Index = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Fixture:
    """Hold a fixed box, such as the ground.

    Args:
        name: of it, beside the links' names.
        size: along x, y and z (3,) [m].
        position: of its centre (3,) [m].
    """

    name: str
    size: Array
    position: Array


@dataclass(frozen=True, kw_only=True)
class MeshFixture:
    """Hold a fixed closed mesh.

    DART takes any, MuJoCo convex ones alone: it collides with the convex hull of a mesh.

    Args:
        name: of it, beside the links' names.
        vertices: in its own frame (m, 3) [m].
        faces: indices of the vertices of triangles (k, 3), counterclockwise seen from outside.
        position: of its frame (3,) [m].
        convex: whether it is its own convex hull.
    """

    name: str
    vertices: Array
    faces: Index
    position: Array = field(default_factory=lambda: ORIGIN)
    convex: bool = False


@dataclass(frozen=True, kw_only=True)
class HeightField:
    """Hold a height field on a regular grid; for MuJoCo, not for DART.

    Args:
        name: of it, beside the links' names.
        heights: at the points of the grid, indexed [x, y], (rows, columns) [m].
        spacing: of the points [m].
        position: of the point [0, 0], at the height 0 (3,) [m].
    """

    name: str
    heights: Array
    spacing: float
    position: Array = field(default_factory=lambda: ORIGIN)


@dataclass(frozen=True, kw_only=True)
class Contact:
    """Specify the contacts that an engine's own contact solver handles.

    Args:
        pairs: names of links or fixtures that can touch, each with all of its shapes; nothing else
            does.
        friction: coefficient of each name; a pair has the smaller of its two.
        fixtures: what stands still.
        restitution: speed of parting over speed of approach; DART takes it, MuJoCo has 0 alone.
        yaw: by which each fixture is turned about the vertical through its position [rad].
    """

    pairs: tuple[tuple[str, str], ...]
    friction: Mapping[str, float]
    fixtures: tuple[Fixture | MeshFixture | HeightField, ...] = ()
    restitution: float = 0.0
    yaw: float = 0.0

    def mu(self, pair: tuple[str, str]) -> float:
        """Return the coefficient of friction of a pair."""
        return min(self.friction[name] for name in pair)


@dataclass(frozen=True, slots=True)
class ContactPoint:
    """Hold one contact point at one instant.

    Args:
        pair: names of the two links or fixtures.
        position: in the world (3,) [m].
        normal: unit vector in the world, from the first of the pair into the second (3,).
        force: with which the first pushes the second along the normal [N]; 0 where it is unknown.
        depth: how deep they overlap there [m]; negative where there is a gap.
    """

    pair: tuple[str, str]
    position: Array
    normal: Array
    force: float
    depth: float
