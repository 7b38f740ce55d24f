"""Collision shapes and environment of the arm, and its contact laws by `friction.law`.

Obstacles are those of a scenario's `terrain`: the ground, boxes and convex hulls.

    terrain:
      ground: true
      boxes: {shelf: {size: [0.4, 0.8, 0.02], position: [0.9, 0, 0.6], rpy: [0, 0, 0]}}  # m, rad
      hulls: {rock: {file: rock.obj, position: [1, 0, 0], rpy: [0, 0, 0]}}

A file is looked for in the package's `meshes`, then beside where the command runs.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from roboaccord.contract import (
    AccordError,
    Array,
    Contact,
    Fixture,
    Index,
    Json,
    MeshFixture,
    check_known,
)
from roboaccord.contract import results as si
from roboaccord.description import (
    Faces,
    Geometry,
    box,
    facets,
    mesh_path,
    read_geometry,
    read_mesh,
    share,
)
from roboaccord.numerics import rpy_matrix
from roboaccord.scenario import Setup

from packbot.contact.solids import Hull, box_corners, prism_corners

ROUND = 32  # sides of the prism that stands for a cylinder
SPHERE = 162  # points of the polyhedron that stands for a sphere


@dataclass(frozen=True)
class Shape:
    """Hold one collision shape: what a URDF states of it, in its link's frame.

    Args:
        name: of the collision element, or the link's name and a number.
        link: to which it belongs.
        points: of its surface (m, 3) [m].
        volume: that it encloses [m^3]; nan where it is a mesh that is not closed.
        faces: triangles (f, 3) of a mesh; None of a primitive, whose points are those of its hull.
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


def read_collisions(
    urdf: str, find: Callable[[str], Path] = mesh_path, source: str = "URDF"
) -> list[Shape]:
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
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    both = np.concatenate([sides, sides[:, ::-1]])
    closed = (np.unique(both, axis=0, return_counts=True)[1] % 2 == 0).all()
    volume = abs(float(np.linalg.det(points[faces]).sum())) / 6.0 if closed else float("nan")
    return Shape(name, link, points, volume, faces)


def split(shape: Shape) -> list[Shape]:
    """Return the connected components of a mesh, each a shape; a primitive as it is."""
    if shape.faces is None:
        return [shape]
    a, b, c = shape.faces.T
    size = len(shape.points)
    sides = (np.ones(2 * len(a)), (np.concatenate([a, b]), np.concatenate([b, c])))
    count, part = scipy.sparse.csgraph.connected_components(
        scipy.sparse.coo_matrix(sides, shape=(size, size)), directed=False
    )
    own = [shape.faces[part[a] == number] for number in range(count)]
    own = [faces for faces in own if len(faces)]  # a point that no face has is not a part
    if len(own) == 1:
        return [shape]
    return [
        mesh_shape(f"{shape.name}_{number}", shape.link, shape.points, faces)
        for number, faces in enumerate(own, start=1)
    ]


def _shape(name: str, link: str, form: Geometry, find: Callable[[str], Path]) -> Shape:
    """Return a collision shape in its own frame."""
    if form.form == "mesh":
        points, faces = read_mesh(find(form.file))
        return mesh_shape(name, link, points * form.scale, faces)
    if form.form == "box":
        return Shape(name, link, box_corners(form.size), float(form.size.prod()))
    if form.form == "cylinder":
        points = prism_corners("z", form.radius, form.length, ROUND)
        return Shape(name, link, points, np.pi * form.radius**2 * form.length)
    if form.form == "sphere":
        volume = 4.0 / 3.0 * np.pi * form.radius**3
        return Shape(name, link, form.radius * _sphere(SPHERE), volume)
    raise ValueError(f"{form.form} is not a box, cylinder, sphere or mesh")


def _sphere(count: int) -> Array:
    """Return points of a Fibonacci lattice on the unit sphere (count, 3)."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    across = np.sqrt(1.0 - z * z)
    return np.column_stack([across * np.cos(turn), across * np.sin(turn), z])


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
    path = share("packbot") / "meshes" / str(given["file"])
    if not path.is_file():
        path = Path(str(given["file"]))
    return _fixture(
        name, read_hull(path), _vector(given, key, "position"), _vector(given, key, "rpy")
    )


def _fixture(name: str, hull: Hull, position: Array, rpy: Array) -> MeshFixture:
    turned = hull.vertices @ rpy_matrix(*rpy).T
    return MeshFixture(name=name, vertices=turned, faces=hull.faces, position=position, convex=True)


def _check_keys(given: Any, key: str, known: tuple[str, ...], *, needed: str) -> None:
    if not isinstance(given, Mapping) or needed not in given:
        raise AccordError(f"{key}.{needed} is missing")
    check_known(f"unknown key {key}.", given, known)


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
    top = ET.parse(share("packbot") / "config" / "packbot.srdf").getroot()
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
