"""Collision hulls of the arm, and the obstacles around it.

The hulls of the links are those of the URDF's collision meshes. Obstacles are those of a scenario's
`terrain`: the ground, boxes and convex hulls.

    terrain:
      ground: true
      boxes: {shelf: {size: [0.4, 0.8, 0.02], position: [0.9, 0, 0.6], rpy: [0, 0, 0]}}  # m, rad
      hulls: {rock: {file: rock.obj, position: [1, 0, 0], rpy: [0, 0, 0]}}

A file is looked for in the package's `meshes`, then relative to the working directory.

A kind of obstacle may be added: an argument of `make_environment`, which is a key of `terrain`.
DENT must stay, because STL files have seven digits. test_packbot_hulls tests what is refused.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from roboaccord import description
from roboaccord.contract import AccordError, Array, Fixture, Json, MeshFixture, check_known
from roboaccord.description import Faces
from roboaccord.numerics import rpy_matrix
from roboaccord.scenario import Setup

from packbot.contact.solids import Hull, box_corners

DENT = 1e-6  # m: how far inside its own hull a vertex may be; STL files have seven digits
Fixtures = tuple[Fixture | MeshFixture, ...]
# Wide and deep enough that nothing gets to its edge or falls through.
GROUND = Fixture(
    name="ground", size=np.array([20.0, 20.0, 1.0]), position=np.array([0.0, 0.0, -0.5])
)


@dataclass(frozen=True)
class Shape:
    """Hull of a collision element of a link, in the link's frame."""

    name: str
    link: str
    hull: Hull


def read_collisions(urdf: str) -> list[Shape]:
    """Return the hulls of the meshes by which the arm of a URDF collides, link by link."""
    shapes = list[Shape]()
    for link in ET.fromstring(urdf).findall("link"):
        for element in link.findall("collision"):
            form, name = description.read_geometry(element), element.attrib["name"]
            points, faces = description.read_mesh(description.mesh_path(form.file))
            corners = np.unique((points * form.scale)[faces.ravel()], axis=0)
            hull = Hull.around(form.placed(corners), name)
            shapes.append(Shape(name, link.attrib["name"], hull))
    return shapes


def stand_around(setup: Setup) -> list[tuple[Array, Faces]]:
    """Return boxes and hulls as vertices (v, 3) [m] and faces, to be drawn; not the ground."""
    return [
        (vertices + fixture.position, faces)
        for fixture in setup.terrain
        if fixture is not GROUND
        for vertices, faces in [
            description.box(fixture.size)
            if isinstance(fixture, Fixture)
            else (fixture.vertices, description.facets(fixture.vertices, fixture.faces))
        ]
    ]


def make_environment(
    setup: Setup,  # noqa: ARG001 - what makes a terrain is given the setup
    ground: bool = True,
    boxes: Mapping[str, Mapping[str, Json]] | None = None,
    hulls: Mapping[str, Mapping[str, Json]] | None = None,
) -> Fixtures:
    """Make the fixed obstacles of a scenario's `terrain`, by which every simulator does contact.

    Raises:
        AccordError: for keys that are missing or unknown, or a file that is not a convex hull.
    """
    if not isinstance(ground, bool):
        raise AccordError(f"terrain.ground: {ground!r} is neither true nor false")
    for key, entries in (("boxes", boxes), ("hulls", hulls)):
        if not isinstance(entries, Mapping | None):
            raise AccordError(f"terrain.{key}: {entries!r} is not a list of names")
    fixtures: list[Fixture | MeshFixture] = [GROUND] if ground else []
    fixtures += [_box(name, entry) for name, entry in (boxes or {}).items()]
    fixtures += [_hull(name, entry) for name, entry in (hulls or {}).items()]
    names = [fixture.name for fixture in fixtures]
    for name in names:
        if names.count(name) > 1 or name.endswith("_link") or name == "world":
            raise AccordError(f"terrain: the name {name} is taken")
    return tuple(fixtures)


def _box(name: str, entry: Mapping[str, Json]) -> Fixture | MeshFixture:
    key = f"terrain.boxes.{name}"
    size, position, rpy = _vectors(entry, key, "size", "size", "position", "rpy")
    if not np.all(size > 0.0):
        raise AccordError(f"{key}.size: three positive lengths [m] are needed")
    if not rpy.any():
        return Fixture(name=name, size=size, position=position)
    return _fixture(name, Hull.around(box_corners(size), name), position, rpy)


def _hull(name: str, entry: Mapping[str, Json]) -> MeshFixture:
    key = f"terrain.hulls.{name}"
    position, rpy = _vectors(entry, key, "file", "position", "rpy")
    path = description.share("packbot") / "meshes" / str(entry["file"])
    if not path.is_file():
        path = Path(str(entry["file"]))
    return _fixture(name, read_hull(path), position, rpy)


def _fixture(name: str, hull: Hull, position: Array, rpy: Array) -> MeshFixture:
    turned = hull.vertices @ rpy_matrix(*rpy).T
    return MeshFixture(name=name, vertices=turned, faces=hull.faces, position=position, convex=True)


def _vectors(entry: Any, key: str, needed: str, *words: str) -> list[Array]:
    """Return vectors (3,) of an entry by key, 0 where one is not given; a key may be required."""
    if not isinstance(entry, Mapping) or needed not in entry:
        raise AccordError(f"{key}.{needed} is missing")
    check_known(f"unknown key {key}.", entry, dict.fromkeys((needed, *words)))
    return [_vector(entry, key, word) for word in words]


def _vector(entry: Mapping[str, Json], key: str, word: str) -> Array:
    try:
        value = np.array(entry.get(word, (0.0, 0.0, 0.0)), dtype=float)
    except (TypeError, ValueError):
        value = np.empty(0)
    if value.shape != (3,) or not np.isfinite(value).all():
        raise AccordError(f"{key}.{word}: three numbers are needed, not {entry.get(word)!r}")
    return value


def read_hull(path: Path) -> Hull:
    """Read a convex hull from an OBJ or STL file.

    Raises:
        AccordError: if it cannot be read, has no volume, or is not convex.
    """
    points, faces = description.read_mesh(path)
    hull = Hull.around(points, path.name)
    dent = _deepest(points[faces].mean(axis=1), hull)
    if dent > DENT:
        raise AccordError(f"{path.name} is not convex: a face lies {1e3 * dent:.3g} mm inside")
    return hull


def _deepest(points: Array, hull: Hull) -> float:
    """Return the largest depth of points (m, 3) inside a hull [m]."""
    normals, on_faces = hull.normals, hull.vertices[hull.faces[:, 0]]
    depths = (normals * on_faces).sum(axis=1)[:, None] - normals @ points.T
    return float(depths.min(axis=0).max())
