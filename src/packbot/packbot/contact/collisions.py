"""Collision shapes: the convex hulls of the arm's links, and the obstacles around the arm.

The hulls of the links come from the collision meshes of the URDF. Obstacles come from the key
`terrain` of a scenario: the ground, boxes and convex hulls.

    terrain:
      ground: true
      boxes: {shelf: {size: [0.4, 0.8, 0.02], position: [0.9, 0, 0.6], rpy: [0, 0, 0]}}  # m, rad
      hulls: {rock: {file: rock.obj, position: [1, 0, 0], rpy: [0, 0, 0]}}

A file is searched in `meshes` of the package, then relative to the working directory. Another kind
of obstacle is another argument of `make_environment`, which is a key of `terrain`.
test_packbot_hulls tests which obstacles are refused.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from roboaccord import description
from roboaccord.contract import AccordError, Array, Fixture, Json, MeshFixture, check_known
from roboaccord.description import Faces
from roboaccord.numerics import rpy_matrix
from roboaccord.scenario import Setup

from packbot.contact.solids import Hull, box_corners

# m; a surface may lie that deep inside its convex hull: STL files have seven digits
MAX_DENT = 1e-6
Fixtures = tuple[Fixture | MeshFixture, ...]
# Box whose top is the ground, so wide and deep that nothing gets to its edge or falls through.
GROUND_SIZE, GROUND_CENTRE = np.array([20.0, 20.0, 1.0]), np.array([0.0, 0.0, -0.5])  # m
GROUND = Fixture(name="ground", size=GROUND_SIZE, position=GROUND_CENTRE)


class Shape(NamedTuple):
    """Convex hull of one collision element of a link, in the frame of the link."""

    name: str
    link: str
    hull: Hull


def read_collisions(urdf: str) -> list[Shape]:
    """Return the hulls of all collision meshes of a URDF (XML text), link by link."""
    shapes = list[Shape]()
    for link in ET.fromstring(urdf).findall("link"):
        for element in link.findall("collision"):
            form, name = description.read_geometry(element), element.attrib["name"]
            points, faces = description.read_mesh(description.mesh_path(form.file))
            corners = np.unique((points * form.scale)[faces.ravel()], axis=0)
            shapes.append(Shape(name, link.attrib["name"], Hull.around(form.placed(corners), name)))
    return shapes


def drawn_obstacles(setup: Setup) -> list[tuple[Array, Faces]]:
    """Return the obstacles for drawing, without the ground.

    Returns:
        for each obstacle its vertices (v, 3) [m] in the world and its faces.
    """
    solids = list[tuple[Array, Faces]]()
    for fixture in setup.terrain:
        if isinstance(fixture, MeshFixture):
            faces = description.facets(fixture.vertices, fixture.faces)
            solids.append((fixture.vertices + fixture.position, faces))
        elif fixture is not GROUND:
            vertices, faces = description.box(fixture.size)
            solids.append((vertices + fixture.position, faces))
    return solids


def make_environment(
    setup: Setup,  # noqa: ARG001 - what makes a terrain is given the setup
    ground: bool = True,
    boxes: Mapping[str, Mapping[str, Json]] | None = None,
    hulls: Mapping[str, Mapping[str, Json]] | None = None,
) -> Fixtures:
    """Return the fixed obstacles of a scenario's `terrain`, which all simulators use.

    Args:
        setup: robot and scenario.
        ground: whether there is ground at z = 0.
        boxes: size, position and rpy by name of the box.
        hulls: file, position and rpy by name of the hull.

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
    """Return the obstacle of an entry of `boxes`; a turned box becomes a hull."""
    key = f"terrain.boxes.{name}"
    size, position, rpy = _vectors(entry, key, ("size", "position", "rpy"), required="size")
    if not np.all(size > 0.0):
        raise AccordError(f"{key}.size: three positive lengths [m] are needed")
    if not rpy.any():
        return Fixture(name=name, size=size, position=position)
    return _placed_hull(name, Hull.around(box_corners(size), name), position, rpy)


def _hull(name: str, entry: Mapping[str, Json]) -> MeshFixture:
    """Return the obstacle of an entry of `hulls`."""
    key = f"terrain.hulls.{name}"
    position, rpy = _vectors(entry, key, ("position", "rpy"), required="file")
    path = description.share("packbot") / "meshes" / str(entry["file"])
    hull = read_hull(path if path.is_file() else Path(str(entry["file"])))
    return _placed_hull(name, hull, position, rpy)


def _placed_hull(name: str, hull: Hull, position: Array, rpy: Array) -> MeshFixture:
    """Return a hull turned by roll, pitch and yaw (3,) [rad], at a position (3,) [m]."""
    turned = hull.vertices @ rpy_matrix(*rpy).T
    return MeshFixture(name=name, vertices=turned, faces=hull.faces, position=position, convex=True)


def _vectors(entry: Any, key: str, names: Sequence[str], *, required: str) -> list[Array]:
    """Return the vectors (3,) of the fields `names` of an obstacle's entry.

    Args:
        entry: mapping of the fields of the obstacle, as read from the scenario.
        key: of the entry in the scenario, for messages.
        names: fields to return; a field that is not given is 0.
        required: field that must be given.
    """
    if not isinstance(entry, Mapping) or required not in entry:
        raise AccordError(f"{key}.{required} is missing")
    check_known(f"unknown key {key}.", entry, dict.fromkeys((required, *names)))
    return [_vector(entry, key, name) for name in names]


def _vector(entry: Mapping[str, Json], key: str, name: str) -> Array:
    """Return one field of an entry as a vector (3,), 0 if it is not given."""
    try:
        value = np.array(entry.get(name, (0.0, 0.0, 0.0)), dtype=float)
    except (TypeError, ValueError):
        value = np.empty(0)
    if value.shape != (3,) or not np.isfinite(value).all():
        raise AccordError(f"{key}.{name}: three numbers are needed, not {entry.get(name)!r}")
    return value


def read_hull(path: Path) -> Hull:
    """Read a convex hull from an OBJ or STL file.

    Raises:
        AccordError: if it cannot be read, has no volume, or is not convex.
    """
    points, faces = description.read_mesh(path)
    hull = Hull.around(points, path.name)
    dent = _largest_depth(points[faces].mean(axis=1), hull)
    if dent > MAX_DENT:
        raise AccordError(f"{path.name} is not convex: a face lies {1e3 * dent:.3g} mm inside")
    return hull


def _largest_depth(points: Array, hull: Hull) -> float:
    """Return the depth of the deepest of points (m, 3) [m] below the surface of a hull [m]."""
    normals, on_faces = hull.normals, hull.vertices[hull.faces[:, 0]]  # a point on each face
    depths = (normals * on_faces).sum(axis=1)[:, None] - normals @ points.T
    return float(depths.min(axis=0).max())
