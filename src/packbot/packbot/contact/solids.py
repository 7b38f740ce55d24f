"""Convex hulls of the robot's solids: faces, volume and second moments, and their files.

The solids are described in config/shapes.yaml as boxes, prisms, and convex hulls of several of
these. `write_shapes` computes meshes/*.obj and config/hulls.yaml from them, which the URDF reads.
`Hull` triangulates flat faces in one fixed way, so that the files do not depend on rounding.

Sizes in config/shapes.yaml may be changed; run `accord packbot look --shapes` afterwards, as a test
compares the files. test_packbot_hulls compares volumes and moments with those of trimesh.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
from roboaccord import description
from roboaccord.contract import AccordError, Array, Index
from roboaccord.run import make_folder, write_text

HEAD = """\
# Volume [m^3], centre [m] and second moments (mean of x x^T about the frame's origin) [m^2]
# of meshes/*.obj, each in its own frame. Made of config/shapes.yaml by `accord packbot look
# --shapes`; the xacro reads it."""
# Number of sides of a prism, a multiple of 4 so that some sides face along the axes. The sides of a
# casing lie up to 1 - cos(15 deg), 2 mm, inside its cylinder; radii are known to 2.5 mm.
SIDES = 12
# rad; triangles whose normals differ by less form one flat face: above the rounding of numbers near
# 1, 1e-16, and far below the 30 degrees between sides of a prism (SIDES).
PARALLEL = 1e-6
# m^2; shorter cross products are those of parallel edges, without a direction: of edges 1 cm long
# at less than 1e-5 rad
LEAST_SINE = 1e-9
ROUND_OFF = 1e-15  # m, m^2; smaller figures are rounding of lengths up to 1 m, and written as 0


def shape_vertices() -> dict[str, Array]:
    """Return the vertices of every solid, each in its own frame (v, 3) [m]."""
    shapes = description.read_yaml(description.share("packbot") / "config" / "shapes.yaml")
    return {name: vertices_of(shape, name) for name, shape in shapes.items()}


def write_shapes(folder: Path) -> list[Path]:
    """Write the hulls of all solids and their moments into a folder.

    Returns:
        the files: meshes/*.obj, and config/hulls.yaml with the moments.
    """
    meshes, table = make_folder(folder, "meshes"), make_folder(folder, "config") / "hulls.yaml"
    lines, files = [HEAD], []
    for name, vertices in shape_vertices().items():
        hull = Hull.around(vertices, name)
        files.append(meshes / f"{name}.obj")
        comment = f"{name}: made of config/shapes.yaml by `accord packbot look --shapes`"
        write_obj(hull, files[-1], comment)
        centre = dict(zip("xyz", hull.centre, strict=True))
        pairs = [(i, j) for i in range(3) for j in range(i, 3)]
        moments = {"xyz"[i] + "xyz"[j]: hull.moments[i, j] for i, j in pairs}
        words = [f"{key}: {_number(value)}" for key, value in (centre | moments).items()]
        lines.append(f"{name}: {{volume: {hull.volume!r}, {', '.join(words)}}}")
    write_text(table, "\n".join(lines) + "\n")
    return [*files, table]


def _number(value: float) -> str:
    """Return a number as text with all its digits; numbers that are round-off become 0."""
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
    return np.asarray((np.array([*np.ndindex(2, 2, 2)]) - 0.5) * size)


def prism_corners(axis: str, radius: float, length: float, sides: int) -> Array:
    """Return the corners of a regular prism centred at the origin (2 sides, 3) [m].

    The corners are turned by half a side, so that sides face along the two other axes.

    Args:
        axis: direction of the prism: x, y or z.
        radius: radius of the circumscribed circle of the cross section [m].
        length: length along the axis [m].
        sides: number of sides of the cross section.
    """
    angles = (np.arange(sides) + 0.5) * 2.0 * np.pi / sides
    along = "xyz".index(axis)
    rings = np.zeros((2, sides, 3))
    rings[:, :, along] = [[-0.5 * length], [0.5 * length]]
    rings[:, :, (along + 1) % 3] = radius * np.cos(angles)
    rings[:, :, (along + 2) % 3] = radius * np.sin(angles)
    return rings.reshape(-1, 3)


