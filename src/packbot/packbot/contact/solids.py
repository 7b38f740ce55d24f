"""Convex hulls: faces, volume and second moments, and their files.

Sizes of the robot's solids are in config/shapes.yaml: boxes, prisms, and hulls of several of them.
`write_shapes` makes meshes/*.obj and config/hulls.yaml of it, which the URDF reads. Faces are
triangulated in one way only, so that files do not depend on rounding. Volumes and moments are sums
of closed forms over tetrahedra.

The sizes are estimates and may be changed; then run `accord packbot look --shapes`, for a test
checks that the files are what this makes. SIDES may be changed as well. A new shape is a branch in
`vertices_of`. test_packbot_hulls compares volumes and moments with trimesh's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from roboaccord import description
from roboaccord.contract import AccordError, Array, Index
from roboaccord.run import make_folder, write_text

HEAD = """\
# Volume [m^3], centre [m] and second moments (mean of x x^T about the frame's origin) [m^2]
# of meshes/*.obj, each in its own frame. Made of config/shapes.yaml by `accord packbot look
# --shapes`; the xacro reads it."""
SIDES = 12  # of a prism; its flats face along the axes
PARALLEL = 1e-6  # rad: faces whose normals differ by less are one, as rounding bends flat ones
LEAST_SINE = 1e-9  # of the angle between two edges, below which they have no common normal
ROUND_OFF = 1e-15  # m, m^2: smaller figures are written as 0


def shape_vertices() -> dict[str, Array]:
    """Return the vertices of every solid, each in its own frame (v, 3) [m]."""
    shapes = description.read_yaml(description.share("packbot") / "config" / "shapes.yaml")
    return {name: vertices_of(shape, name) for name, shape in shapes.items()}


def write_shapes(folder: Path) -> list[Path]:
    """Write the hulls as meshes/*.obj and their moments as config/hulls.yaml; return the files."""
    meshes, table = make_folder(folder, "meshes"), make_folder(folder, "config") / "hulls.yaml"
    lines, files = [HEAD], []
    for name, vertices in shape_vertices().items():
        hull = Hull.around(vertices, name)
        files.append(meshes / f"{name}.obj")
        write_obj(
            hull, files[-1], f"{name}: made of config/shapes.yaml by `accord packbot look --shapes`"
        )
        centre = dict(zip("xyz", hull.centre, strict=True))
        pairs = [(i, j) for i in range(3) for j in range(i, 3)]
        moments = {"xyz"[i] + "xyz"[j]: hull.moments[i, j] for i, j in pairs}
        words = [f"{key}: {_number(value)}" for key, value in (centre | moments).items()]
        lines.append(f"{name}: {{volume: {hull.volume!r}, {', '.join(words)}}}")
    write_text(table, "\n".join(lines) + "\n")
    return [*files, table]


def _number(value: float) -> str:
    """Return a number with all digits, round-off replaced by 0."""
    return repr(float(value) if abs(value) > ROUND_OFF else 0.0)


def vertices_of(shape: Mapping[str, Any], name: str) -> Array:
    """Return the vertices of a solid described by `box`, `prism` or `hull` (v, 3) [m].

    Raises:
        AccordError: if it is none of them.
    """
    at = np.array(shape.get("at", (0.0, 0.0, 0.0)), dtype=float)
    if "box" in shape:
        corners = box_corners(np.array(shape["box"], dtype=float))
    elif "prism" in shape:
        prism = shape["prism"]
        corners = prism_corners(prism["axis"], prism["radius"], prism["length"], SIDES)
    elif "hull" in shape:
        corners = np.concatenate([vertices_of(part, name) for part in shape["hull"]])
    else:
        raise AccordError(f"shape {name} is not a box, prism or hull")
    return np.asarray(at + corners)


