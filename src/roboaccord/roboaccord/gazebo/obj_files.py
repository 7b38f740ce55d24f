"""Meshes for Gazebo as OBJ files, with normals and a material, and the cache folder for copies.

An OBJ file (vertices and faces as text) without normals ends Gazebo's server: gz-physics leaves out
a part of a mesh that has fewer normals than vertices, and the collision detector then reads beyond
its end. So such files are copied into a cache, with the normals of their faces (`with_normals`);
VERSION is raised when these copies change. `write_faceted` and `write_squared` write meshes that
packages make for Gazebo, such as terrain (test_gazebo_form).
"""

from __future__ import annotations

import hashlib
import os
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from roboaccord.contract import Array, Index, read_bytes
from roboaccord.description.meshes import FILE, read_mesh
from roboaccord.run.output import make_folder, write_text

# Name and content of a file with a material. Gazebo warns about a mesh without one; its colour is
# not seen, as the description has one.
MATERIAL = "plain.mtl"
MATERIAL_TEXT = "newmtl plain\nKd 0.6 0.6 0.6\n"
VERSION = b"2"  # part of the hash by which copies of meshes are named


def with_normals(urdf: str) -> str:
    """Return a URDF whose OBJ files have normals, copied to a cache folder where they had none.

    Args:
        urdf: its meshes are named by `file://` URLs.

    Raises:
        AccordError: if a file cannot be read, or the folder cannot be written.
    """
    if FILE not in urdf:
        return urdf
    root = ET.fromstring(urdf)
    for mesh in root.iter("mesh"):
        name = mesh.get("filename", "")
        if name.startswith(FILE) and name.lower().endswith(".obj"):
            mesh.set("filename", f"{FILE}{_copy_with_normals(Path(name.removeprefix(FILE)))}")
    return ET.tostring(root, encoding="unicode")


def _copy_with_normals(path: Path) -> Path:
    """Return an OBJ file with normals: the given file, or a copy in a folder named by its hash."""
    vertices, faces = read_mesh(path)
    data = read_bytes(path)
    if any(line.startswith(b"vn ") for line in data.splitlines()):
        return path
    copy = cache("gazebo") / hashlib.sha256(VERSION + data).hexdigest()[:12] / path.name
    if not copy.is_file():
        make_folder(copy.parent)
        write_faceted(copy, vertices, faces)
    return copy


def write_faceted(path: Path, vertices: Array, faces: Index) -> None:
    """Write triangles with normals and a material as OBJ, with all digits of the numbers.

    Args:
        path: of the file; an existing one is replaced.
        vertices: (m, 3) [m].
        faces: indices of vertices (k, 3), counterclockwise seen from outside.
    """
    a, b, c = vertices[faces].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    lines += [f"vn {x!r} {y!r} {z!r}" for x, y, z in normals.tolist()]
    corners = enumerate((faces + 1).tolist(), 1)
    lines += [f"f {a}//{i} {b}//{i} {c}//{i}" for i, (a, b, c) in corners]
    _write_obj(path, lines)


def write_squared(path: Path, vertices: Array, faces: Index) -> None:
    """Write terrain for display as OBJ, without its bottom; the texture repeats every metre.

    Args:
        path: of the file; an existing one is replaced.
        vertices: (m, 3) [m].
        faces: (k, 3), counterclockwise seen from outside.
    """
    # Without faces of the bottom, and vertices that are not used any more.
    height = vertices[:, 2]
    faces = faces[(height[faces] > height.min()).any(axis=1)]
    used, corners = np.unique(faces, return_inverse=True)
    vertices, faces = vertices[used], corners.reshape(faces.shape)
    a, b, c = vertices[faces].transpose(1, 0, 2)
    # Normal of a vertex: mean of the normals of its faces, weighted by their areas.
    normals = np.zeros_like(vertices)
    np.add.at(normals, faces, np.cross(b - a, c - a)[:, None])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    lines = [f"v {x:.4f} {y:.4f} {z:.4f}" for x, y, z in vertices.tolist()]
    lines += [f"vt {x:.3f} {y:.3f}" for x, y, _ in vertices.tolist()]
    lines += [f"vn {x:.2f} {y:.2f} {z:.2f}" for x, y, z in normals.tolist()]
    lines += [f"f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}" for a, b, c in faces + 1]
    _write_obj(path, lines)


def _write_obj(path: Path, lines: Sequence[str]) -> None:
    """Write an OBJ file and its material."""
    head = [f"mtllib {MATERIAL}", "usemtl plain"]
    write_text(path.with_name(MATERIAL), MATERIAL_TEXT)
    write_text(path, "\n".join([*head, *lines]) + "\n")


def cache(name: str) -> Path:
    """Return the cache folder `name` for files that are made for Gazebo."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "roboaccord" / name
