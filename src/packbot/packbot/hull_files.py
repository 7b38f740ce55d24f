"""Files of convex hulls, read and checked."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
from roboaccord import meshes
from roboaccord.contact import Index
from roboaccord.errors import AccordError
from roboaccord.state import Array

from packbot.solids import Hull

DENT = 1e-6  # m: how far inside its own hull a vertex may be; STL files have seven digits


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


def read_mesh(path: Path) -> tuple[Array, Index]:
    """Return vertices (v, 3) [m] and triangles (f, 3) of a mesh file.

    OBJ is read here, so that the reference needs no trimesh; that reads other forms.

    Raises:
        AccordError: if there is no such file, no mesh in it, or trimesh is needed and missing.
    """
    if path.suffix.lower() != ".obj":
        return meshes.read_mesh(path)
    try:
        points, faces = _read_obj(path)
    except (OSError, ValueError, IndexError) as error:
        raise AccordError(f"cannot read {path}: {error}") from None
    if not len(faces) or not np.isfinite(points).all():
        raise AccordError(f"cannot read {path}: it holds no triangles")
    if faces.min() < 0 or faces.max() >= len(points):
        raise AccordError(f"cannot read {path}: a face names a vertex that is not there")
    return points, faces


def _read_obj(path: Path) -> tuple[Array, Index]:
    points, faces = list[list[float]](), list[list[int]]()
    for line in path.read_text(encoding="utf-8").splitlines():
        word, *rest = line.split() or [""]
        if word == "v":
            points.append([float(number) for number in rest[:3]])
        elif word == "f":
            given = [int(corner.partition("/")[0]) for corner in rest]
            corners = [i - 1 if i > 0 else len(points) + i for i in given]
            faces += [[corners[0], *pair] for pair in pairwise(corners[1:])]
    return np.array(points).reshape(-1, 3), np.array(faces, dtype=np.int64).reshape(-1, 3)


def _deepest(points: Array, hull: Hull) -> float:
    """Return how deep the deepest of points (m, 3) lies inside a hull [m]."""
    a, b, c = hull.vertices[hull.faces].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    depths = np.einsum("fi,fi->f", normals, a)[:, None] - normals @ points.T
    return float(depths.min(axis=0).max())
