"""The collision shapes of a URDF, each as a convex hull in the frame of its link."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from roboaccord.contact import Index
from roboaccord.errors import AccordError
from roboaccord.meshes import mesh_path
from roboaccord.rotations import rpy_matrix
from roboaccord.state import Array

from packbot.hull_files import read_mesh
from packbot.shapes import box_corners, prism_corners
from packbot.solids import Hull

ROUND = 32  # sides of the prism that stands for a cylinder
SPHERE = 162  # points of the polyhedron that stands for a sphere


@dataclass(frozen=True)
class Shape:
    """Hold one collision shape: what a URDF says of it, in its link's frame.

    Args:
        name: of the collision element, or the link's name and a number.
        link: to which it belongs.
        points: of its surface (m, 3) [m].
        faces: triangles (f, 3) of a mesh; None of a primitive, which is its own hull.
    """

    name: str
    link: str
    points: Array
    faces: Index | None = None

    @property
    def hull(self) -> Hull:
        """Its convex hull."""
        return Hull.around(self.points, self.name)


def read_collisions(
    urdf: str, find: Callable[[str], Path] = mesh_path, source: str = "URDF"
) -> list[Shape]:
    """Return the collision shapes of a URDF, link by link in its order.

    Args:
        urdf: its text.
        find: gives the path of a mesh's file name.
        source: its name, for messages.

    Raises:
        AccordError: if it is no URDF, a mesh cannot be read, or a shape is unknown.
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
                points, faces = _points(element, find)
            except (ValueError, KeyError) as error:
                raise AccordError(f"broken description {source}: {name}: {error}") from None
            origin = element.find("origin")
            at = _numbers(origin, "xyz", (0.0, 0.0, 0.0))
            turn = rpy_matrix(*_numbers(origin, "rpy", (0.0, 0.0, 0.0)))
            shapes.append(Shape(name, owner, points @ turn.T + at, faces))
    return shapes


def _points(element: ET.Element, find: Callable[[str], Path]) -> tuple[Array, Index | None]:
    shape = element.find("geometry/*")
    if shape is None:
        raise ValueError("it has no geometry")
    if shape.tag == "mesh":
        points, faces = read_mesh(find(shape.attrib["filename"]))
        return points * _numbers(shape, "scale", (1.0, 1.0, 1.0)), faces
    if shape.tag == "box":
        return box_corners(_numbers(shape, "size", (0.0, 0.0, 0.0))), None
    if shape.tag == "cylinder":
        length, radius = float(shape.attrib["length"]), float(shape.attrib["radius"])
        return prism_corners("z", radius, length, ROUND), None
    if shape.tag == "sphere":
        return float(shape.attrib["radius"]) * _sphere(SPHERE), None
    raise ValueError(f"{shape.tag} is no box, cylinder, sphere or mesh")


def _sphere(count: int) -> Array:
    """Return points on the unit sphere, evenly in z and by the golden angle about it (count, 3)."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    across = np.sqrt(1.0 - z * z)
    return np.column_stack([across * np.cos(turn), across * np.sin(turn), z])


def _numbers(element: ET.Element | None, key: str, default: tuple[float, float, float]) -> Array:
    text = element.get(key) if element is not None else None
    values = np.array([float(word) for word in text.split()] if text else default)
    if values.shape != (3,):
        raise ValueError(f"{key} is {text!r}, not three numbers")
    return values
