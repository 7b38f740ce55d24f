"""Obstacles of a scenario's `terrain`: the ground, boxes and convex hulls.

    terrain:
      ground: true
      boxes: {shelf: {size: [0.4, 0.8, 0.02], position: [0.9, 0, 0.6], rpy: [0, 0, 0]}}  # m, rad
      hulls: {rock: {file: rock.obj, position: [1, 0, 0], rpy: [0, 0, 0]}}

A file is looked for beside where the command runs, then in the package's `meshes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from roboaccord.contract.contact import Fixture, MeshFixture
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.results import Json
from roboaccord.contract.state import Array
from roboaccord.description.meshes import read_mesh
from roboaccord.description.resources import share
from roboaccord.description.solids import Faces, box, facets
from roboaccord.numerics.rotations import rpy_matrix
from roboaccord.scenario.setup import Setup

from packbot.hulls.solids import Hull, box_corners

DENT = 1e-6  # m: how far inside its own hull a vertex may be; STL files have seven digits
GROUND = Fixture(
    name="ground", size=np.array([20.0, 20.0, 1.0]), position=np.array([0.0, 0.0, -0.5])
)


@dataclass(frozen=True)
class Environment:
    """Hold the fixed obstacles around the arm.

    Args:
        fixtures: ground, boxes and hulls, by which every simulator does contact.
    """

    fixtures: tuple[Fixture | MeshFixture, ...]


def stand_around(setup: Setup) -> list[tuple[Array, Faces]]:
    """Return boxes and hulls as vertices (v, 3) [m] and faces, to be drawn; not the ground."""
    return [
        (vertices + fixture.position, faces)
        for fixture in setup.terrain.fixtures
        if fixture is not GROUND
        for vertices, faces in [
            box(fixture.size)
            if isinstance(fixture, Fixture)
            else (fixture.vertices, facets(fixture.vertices, fixture.faces))
        ]
    ]


def make_environment(
    setup: Setup,  # noqa: ARG001 - what makes a terrain is given the setup
    ground: bool = True,
    boxes: Mapping[str, Mapping[str, Json]] | None = None,
    hulls: Mapping[str, Mapping[str, Json]] | None = None,
) -> Environment:
    """Make the environment of a scenario's `terrain`.

    Raises:
        AccordError: for keys that are missing or unknown, or a file that is no convex hull.
    """
    if not isinstance(ground, bool):
        raise AccordError(f"terrain.ground: {ground!r} is neither true nor false")
    for key, given in (("boxes", boxes), ("hulls", hulls)):
        if not isinstance(given, Mapping | None):
            raise AccordError(f"terrain.{key}: {given!r} gives no names")
    fixtures: list[Fixture | MeshFixture] = [GROUND] if ground else []
    fixtures += [_box(name, given) for name, given in (boxes or {}).items()]
    fixtures += [_hull(name, given) for name, given in (hulls or {}).items()]
    names = [fixture.name for fixture in fixtures]
    for name in names:
        if names.count(name) > 1 or name.endswith("_link") or name == "world":
            raise AccordError(f"terrain: the name {name} is taken")
    return Environment(tuple(fixtures))


def _box(name: str, given: Mapping[str, Json]) -> Fixture | MeshFixture:
    key = f"terrain.boxes.{name}"
    _check_keys(given, key, ("size", "position", "rpy"), needed="size")
    size, position, rpy = (_vector(given, key, word) for word in ("size", "position", "rpy"))
    if not np.all(size > 0.0):
        raise AccordError(f"{key}.size: three positive lengths [m] are needed")
    if not rpy.any():
        return Fixture(name=name, size=size, position=position)
    return _fixture(name, Hull.around(box_corners(size), name), position, rpy)


def _hull(name: str, given: Mapping[str, Json]) -> MeshFixture:
    key = f"terrain.hulls.{name}"
    _check_keys(given, key, ("file", "position", "rpy"), needed="file")
    path = Path(str(given["file"]))
    if not path.is_file():
        path = share("packbot") / "meshes" / path
    return _fixture(
        name, read_hull(path), _vector(given, key, "position"), _vector(given, key, "rpy")
    )


def _fixture(name: str, hull: Hull, position: Array, rpy: Array) -> MeshFixture:
    turned = hull.vertices @ rpy_matrix(*rpy).T
    return MeshFixture(name=name, vertices=turned, faces=hull.faces, position=position, convex=True)


def _check_keys(given: Any, key: str, known: tuple[str, ...], *, needed: str) -> None:
    if not isinstance(given, Mapping) or needed not in given:
        raise AccordError(f"{key}.{needed} is missing")
    for word in given:
        if word not in known:
            raise AccordError(f"unknown key {key}.{word}{did_you_mean(word, known)}")


def _vector(given: Mapping[str, Json], key: str, word: str) -> Array:
    try:
        value = np.array(given.get(word, (0.0, 0.0, 0.0)), dtype=float)
    except (TypeError, ValueError):
        value = np.empty(0)
    if value.shape != (3,) or not np.isfinite(value).all():
        raise AccordError(f"{key}.{word}: three numbers are needed, not {given.get(word)!r}")
    return value


def read_hull(path: Path) -> Hull:
    """Read a convex hull from an OBJ or STL file.

    Raises:
        AccordError: if it cannot be read, has no volume, or is not convex.
    """
    points, faces = read_mesh(path)
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
