"""Collision shapes and environment of the arm, and its contact laws by `friction.law`.

A contact law may be added: a function like `normal` that returns an ArmContact, registered in
robot.py; a new kind of obstacle is an argument of `make_environment`, which is a key of `terrain`.
`joint_clamp` is fixed by the report (3.4, appendix C); its `proximity` of 2 mm, which the report
does not give, and the margin of 0.5 mm may be changed. DENT, for seven digits in STL files, stays.
Pairs that never touch are in config/packbot.srdf.

Obstacles are those of a scenario's `terrain`: the ground, boxes and convex hulls.

    terrain:
      ground: true
      boxes: {shelf: {size: [0.4, 0.8, 0.02], position: [0.9, 0, 0.6], rpy: [0, 0, 0]}}  # m, rad
      hulls: {rock: {file: rock.obj, position: [1, 0, 0], rpy: [0, 0, 0]}}

A file is looked for in the package's `meshes`, then beside where the command runs.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from roboaccord import description
from roboaccord.contract import AccordError, Array, Contact, Fixture, Json, MeshFixture, check_known
from roboaccord.contract import results as si
from roboaccord.description import Faces
from roboaccord.numerics import rpy_matrix
from roboaccord.scenario import Setup

from packbot.contact.solids import Hull, box_corners


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


DENT = 1e-6  # m: how far inside its own hull a vertex may be; STL files have seven digits
Fixtures = tuple[Fixture | MeshFixture, ...]
GROUND = Fixture(
    name="ground", size=np.array([20.0, 20.0, 1.0]), position=np.array([0.0, 0.0, -0.5])
)


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
    for key, given in (("boxes", boxes), ("hulls", hulls)):
        if not isinstance(given, Mapping | None):
            raise AccordError(f"terrain.{key}: {given!r} is not a list of names")
    fixtures: list[Fixture | MeshFixture] = [GROUND] if ground else []
    fixtures += [_box(name, given) for name, given in (boxes or {}).items()]
    fixtures += [_hull(name, given) for name, given in (hulls or {}).items()]
    names = [fixture.name for fixture in fixtures]
    for name in names:
        if names.count(name) > 1 or name.endswith("_link") or name == "world":
            raise AccordError(f"terrain: the name {name} is taken")
    return tuple(fixtures)


def _box(name: str, given: Mapping[str, Json]) -> Fixture | MeshFixture:
    key = f"terrain.boxes.{name}"
    size, position, rpy = _vectors(given, key, "size", "size", "position", "rpy")
    if not np.all(size > 0.0):
        raise AccordError(f"{key}.size: three positive lengths [m] are needed")
    if not rpy.any():
        return Fixture(name=name, size=size, position=position)
    return _fixture(name, Hull.around(box_corners(size), name), position, rpy)


def _hull(name: str, given: Mapping[str, Json]) -> MeshFixture:
    key = f"terrain.hulls.{name}"
    position, rpy = _vectors(given, key, "file", "position", "rpy")
    path = description.share("packbot") / "meshes" / str(given["file"])
    if not path.is_file():
        path = Path(str(given["file"]))
    return _fixture(name, read_hull(path), position, rpy)


def _fixture(name: str, hull: Hull, position: Array, rpy: Array) -> MeshFixture:
    turned = hull.vertices @ rpy_matrix(*rpy).T
    return MeshFixture(name=name, vertices=turned, faces=hull.faces, position=position, convex=True)


def _vectors(given: Any, key: str, needed: str, *words: str) -> list[Array]:
    """Return vectors (3,), 0 where one is not given, of what is given with what is needed."""
    if not isinstance(given, Mapping) or needed not in given:
        raise AccordError(f"{key}.{needed} is missing")
    check_known(f"unknown key {key}.", given, dict.fromkeys((needed, *words)))
    return [_vector(given, key, word) for word in words]


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


LEAST_MARGIN = 1e-4  # m: the least at which the reference keeps hulls apart


@dataclass(frozen=True, kw_only=True)
class ArmContact(Contact):
    """Specify contact of the arm with itself and with obstacles.

    Args:
        margin: at which the reference takes hulls as touching [m]; they stay apart by it, where
            normals are well defined (the report's figure 5 shows what happens below).
    """

    margin: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ClampContact(ArmContact):
    """Specify the report's contact scheme, in which joints are stopped; in the reference alone.

    Args:
        proximity: closer than which a pair stays active [m].
    """

    proximity: float = 0.0


def normal(
    setup: Setup, mu: float = 0.0, restitution: float = 0.0, margin: si.Metres = 5e-4
) -> ArmContact:
    """Make contact along the normal, mapped to the joints by the contact Jacobian.

    Args:
        setup: robot and scenario.
        mu: coefficient of friction of every pair.
        restitution: speed of parting over speed of approach, 0 to 1.
        margin: at which the reference takes hulls as touching.
    """
    if mu < 0:
        raise ValueError("mu is negative")
    if not 0 <= restitution <= 1:
        raise ValueError(f"restitution is {restitution:g}, and must be between 0 and 1")
    if not margin >= LEAST_MARGIN:
        raise ValueError(
            f"margin is {margin:g} m, and must be at least {LEAST_MARGIN:g}: nearer to touching, "
            "hulls have no steady normals"
        )
    return ArmContact(margin=margin, restitution=restitution, **_touching(setup, mu))


def joint_clamp(setup: Setup, proximity: si.Metres = 2e-3) -> ClampContact:
    """Make the report's scheme: stop the joints between two bodies that touch, and hold them.

    Args:
        setup: robot and scenario.
        proximity: closer than which a pair stays active; the report names the tolerance
            without its value.
    """
    if not proximity > 0:
        raise ValueError("proximity must be positive")
    return ClampContact(proximity=proximity, **_touching(setup, 0.0))


@cache
def never_touching() -> frozenset[frozenset[str]]:
    """Return the pairs of links whose collisions config/packbot.srdf disables."""
    top = ET.parse(description.share("packbot") / "config" / "packbot.srdf").getroot()
    pairs = [(e.attrib["link1"], e.attrib["link2"]) for e in top.findall("disable_collisions")]
    return frozenset(frozenset(pair) for pair in pairs)


def _touching(setup: Setup, mu: float) -> dict[str, Any]:
    """Return colliding pairs (no link with its parent, none of the SRDF), friction and fixtures."""
    tree = setup.tree
    fixtures: Fixtures = setup.terrain
    links = [link.name for link in tree.links if link.name != "world"]
    names = [fixture.name for fixture in fixtures]
    never = {frozenset((j.parent, j.child)) for j in tree.joints} | never_touching()
    pairs = [*combinations(links, 2), *((a, b) for a in links[1:] for b in names)]
    return {
        "pairs": tuple(pair for pair in pairs if frozenset(pair) not in never),
        "friction": dict.fromkeys([*links, *names], mu),
        "fixtures": fixtures,
    }
