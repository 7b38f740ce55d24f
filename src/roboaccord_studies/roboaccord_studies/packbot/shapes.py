"""Collision shapes of any URDF: boxes, cylinders, balls, and the connected parts of meshes.

A shape is represented by points, whose convex hull approximates it, and by its exact volume; the
ratio of both volumes is the fit of the hull. Cylinders become prisms, and balls polyhedra with
points of a Fibonacci lattice.

CYLINDER_SIDES and SPHERE_POINTS may be tuned; volumes and inertias of hulls depend on them. Unknown
kinds of geometry must be refused by name (test_hulls).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy
from packbot.contact.solids import Hull, box_corners, prism_corners
from roboaccord.contract import AccordError, Array, Index
from roboaccord.description import Geometry, read_geometry, read_mesh

# Number of sides of the prism that approximates a cylinder: its area is 0.6 % short.
CYLINDER_SIDES = 32
# Number of points of the polyhedron that approximates a sphere: its volume is 3.6 % short.
SPHERE_POINTS = 162


@dataclass(frozen=True)
class Shape:
    """One collision shape: what a URDF states of it, in its link's frame.

    Args:
        name: name of the collision element, or the link's name and a number.
        link: name of its link.
        points: points of its surface (m, 3) [m].
        volume: enclosed volume [m^3]; nan for a mesh that is not closed.
        faces: triangles (f, 3) of a mesh; None for a box, cylinder or ball.
    """

    name: str
    link: str
    points: Array
    volume: float = float("nan")
    faces: Index | None = None

    @cached_property
    def hull(self) -> Hull:
        """Its convex hull."""
        return Hull.around(self.points, self.name)

    @property
    def fit(self) -> float:
        """Its volume over that of its hull; nan for a mesh that is not closed."""
        return self.volume / self.hull.volume


def read_collisions(urdf: str, find: Callable[[str], Path], source: str) -> list[Shape]:
    """Return the collision shapes of a URDF, link by link in its order.

    Args:
        urdf: its text.
        find: gives the path of a mesh's file name.
        source: its name, for messages.

    Raises:
        AccordError: if it is not a URDF, a mesh cannot be read, or a shape is unknown.
    """
    try:
        top = ET.fromstring(urdf)
    except ET.ParseError as error:
        raise AccordError(f"broken description {source}: {error}") from None
    shapes = list[Shape]()
    for link in top.findall("link"):
        owner = link.get("name", "")
        for number, element in enumerate(link.findall("collision"), start=1):
            name = element.get("name") or f"{owner}_{number}"
            try:
                form = read_geometry(element)
                shape = _shape(name, owner, form, find)
            except ValueError as error:
                raise AccordError(f"broken description {source}: {name}: {error}") from None
            shapes.append(replace(shape, points=form.placed(shape.points)))
    return shapes


def mesh_shape(name: str, link: str, points: Array, faces: Index) -> Shape:
    """Return a mesh as a shape, with its volume if it is closed."""
    points, index = np.unique(points[faces.ravel()], axis=0, return_inverse=True)
    faces = index.reshape(-1, 3)  # new indices, for STL repeats corners
    # Closed if each edge, whatever its direction, belongs to an even number of triangles.
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    both = np.concatenate([sides, sides[:, ::-1]])
    closed = (np.unique(both, axis=0, return_counts=True)[1] % 2 == 0).all()
    volume = abs(float(np.linalg.det(points[faces]).sum())) / 6.0 if closed else float("nan")
    return Shape(name, link, points, volume, faces)


def split(shape: Shape) -> list[Shape]:
    """Return the connected components of a mesh, each a shape; other shapes are not split."""
    if shape.faces is None:
        return [shape]
    # Points are connected if a triangle has a side from one to the other.
    a, b, c = shape.faces.T
    size = len(shape.points)
    sides = (np.ones(2 * len(a)), (np.concatenate([a, b]), np.concatenate([b, c])))
    count, label = scipy.sparse.csgraph.connected_components(
        scipy.sparse.coo_matrix(sides, shape=(size, size)), directed=False
    )
    components = [shape.faces[label[a] == number] for number in range(count)]
    components = [faces for faces in components if len(faces)]  # without points that no face has
    if len(components) == 1:
        return [shape]
    return [
        mesh_shape(f"{shape.name}_{number}", shape.link, shape.points, faces)
        for number, faces in enumerate(components, start=1)
    ]


def _shape(name: str, link: str, form: Geometry, find: Callable[[str], Path]) -> Shape:
    """Return a collision shape in its own frame."""
    if form.form == "mesh":
        points, faces = read_mesh(find(form.file))
        return mesh_shape(name, link, points * form.scale, faces)
    if form.form == "box":
        return Shape(name, link, box_corners(form.size), float(form.size.prod()))
    if form.form == "cylinder":
        points = prism_corners("z", form.radius, form.length, CYLINDER_SIDES)
        return Shape(name, link, points, np.pi * form.radius**2 * form.length)
    if form.form == "sphere":
        volume = 4.0 / 3.0 * np.pi * form.radius**3
        return Shape(name, link, form.radius * _sphere(SPHERE_POINTS), volume)
    raise ValueError(f"{form.form} is not a box, cylinder, sphere or mesh")


def _sphere(count: int) -> Array:
    """Return points of a Fibonacci lattice on the unit sphere (count, 3)."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    across = np.sqrt(1.0 - z * z)
    return np.column_stack([across * np.cos(turn), across * np.sin(turn), z])