def box_corners(size: Array) -> Array:
    """Return the corners of a box about the origin (8, 3) [m]."""
    signs = [[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    return np.asarray(np.array(signs) * size)


def prism_corners(axis: str, radius: float, length: float, sides: int) -> Array:
    """Return the corners of a regular prism about the origin, flats across the other axes.

    Args:
        axis: x, y or z.
        radius: of the circle about its cross section [m].
        length: along the axis [m].
        sides: of the cross section.
    """
    turn = (np.arange(sides) + 0.5) * 2.0 * np.pi / sides
    along = "xyz".index(axis)
    rings = np.zeros((2, sides, 3))
    rings[:, :, along] = [[-0.5 * length], [0.5 * length]]
    rings[:, :, (along + 1) % 3] = radius * np.cos(turn)
    rings[:, :, (along + 2) % 3] = radius * np.sin(turn)
    return rings.reshape(-1, 3)


@dataclass(frozen=True)
class Hull:
    """A convex polyhedron in its own frame.

    Args:
        vertices: (v, 3) [m], corners of the hull alone.
        faces: triangles (f, 3), counterclockwise seen from outside.
    """

    vertices: Array
    faces: Index

    @classmethod
    def around(cls, points: Array, name: str = "hull") -> Hull:
        """Return the convex hull of points (m, 3) [m].

        Raises:
            AccordError: if they lie in a plane, or are too few.
        """
        try:
            hull = scipy.spatial.ConvexHull(points)
        except (scipy.spatial.QhullError, ValueError):
            raise AccordError(
                f"{name} has no hull with a volume: its points lie in a plane, or are too few"
            ) from None
        corners = np.sort(hull.vertices)
        index_of = np.full(len(points), -1)
        index_of[corners] = np.arange(len(corners))
        vertices = np.asarray(points, dtype=float)[corners]
        return cls(vertices, _fans(vertices, index_of[hull.simplices], hull.equations[:, :3]))

    def placed(self, turn: Array, at: Array) -> Hull:
        """Return the hull turned by a matrix (3, 3), then moved (3,) [m]."""
        return Hull(self.vertices @ turn.T + at, self.faces)

    @property
    def normals(self) -> Array:
        """Unit normals of the triangles, outward (f, 3)."""
        a, b, c = self.vertices[self.faces].transpose(1, 0, 2)
        across = np.cross(b - a, c - a)
        return np.asarray(across / np.linalg.norm(across, axis=1)[:, None])

    @property
    def edges(self) -> Array:
        """Edges of the triangles, as vectors (3 f / 2, 3) [m]."""
        sides = np.concatenate([self.faces[:, [i, (i + 1) % 3]] for i in range(3)])
        ends = self.vertices[sides[sides[:, 0] < sides[:, 1]]]
        return np.asarray(ends[:, 1] - ends[:, 0])

    @property
    def volume(self) -> float:
        """[m^3]."""
        return float(self._tetrahedra()[0].sum())

    @property
    def centre(self) -> Array:
        """Centre of volume (3,) [m]."""
        volumes, corners = self._tetrahedra()
        return np.asarray(volumes @ corners.sum(axis=1) / 4.0 / volumes.sum())

    @property
    def moments(self) -> Array:
        """Mean of x x^T over the volume, about the frame's origin (3, 3) [m^2].

        Of a tetrahedron with corners 0, a, b, c that is (s s^T + a a^T + b b^T + c c^T) / 20, s
        their sum.
        """
        volumes, corners = self._tetrahedra()
        s = corners.sum(axis=1)
        products = np.einsum("ni,nj->nij", s, s) + np.einsum("nki,nkj->nij", corners, corners)
        return np.asarray(np.einsum("n,nij->ij", volumes, products) / 20.0 / volumes.sum())

    def _tetrahedra(self) -> tuple[Array, Array]:
        corners = self.vertices[self.faces]
        return np.linalg.det(corners) / 6.0, corners


def _fans(vertices: Array, triangles: Index, normals: Array) -> Index:
    """Return flat faces triangulated anew, each as a fan from its first vertex (f, 3).

    How qhull cuts them depends on the last digits of the vertices.

    Args:
        vertices: (v, 3) [m].
        triangles: qhull's, in any sense (f, 3).
        normals: of the triangles, outward (f, 3).
    """
    close = scipy.spatial.cKDTree(normals).query_pairs(PARALLEL, output_type="ndarray")
    size, ones = len(normals), np.ones(len(close))
    face = scipy.sparse.csgraph.connected_components(
        scipy.sparse.coo_matrix((ones, close.T), (size, size)), directed=False
    )[1]
    order = np.argsort(face, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(face[order])) + 1)
    fans = [_fan(vertices, np.unique(triangles[group]), normals[group[0]]) for group in groups]
    return np.array(sorted(triangle for fan in fans for triangle in fan), dtype=np.int64)


def _fan(vertices: Array, ring: Index, normal: Array) -> list[tuple[int, int, int]]:
    """Return triangles of a flat face with the corners `ring`, sorted, and an outward normal."""
    spokes = vertices[ring] - vertices[ring].mean(axis=0)
    x, y, z = normal
    u, v, w = spokes[0]
    across = np.array([y * w - z * v, z * u - x * w, x * v - y * u])
    turn = np.arctan2(spokes @ across, spokes @ spokes[0]) % (2.0 * np.pi)
    turn[0] = 0.0  # the first corner, whatever round-off does
    around = ring[np.argsort(turn)].tolist()
    return [(around[0], *pair) for pair in pairwise(around[1:])]


def least_overlap(a: Hull, b: Hull) -> tuple[float, Array]:
    """Return the least translation [m] that separates `b` from `a`, and its direction (3,).

    That is a normal of one of the faces, or across one edge of each [Gottschalk 1996]. Where they
    are apart it is minus a gap along a vector that separates them.
    """
    crossed = np.cross(a.edges[:, None], b.edges[None]).reshape(-1, 3)
    sizes = np.linalg.norm(crossed, axis=1)
    crossed = crossed[sizes > LEAST_SINE] / sizes[sizes > LEAST_SINE, None]
    normals = np.concatenate([a.normals, -b.normals, crossed, -crossed])
    overlaps = (normals @ a.vertices.T).max(axis=1) - (normals @ b.vertices.T).min(axis=1)
    least = int(overlaps.argmin())
    return float(overlaps[least]), normals[least]


def write_obj(hull: Hull, path: Path, comment: str) -> None:
    """Write a hull as Wavefront OBJ, numbers with all their digits."""
    lines = [f"# {comment}"]
    lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in hull.vertices.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in hull.faces]
    write_text(path, "\n".join(lines) + "\n")
