"""Solid shapes as vertices and faces, for drawing, and the shapes that a URDF names.

`box`, `cylinder` and `sphere` return vertices and faces, `facets` the plane faces of a convex mesh,
`volume_moments` the volume of a mesh and its moments; corners are counter-clockwise seen from
outside (test_drawing checks that every face looks outwards). `read_geometry` reads the shape of a
`<visual>` or `<collision>`. A `Surface` is ground, wall or terrain that stands still, or a free
body that moves. No engine collides with these shapes.

Another shape is a function like `box`, a branch in scene.py, and its attributes in
`read_geometry`.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from roboaccord.contract.contact import Index
from roboaccord.contract.state import Array
from roboaccord.description.xml_numbers import numbers
from roboaccord.numerics.rotations import rpy_matrix

# Number of sides of a cylinder, and of meridians of a sphere: enough to look round, since the
# middle of a side is 0.4 % of the radius inside. They are only drawn, so any number would do.
SIDES = 36
# Rows of a sphere's faces: half of SIDES, so that they are square at the equator.
PARALLEL_COUNT = 18
# Decimals to which the normals of triangles in one facet agree: numbers of 32 bits have 6e-8.
NORMAL_DIGITS = 6
# Replaces 0 as a divisor: any number that is positive and below all lengths would do.
SMALLEST_DIVISOR = 1e-300
ANGLES = np.arange(SIDES) * 2 * np.pi / SIDES  # of the points of a circle [rad]
RING = [(i, (i + 1) % SIDES) for i in range(SIDES)]  # indices of neighbours on a circle
# Faces of a solid, each as the indices of its vertices.
Faces = tuple[tuple[int, ...], ...]
# Attributes that a URDF must state, by form.
REQUIRED = {"box": "size", "cylinder": "radius length", "sphere": "radius", "mesh": "filename"}
# Names of surfaces that viewers know; another solid may have any name.
GROUND, WALL, TERRAIN = "ground", "wall", "terrain"
BACKDROPS = (GROUND, WALL, TERRAIN)


def box(size: Array) -> tuple[Array, Faces]:
    """Return vertices and faces of a box with sides `size` (3,) [m]."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return 0.5 * size * corners, faces


def cylinder(radius: float, length: float) -> tuple[Array, Faces]:
    """Return vertices and faces of a cylinder along z [m]."""
    ring = np.column_stack([radius * np.cos(ANGLES), radius * np.sin(ANGLES), 0 * ANGLES])
    half = np.array([0.0, 0.0, 0.5 * length])
    # Vertices of the lower ring come first: above vertex i is vertex i + SIDES.
    wall = tuple((i, j, j + SIDES, i + SIDES) for i, j in RING)
    caps = (tuple(range(SIDES))[::-1], tuple(range(SIDES, 2 * SIDES)))
    return np.vstack([ring - half, ring + half]), wall + caps


def sphere(radius: float) -> tuple[Array, Faces]:
    """Return vertices and faces of a sphere [m]."""
    polar, azimuth = np.meshgrid(np.linspace(np.pi, 0, PARALLEL_COUNT + 1), ANGLES, indexing="ij")
    directions = [np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)]
    # Vertices from the lower pole upward, SIDES in each row, which begins at index `row`.
    faces = tuple(
        (row + i, row + j, row + j + SIDES, row + i + SIDES)
        for row in range(0, PARALLEL_COUNT * SIDES, SIDES)
        for i, j in RING
    )
    return radius * np.stack(directions, axis=-1).reshape(-1, 3), faces


def facets(vertices: Array, triangles: Index) -> Faces:
    """Return the plane faces of a convex mesh: its triangles (f, 3) in one plane are joined."""
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1), SMALLEST_DIVISOR)[:, None]
    planes: dict[tuple[float, ...], list[int]] = {}
    for index, normal in enumerate(normals):
        planes.setdefault(tuple((normal + 0.0).round(NORMAL_DIGITS)), []).append(index)
    return tuple(
        _ordered_corners(vertices, np.unique(triangles[members]), normals[members[0]])
        for members in planes.values()
    )


