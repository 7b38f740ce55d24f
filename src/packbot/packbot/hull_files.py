"""Files of convex hulls, read and checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
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


def read_mesh(path: Path) -> tuple[Array, np.ndarray]:
    """Return vertices (v, 3) [m] and triangles (f, 3) of a mesh file.

    Raises:
        AccordError: if there is no such file, or no mesh in it.
    """
    import trimesh  # 0.3 s: only who reads a file waits for it

    try:
        mesh = trimesh.load(path, force="mesh", process=False)
        points, faces = np.array(mesh.vertices, dtype=float), np.array(mesh.faces)
    except Exception as error:  # noqa: BLE001 - trimesh raises whatever its readers do
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise AccordError(f"cannot read {path}: {reason}") from None
    if not len(faces) or not np.isfinite(points).all():
        raise AccordError(f"cannot read {path}: it holds no triangles")
    return points, faces


def _deepest(points: Array, hull: Hull) -> float:
    """Return how deep the deepest of points (m, 3) lies inside a hull [m]."""
    a, b, c = hull.vertices[hull.faces].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    depths = np.einsum("fi,fi->f", normals, a)[:, None] - normals @ points.T
    return float(depths.min(axis=0).max())
