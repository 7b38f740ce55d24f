"""Files of meshes: where a description's `package://` name lies, and what is in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from roboaccord.contact import Index
from roboaccord.errors import AccordError
from roboaccord.resources import share
from roboaccord.state import Array

PACKAGE, FILE = "package://", "file://"


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
    if not path.is_file():
        raise AccordError(f"no mesh {name}")
    return path


def read_mesh(path: Path) -> tuple[Array, Index]:
    """Return vertices (v, 3) [m] and triangles (f, 3) of a file, OBJ or STL say.

    Raises:
        AccordError: if it cannot be read, or has no triangles in it.
    """
    try:
        import trimesh
    except ImportError as error:
        raise AccordError(f"meshes need {error.name}; run: pip install trimesh") from None
    try:
        mesh = trimesh.load_mesh(path, process=False)
        vertices, faces = np.array(mesh.vertices, float), np.array(mesh.faces, np.int64)
    except Exception as error:  # noqa: BLE001 - trimesh raises whatever its readers do
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise AccordError(f"cannot read {path}: {reason}") from None
    if not len(faces) or not np.isfinite(vertices).all():
        raise AccordError(f"cannot read {path}: it holds no triangles")
    return vertices, faces
