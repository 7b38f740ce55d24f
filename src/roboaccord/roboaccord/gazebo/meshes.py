"""Meshes as Gazebo takes them: an OBJ file without normals ends its server.

gz-physics leaves out a part of a mesh that has not as many normals as vertices, and the collision
detector then reads what is not there. So such files are copied, with the normals of their faces.
"""

from __future__ import annotations

import hashlib
import os
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from roboaccord.contract.contact import Index
from roboaccord.contract.state import Array
from roboaccord.description.meshes import FILE, read_mesh
from roboaccord.run.output import make_folder, write_text

# Gazebo warns of a mesh without a material; what a description says of the colour counts.
MATERIAL, PLAIN = "plain.mtl", "newmtl plain\nKd 0.6 0.6 0.6\n"
VERSION = b"2"  # of the copies


def cache(name: str) -> Path:
    """Return the folder where what is made for Gazebo is kept."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "roboaccord" / name


def with_normals(urdf: str) -> str:
    """Return a URDF whose OBJ files have normals, copied to a cache folder where they had none.

    Args:
        urdf: whose meshes are named by file.

    Raises:
        AccordError: if a file cannot be read, or the folder cannot be written.
    """
    if FILE not in urdf:
        return urdf
    root = ET.fromstring(urdf)
    for mesh in root.iter("mesh"):
        name = mesh.get("filename", "")
        if name.startswith(FILE) and name.lower().endswith(".obj"):
            mesh.set("filename", f"{FILE}{_with_normals(Path(name.removeprefix(FILE)))}")
    return ET.tostring(root, encoding="unicode")


def write_faceted(path: Path, vertices: Array, faces: Index) -> None:
    """Write triangles with their normals as OBJ, numbers with all their digits, and a material.

    Args:
        path: of the file; one that is there is replaced as a whole.
        vertices: (m, 3) [m].
        faces: (k, 3), counterclockwise seen from outside.
    """
    a, b, c = vertices[faces].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    lines += [f"vn {x!r} {y!r} {z!r}" for x, y, z in normals.tolist()]
    corners = enumerate((faces + 1).tolist(), 1)
    lines += [f"f {a}//{i} {b}//{i} {c}//{i}" for i, (a, b, c) in corners]
    _write(path, lines)


def write_squared(path: Path, vertices: Array, faces: Index) -> None:
    """Write terrain to be seen as OBJ, without its bottom, its texture of 1 m laid on from above.

    Args:
        path: of the file; one that is there is replaced as a whole.
        vertices: (m, 3) [m].
        faces: (k, 3), counterclockwise seen from outside.
    """
    height = vertices[:, 2]
    faces = faces[(height[faces] > height.min()).any(axis=1)]
    used, corners = np.unique(faces, return_inverse=True)
    vertices, faces = vertices[used], corners.reshape(faces.shape)
    a, b, c = vertices[faces].transpose(1, 0, 2)
    normals = np.zeros_like(vertices)
    np.add.at(normals, faces, np.cross(b - a, c - a)[:, None])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    lines = [f"v {x:.4f} {y:.4f} {z:.4f}" for x, y, z in vertices.tolist()]
    lines += [f"vt {x:.3f} {y:.3f}" for x, y, _ in vertices.tolist()]
    lines += [f"vn {x:.2f} {y:.2f} {z:.2f}" for x, y, z in normals.tolist()]
    lines += [f"f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}" for a, b, c in faces + 1]
    _write(path, lines)


def _write(path: Path, lines: Sequence[str]) -> None:
    """Write an OBJ file and its material."""
    head = [f"mtllib {MATERIAL}", "usemtl plain"]
    for name, text in ((MATERIAL, PLAIN), (path.name, "\n".join([*head, *lines]) + "\n")):
        write_text(path.with_name(name), text)


def _with_normals(path: Path) -> Path:
    """Return an OBJ file with normals: the given one, or a copy named after what is in it."""
    vertices, faces = read_mesh(path)
    data = path.read_bytes()
    if any(line.startswith(b"vn ") for line in data.splitlines()):
        return path
    copy = cache("gazebo") / hashlib.sha256(VERSION + data).hexdigest()[:12] / path.name
    if not copy.is_file():
        make_folder(copy.parent)
        write_faceted(copy, vertices, faces)
    return copy
