"""Files of meshes: where a description's `package://` name lies, and what is in it."""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np

from roboaccord.contract.contact import Index
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import check_file, is_file
from roboaccord.contract.state import Array
from roboaccord.description.resources import share

PACKAGE, FILE = "package://", "file://"
FORMATS = (".obj", ".stl", ".dae", ".ply", ".off", ".glb", ".gltf")  # none of them an archive


def mesh_path(name: str) -> Path:
    """Return the file of a mesh that a description names.

    Args:
        name: `package://PKG/...`, `file:///...` or a path.

    Raises:
        AccordError: for a package that is not installed, or a file that does not exist.
    """
    if name.startswith(PACKAGE):
        package, _, inside = name.removeprefix(PACKAGE).partition("/")
        path = share(package) / inside
    else:
        path = Path(name.removeprefix(FILE))
    if not is_file(path):
        raise AccordError(f"no mesh {name}")
    return check_file(path)


def read_mesh(path: Path) -> tuple[Array, Index]:
    """Return vertices (v, 3) [m] and triangles (f, 3) of a file.

    OBJ is read here, so that it needs no library; trimesh reads STL and other forms.

    Raises:
        AccordError: if it cannot be read, or has no triangles in it.
    """
    if path.suffix.lower() not in FORMATS:
        raise AccordError(f"cannot read {path}: a mesh is one of {', '.join(FORMATS)}")
    check_file(path)
    try:
        vertices, faces = _read_obj(path) if path.suffix.lower() == ".obj" else _read_other(path)
    except AccordError:
        raise
    except Exception as error:  # noqa: BLE001 - trimesh raises whatever its readers do
        said = getattr(error, "strerror", None) or str(error)
        reason = (said.splitlines() or [type(error).__name__])[0]
        raise AccordError(f"cannot read {path}: {reason}") from None
    if not len(faces):
        raise AccordError(f"cannot read {path}: it holds no triangles")
    if not np.isfinite(vertices).all():
        raise AccordError(f"cannot read {path}: a vertex is not finite")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise AccordError(f"cannot read {path}: a face names a vertex that is not there")
    return vertices, faces


def _read_other(path: Path) -> tuple[Array, Index]:
    try:
        import trimesh
    except ImportError as error:
        raise AccordError(f"{path.name} needs {error.name}; run: pip install trimesh") from None
    logging.getLogger("trimesh").setLevel(logging.CRITICAL)  # it logs tracebacks
    mesh = trimesh.load_mesh(path, process=False)
    return np.array(mesh.vertices, float), np.array(mesh.faces, np.int64)


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


def local_files(urdf: str) -> str:
    """Return a URDF whose meshes are named by file, for those who do not know packages.

    `package://PKG/PATH` becomes `file://` and the path of that file. What is recorded and published
    keeps the names by package, which mean the same on every machine.

    Raises:
        AccordError: for a package that is not installed, or a file that is not there.
    """
    if PACKAGE not in urdf:
        return urdf
    root = ET.fromstring(urdf)
    for mesh in root.iter("mesh"):
        name = mesh.get("filename", "")
        if not name.startswith(PACKAGE):
            continue
        if not name.removeprefix(PACKAGE).partition("/")[0].isidentifier():
            raise AccordError(f"the description names mesh {name}, which is in no package")
        mesh.set("filename", f"{FILE}{mesh_path(name)}")
    return ET.tostring(root, encoding="unicode")
