"""Shapes of a robot to draw: the visual or the collision shapes of its links, in their colours.

`Scene.parse` reads boxes, cylinders, spheres and meshes of a URDF; meshes keep the colours of their
files. If a visual cannot be read, the collision shapes of its link take its place. Films, the
browser view and the camera of a scenario draw the `Shape`s of a `Scene`, so fields may be added
with a default. Another kind of shape is made in solids.py and called in `_shapes`.
"""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from roboaccord.contract import AccordError, Array, Index
from roboaccord.description.meshes import MeshPart, mesh_path, read_parts
from roboaccord.description.solids import Faces, Geometry, box, cylinder, read_geometry, sphere
from roboaccord.description.tree import Tree

# Red, green, blue and opacity, 0 to 1, of shapes without a colour: by eye.
GREY = (0.55, 0.60, 0.66, 1.0)
# Kinds of scene, in words that users see.
VISUAL, COLLISION = "visual shapes", "collision shapes"
MIXED = "visual and collision shapes"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shape:
    """Polygons of a link that are drawn in one colour.

    Args:
        link: index of the link in the tree.
        vertices: in the link's frame (v, 3) [m].
        faces: convex polygons as indices of vertices.
        colour: red, green, blue in 0..1 (3,).
        opacity: 0..1.
    """

    link: int
    vertices: Array
    faces: Faces | Index
    colour: Array
    opacity: float = 1.0


@dataclass(frozen=True)
class Scene:
    """A robot to draw: its name, kinematic tree and shapes, and whether these are visual ones."""

    name: str
    tree: Tree
    shapes: tuple[Shape, ...]
    kind: str = VISUAL

    @classmethod
    def parse(cls, urdf: str, *, collision: bool = False) -> Scene:
        """Read the tree and the shapes of a URDF.

        Args:
            urdf: description of the robot.
            collision: whether to take the collision shapes instead of the visual ones.

        Raises:
            AccordError: if the URDF is broken, or has nothing that can be drawn.
        """
        tree = Tree.parse(urdf)
        root = ET.fromstring(urdf)
        palette = {m.get("name", ""): _colour(m, {}) for m in root.findall("material")}
        elements = {e.get("name"): e for e in root.findall("link")}
        shapes, has_collisions = list[Shape](), False
        for index, link in enumerate(tree.links):
            added, has_replaced = _link_shapes(elements[link.name], index, palette, collision)
            shapes += added
            has_collisions |= has_replaced
        name = root.get("name", "robot")
        if not shapes and not collision:
            return cls.parse(urdf, collision=True)
        if not shapes:
            raise AccordError(f"{name} has no box, cylinder, sphere or mesh to draw")
        kind = COLLISION if collision else MIXED if has_collisions else VISUAL
        return cls(name, tree, tuple(shapes), kind)


def _link_shapes(
    element: ET.Element, link: int, palette: Mapping[str, Array], collision: bool
) -> tuple[list[Shape], bool]:
    """Return the shapes of a link, and whether collision shapes are among them."""
    visuals, collisions = element.findall("visual"), element.findall("collision")
    colours = [_colour(visual.find("material"), palette) for visual in visuals]
    drawn = [] if collision else [_shapes(v, link, c) for v, c in zip(visuals, colours)]
    shapes = [shape for of_visual in drawn for shape in of_visual]
    if not collision and all(drawn):
        return shapes, False
    colour = colours[0] if colours else np.array(GREY)
    shapes += [shape for solid in collisions for shape in _shapes(solid, link, colour)]
    return shapes, bool(collisions)


def _shapes(element: ET.Element, link: int, colour: Array) -> list[Shape]:
    """Return the shapes of a visual or collision element: of a mesh, one for each colour."""
    try:
        geometry = read_geometry(element)
    except ValueError:
        return []
    if geometry.form == "mesh":
        return _mesh_shapes(geometry, link, colour)
    if geometry.form == "box":
        vertices, faces = box(geometry.size)
    elif geometry.form == "cylinder":
        vertices, faces = cylinder(geometry.radius, geometry.length)
    elif geometry.form == "sphere":
        vertices, faces = sphere(geometry.radius)
    else:
        return []
    return [Shape(link, geometry.placed(vertices), faces, colour[:3], float(colour[3]))]


def _mesh_shapes(geometry: Geometry, link: int, colour: Array) -> list[Shape]:
    """Return the shapes of a mesh in the colours of its file, or in the URDF's if it has none.

    A translucent mesh is drawn in the one colour of the URDF.
    """
    try:
        parts = _read_parts(geometry.file)
    except AccordError as error:
        _log.warning("a mesh is left out: %s", error)
        return []
    opacity, shapes = float(colour[3]), list[Shape]()
    for vertices, triangles, colour_in_file in parts:
        colour_of_part = colour[:3] if colour_in_file is None or opacity < 1.0 else colour_in_file
        in_link = geometry.placed(vertices * geometry.scale)
        shapes.append(Shape(link, in_link, triangles, colour_of_part, opacity))
    return shapes


@cache
def _read_parts(name: str) -> list[MeshPart]:
    """Return the parts of a mesh by its name in a description."""
    return read_parts(mesh_path(name))


def _colour(material: ET.Element | None, palette: Mapping[str, Array]) -> Array:
    """Return red, green, blue and opacity of a material (4,), by name if it has no colour."""
    if material is None:
        return np.array(GREY)
    colour = material.find("color")
    if colour is not None:
        return np.array([float(word) for word in colour.get("rgba", "0 0 0 1").split()])
    return palette.get(material.get("name", ""), np.array(GREY))