class Hull(NamedTuple):
    """A convex polyhedron in its own frame.

    Args:
        vertices: corners of the hull, without interior points (v, 3) [m].
        faces: triangles, as indices of vertices, counterclockwise seen from outside (f, 3).
    """

    vertices: Array
    faces: Index

    @classmethod
    def around(cls, points: Array, name: str = "hull") -> Hull:
        """Return the convex hull of points (m, 3) [m]; `name` is for messages.

        Raises:
            AccordError: if they lie in a plane, or are too few.
        """
        try:
            hull = scipy.spatial.ConvexHull(points)
        except (scipy.spatial.QhullError, ValueError):
            failure = "its points lie in a plane, or are too few"
            raise AccordError(f"{name} has no hull with a volume: {failure}") from None
        # Keep the corners only, and number the triangles by them.
        corners = np.sort(hull.vertices)
        index_of = np.full(len(points), -1)
        index_of[corners] = np.arange(len(corners))
        vertices = np.asarray(points, dtype=float)[corners]
        return cls(vertices, _fans(vertices, index_of[hull.simplices], hull.equations[:, :3]))

    def placed(self, turn: Array, at: Array) -> Hull:
        """Return the hull turned by a rotation matrix (3, 3), then moved by a vector (3,) [m]."""
        return Hull(self.vertices @ turn.T + at, self.faces)

    @property
    def normals(self) -> Array:
        """Outward unit normals of the triangles (f, 3)."""
        a, b, c = self.vertices[self.faces].transpose(1, 0, 2)
        across = np.cross(b - a, c - a)
        return np.asarray(across / np.linalg.norm(across, axis=1)[:, None])

    @property
    def edges(self) -> Array:
        """Edges of the triangles, as vectors from end to end (3 f / 2, 3) [m]."""
        # Each edge belongs to two triangles, in opposite directions; one of the two is kept.
        sides = np.concatenate([self.faces[:, [i, (i + 1) % 3]] for i in range(3)])
        ends = self.vertices[sides[sides[:, 0] < sides[:, 1]]]
        return np.asarray(ends[:, 1] - ends[:, 0])

    @property
    def volume(self) -> float:
        """Volume [m^3]."""
        return description.volume_moments(self.vertices, self.faces)[0]

    @property
    def centre(self) -> Array:
        """Centre of volume (3,) [m]."""
        return description.volume_moments(self.vertices, self.faces)[1]

    @property
    def moments(self) -> Array:
        """Mean of x x^T over the volume, about the origin of the frame (3, 3) [m^2]."""
        return description.volume_moments(self.vertices, self.faces)[2]


def _fans(vertices: Array, triangles: Index, normals: Array) -> Index:
    """Return the triangles of all faces (f, 3), each flat face as a fan from its first corner.

    Qhull's own triangles of flat faces depend on the last digits of the vertices.

    Args:
        vertices: (v, 3) [m].
        triangles: qhull's triangles, clockwise or counterclockwise (f, 3).
        normals: their outward unit normals (f, 3).
    """
    # Triangles with parallel normals are connected: each component is a flat face.
    parallel = scipy.spatial.cKDTree(normals).query_pairs(PARALLEL, output_type="ndarray")
    count, ones = len(normals), np.ones(len(parallel))
    graph = scipy.sparse.coo_matrix((ones, parallel.T), (count, count))
    _, face_of = scipy.sparse.csgraph.connected_components(graph, directed=False)
    # Indices of the triangles of each face.
    order = np.argsort(face_of, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(face_of[order])) + 1)
    fans = [_fan(vertices, np.unique(triangles[group]), normals[group[0]]) for group in groups]
    return np.array(sorted(triangle for fan in fans for triangle in fan), dtype=np.int64)


def _fan(vertices: Array, corners: Index, normal: Array) -> list[tuple[int, int, int]]:
    """Return the triangles of a flat face, as a fan from its first corner.

    Args:
        vertices: (v, 3) [m].
        corners: indices of the corners of the face, ascending.
        normal: outward unit normal of the face (3,).
    """
    # Angle of each corner about the centre of the face, counterclockwise from the first one.
    spokes = vertices[corners] - vertices[corners].mean(axis=0)
    across = np.cross(normal, spokes[0])
    angles = np.arctan2(spokes @ across, spokes @ spokes[0]) % (2.0 * np.pi)
    angles[0] = 0.0  # the first corner, whatever round-off does
    around = corners[np.argsort(angles)].tolist()
    return [(around[0], *pair) for pair in pairwise(around[1:])]


def least_overlap(a: Hull, b: Hull) -> tuple[float, Array]:
    """Return the smallest translation [m] that separates `b` from `a`, and its direction (3,).

    By the separating axis theorem [Gottschalk 1996] the direction is a normal of one of the faces,
    or perpendicular to an edge of each hull. If the hulls do not overlap, the result is minus a gap
    between them, along a direction that separates them.
    """
    # Directions perpendicular to an edge of each hull, without those of parallel edges.
    crossed = np.cross(a.edges[:, None], b.edges[None]).reshape(-1, 3)
    lengths = np.linalg.norm(crossed, axis=1)
    crossed = crossed[lengths > LEAST_SINE] / lengths[lengths > LEAST_SINE, None]
    # Overlap of the projections of both hulls on each direction.
    directions = np.concatenate([a.normals, -b.normals, crossed, -crossed])
    overlaps = (directions @ a.vertices.T).max(axis=1) - (directions @ b.vertices.T).min(axis=1)
    smallest = int(overlaps.argmin())
    return float(overlaps[smallest]), directions[smallest]


def write_obj(hull: Hull, path: Path, comment: str) -> None:
    """Write a hull as a Wavefront OBJ file, with all digits of its numbers."""
    lines = [f"# {comment}"]
    lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in hull.vertices.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in hull.faces]
    write_text(path, "\n".join(lines) + "\n")