def volume_moments(vertices: Array, faces: Index) -> tuple[float, Array, Array]:
    """Return volume [m^3], centre (3,) [m] and mean of x x^T (3, 3) [m^2] of a closed mesh.

    The mean is about the origin. For a tetrahedron with corners 0, a, b, c, it is
    (s s^T + a a^T + b b^T + c c^T) / 20 with s = a + b + c, and the centre is s / 4; volumes of
    the tetrahedra between origin and faces have signs.
    """
    corners = vertices[faces]
    volumes, s = np.linalg.det(corners) / 6.0, corners.sum(axis=1)
    volume = volumes.sum()
    products = np.einsum("ni,nj->nij", s, s) + np.einsum("nki,nkj->nij", corners, corners)
    moments = np.einsum("n,nij->ij", volumes, products) / 20.0 / volume
    return float(volume), volumes @ s / 4.0 / volume, moments


def _ordered_corners(vertices: Array, corners: Index, normal: Array) -> tuple[int, ...]:
    """Return the corners of a convex face in order about its normal."""
    from_centre = vertices[corners] - vertices[corners].mean(axis=0)
    across = from_centre[0] / np.linalg.norm(from_centre[0])
    up = np.cross(normal, across)
    angles = np.arctan2(from_centre @ up, from_centre @ across)
    return tuple(int(corner) for corner in corners[np.argsort(angles)])


@dataclass(frozen=True, eq=False)
class Surface:
    """A surface around a robot.

    Args:
        name: `ground`, `wall`, `terrain`, or any other for a convex solid.
        vertices: (v, 3) [m].
        faces: convex polygons as indices of vertices, counter-clockwise seen from outside.
        colour: red, green and blue (3,), each 0 to 1.
        frame: name of the free body in whose frame it is; "" for the world, in which it stands
            still.
    """

    name: str
    vertices: Array
    faces: Faces | Index
    colour: Array
    frame: str = ""

    @property
    def triangles(self) -> Index:
        """The faces as triangles (f, 3)."""
        if isinstance(self.faces, np.ndarray):
            return self.faces
        fans = [(face[0], *pair) for face in self.faces for pair in pairwise(face[1:])]
        return np.array(fans, dtype=np.int64).reshape(-1, 3)


@dataclass(frozen=True)
class Geometry:
    """One shape in the frame of its link; attributes that it does not have are 0 or empty.

    Args:
        form: box, cylinder, sphere or mesh, or any other element that the URDF has.
        position: of its frame (3,) [m].
        rotation: from its frame to the link's (3, 3).
        size: of a box (3,) [m].
        radius, length: of a cylinder along z, or of a sphere [m].
        file: of a mesh, as the URDF names it.
        scale: of a mesh (3,).
    """

    form: str
    position: Array
    rotation: Array
    size: Array
    radius: float
    length: float
    file: str
    scale: Array

    def placed(self, points: Array) -> Array:
        """Return points (m, 3) [m], given in the shape's frame, in the link's frame."""
        return points @ self.rotation.T + self.position


def read_geometry(element: ET.Element) -> Geometry:
    """Return the geometry of a `<visual>` or `<collision>` element.

    Raises:
        ValueError: if it has no geometry, or a number is missing or not a number.
    """
    form = element.find("geometry/*")
    if form is None:
        raise ValueError("it has no geometry")
    for key in REQUIRED.get(form.tag, "").split():
        if form.get(key) is None:
            raise ValueError(f"its {form.tag} has no {key}")
    origin = element.find("origin")
    return Geometry(
        form=form.tag,
        position=three_numbers(origin, "xyz"),
        rotation=rpy_matrix(*three_numbers(origin, "rpy")),
        size=three_numbers(form, "size"),
        radius=float(form.get("radius", "0")),
        length=float(form.get("length", "0")),
        file=form.get("filename", ""),
        scale=three_numbers(form, "scale", "1 1 1"),
    )


def three_numbers(element: ET.Element | None, key: str, default: str = "0 0 0") -> Array:
    """Return the three numbers of an attribute (3,), or those of the default if it is missing.

    Raises:
        ValueError: if it has not three numbers.
    """
    values = numbers(element, key, default)
    if values.shape != (3,):
        raise ValueError(f"{key} has {values.size} numbers, not three")
    return values
