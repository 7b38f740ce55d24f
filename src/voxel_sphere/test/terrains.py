"""Terrains and their meshes, for tests."""

from __future__ import annotations

from typing import Any

import trimesh
from roboaccord.contract.state import Array
from voxel_sphere.terrain.generate import surface_parts
from voxel_sphere.terrain.mesh import Mesh
from voxel_sphere.terrain.surfaces import make_surface
from voxel_sphere.terrain.workspace import Terrain


def terrain_of(name: str, n: int = 50, *, binary: bool = False, **parameters: Any) -> Terrain:
    """Return a terrain as a workspace would give it."""
    surface = make_surface(name, n, n / 10, **parameters)
    volumes = [part.volume for part in surface_parts(surface, n, binary=binary)]
    return Terrain(n, n / 10, 0.01, *volumes, name=name, grey=not binary)


def as_trimesh(mesh: Mesh) -> Any:
    """Return a mesh in a library that knows nothing of ours."""
    return trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)


def upper(mesh: Mesh, n: int, margin: float) -> Array:
    """Return the vertices on the terrain, some voxels from the faces of the grid."""
    inner = ((mesh.vertices[:, :2] > margin) & (mesh.vertices[:, :2] < n - margin)).all(axis=1)
    return mesh.vertices[inner & (mesh.vertices[:, 2] > 1)]
