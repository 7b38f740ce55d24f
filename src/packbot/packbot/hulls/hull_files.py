"""Files of convex hulls, read and checked."""

from __future__ import annotations

from pathlib import Path

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description.meshes import read_mesh

from packbot.hulls.solids import Hull

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


def _deepest(points: Array, hull: Hull) -> float:
    """Return the largest depth of points (m, 3) inside a hull [m]."""
    normals, on_faces = hull.normals, hull.vertices[hull.faces[:, 0]]
    depths = (normals * on_faces).sum(axis=1)[:, None] - normals @ points.T
    return float(depths.min(axis=0).max())
