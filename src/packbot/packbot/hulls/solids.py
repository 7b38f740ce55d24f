"""Convex hulls: faces, volume and second moments, and their files."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy
from roboaccord.contract.contact import Index
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.run.output import write_text

PARALLEL = 1e-6  # rad: faces whose normals differ by less are one


@dataclass(frozen=True)
class Hull:
    """Hold a convex polyhedron in its own frame.

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
        place = np.full(len(points), -1)
        place[corners] = np.arange(len(corners))
        vertices = np.asarray(points, dtype=float)[corners]
        return cls(vertices, _fans(vertices, place[hull.simplices], hull.equations[:, :3]))

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

    def inertia(self, mass: float) -> Array:
        """Return the inertia of uniform density about the centre of volume (3, 3) [kg m^2]."""
        second = self.moments - np.outer(self.centre, self.centre)
        return np.asarray(mass * (np.trace(second) * np.eye(3) - second))

    def _tetrahedra(self) -> tuple[Array, Array]:
        corners = self.vertices[self.faces]
        return np.linalg.det(corners) / 6.0, corners


def _fans(vertices: Array, triangles: Index, normals: Array) -> Index:
    """Return flat faces triangulated anew, each as a fan from its first vertex (f, 3).

    How qhull cuts them hangs on the last digits of the vertices.

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
    turn[0] = 0.0  # the first corner, whatever round-off says
    around = ring[np.argsort(turn)].tolist()
    return [(around[0], *pair) for pair in pairwise(around[1:])]


def least_overlap(a: Hull, b: Hull) -> tuple[float, Array]:
    """Return the least translation [m] that separates `b` from `a`, and its direction (3,).

    That is a normal of one of the faces, or across one edge of each [Gottschalk 1996]. Where they
    are apart it is minus a gap along a vector that separates them.
    """
    crossed = np.cross(a.edges[:, None], b.edges[None]).reshape(-1, 3)
    sizes = np.linalg.norm(crossed, axis=1)
    crossed = crossed[sizes > 1e-9] / sizes[sizes > 1e-9, None]
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
