"""Contacts of links and obstacles that an engine's own contact solver handles.

A robot states in a `Contact` which pairs of links and fixtures (bodies that are fixed in the world)
can touch, and their friction; `Fixture`, `CylinderFixture`, `MeshFixture` and `HeightField` are the
shapes of fixtures. Engines load it, and report a `ContactPoint` for each place where two bodies
touch at one instant. Friction that acts as a force law instead, the same in every engine, is in
sliding_friction.py.

`FreeBody` is a convex body that moves beside the robot, such as a box that an arm pushes.

A new kind of fixture also needs a branch in dart/fixtures.py, mujoco/contact.py and moves.py of
engines/.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from roboaccord.contract.state import ORIGIN, Array

# Array of whole numbers, such as indices of vertices.
Index = npt.NDArray[np.int64]
# Array of truth values, such as whether each joint is at its stop.
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Fixture:
    """A box that is fixed in the world, such as the ground.

    Args:
        name: different from those of links.
        size: along x, y and z (3,) [m].
        position: position of its centre (3,) [m].
    """

    name: str
    size: Array
    position: Array


@dataclass(frozen=True, kw_only=True)
class CylinderFixture:
    """A vertical cylinder that is fixed in the world, such as a peg.

    Args:
        name: different from those of links.
        radius: [m].
        height: [m].
        position: position of its centre (3,) [m].
    """

    name: str
    radius: float
    height: float
    position: Array


@dataclass(frozen=True, kw_only=True)
class MeshFixture:
    """A closed mesh that is fixed in the world.

    DART takes any mesh, MuJoCo only convex ones, because it uses the convex hull of a mesh.

    Args:
        name: different from those of links.
        vertices: in its own frame (m, 3) [m].
        faces: indices of the vertices of triangles (k, 3), counterclockwise seen from outside.
        position: position of its frame (3,) [m].
        convex: whether it is its own convex hull.
    """

    name: str
    vertices: Array
    faces: Index
    position: Array = field(default_factory=lambda: ORIGIN)
    convex: bool = False


@dataclass(frozen=True, kw_only=True)
class HeightField:
    """A height field on a regular grid; MuJoCo takes it, DART does not.

    Args:
        name: different from those of links.
        heights: heights of the grid points, indexed [x, y], (rows, columns) [m].
        spacing: distance of neighbouring grid points [m].
        position: position of grid point [0, 0] at the height 0 (3,) [m].
    """

    name: str
    heights: Array
    spacing: float
    position: Array = field(default_factory=lambda: ORIGIN)


AnyFixture: TypeAlias = Fixture | CylinderFixture | MeshFixture | HeightField


@dataclass(frozen=True, kw_only=True)
class FreeBody:
    """A convex rigid body that moves freely beside the robot.

    Its motion is a row of `RobotState.bodies`.

    Args:
        shape: box, cylinder or convex mesh with the name of the body; its `position` is in the
            body's frame, whose origin is the centre of mass.
        mass: [kg].
        inertia: about the centre of mass, in the body's axes (3, 3) [kg m^2].
        start: motion at the start, a row (13,).
    """

    shape: Fixture | CylinderFixture | MeshFixture
    mass: float
    inertia: Array
    start: Array

    @property
    def name(self) -> str:
        """Name of the body."""
        return self.shape.name


@dataclass(frozen=True, kw_only=True)
class Contact:
    """The contacts that an engine's own contact solver handles.

    Args:
        pairs: names of links, fixtures or bodies that can touch, with all of their shapes; no
            others can.
        friction: coefficient of each of them; that of a pair is the smaller of its two.
        fixtures: bodies that are fixed in the world.
        restitution: speed after over speed before an impact; MuJoCo takes only 0.
        yaw: angle by which each fixture is turned about the vertical through its position [rad].
        bodies: free bodies, whose names are in `pairs` and `friction` like those of links.
    """

    pairs: tuple[tuple[str, str], ...]
    friction: Mapping[str, float]
    fixtures: tuple[AnyFixture, ...] = ()
    restitution: float = 0.0
    yaw: float = 0.0
    bodies: tuple[FreeBody, ...] = ()

    def mu(self, pair: tuple[str, str]) -> float:
        """Return the coefficient of friction of a pair."""
        return min(self.friction[name] for name in pair)


@dataclass(frozen=True, slots=True)
class ContactPoint:
    """One contact point at one instant.

    Args:
        pair: names of the two links or fixtures.
        position: in the world (3,) [m].
        normal: unit vector in the world, from the first of the pair into the second (3,).
        force: normal force of the first on the second [N]; 0 if it is unknown.
        depth: overlap of the two at the point [m]; negative for a gap.
        friction: tangential force of the first on the second, in the world (3,) [N]; None if it is
            unknown.
        margin: distance at which they begin to touch [m].
    """

    pair: tuple[str, str]
    position: Array
    normal: Array
    force: float
    depth: float
    friction: Array | None = None
    margin: float = 0.0
