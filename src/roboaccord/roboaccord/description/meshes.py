"""Files of meshes: found by the `package://` names of descriptions, and read with limits.

`mesh_path` finds the file of a name, `read_mesh` and `read_parts` read it: OBJ without a library,
other formats by trimesh, in bounded memory, because a file may come from a stranger. `local_files`
replaces names by paths for engines that do not know ROS packages.

A format that trimesh reads from a single file may be added to FORMATS, but no archive, whose size
is unknown before it is unpacked. Two borders stay: a mesh that a bag names is read only if a
package ships it (`ships`, test_bag_is_data), and files next to it only through
`_neighbour_resolver`.
"""

from __future__ import annotations

import logging
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from roboaccord.contract import AccordError, Array, Index
from roboaccord.contract.files import LARGEST, check_file, is_file, read_text
from roboaccord.description.resources import folders_of, share
from roboaccord.numerics.machine import memory_limit

if TYPE_CHECKING:
    from trimesh import Trimesh

PACKAGE, MODEL, FILE = "package://", "model://", "file://"
# Bytes of memory that reading may take: twice that of a xacro (xacro_file.py), because a line may
# ask for millions of vertices, of some 100 bytes each.
MOST_MEMORY = 4 << 30
# Largest number of colours of a mesh, each of which becomes a mesh of its own in a page; exports of
# CAD have a few. With more, such as one for each vertex, their mean is used.
MOST_COLOURS = 16
FORMATS = (".obj", ".stl", ".dae", ".ply", ".off", ".glb", ".gltf")  # endings; none is an archive
# A mesh in one colour: vertices (v, 3) [m], triangles (f, 3), and red, green and blue (3,) in 0..1,
# or None.
MeshPart = tuple[Array, Index, Array | None]


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


def ships(name: str) -> bool:
    """Return whether a name can only be that of a mesh in an installed package."""
    path = name.removeprefix(PACKAGE).removeprefix(FILE)
    shares = [top / "share" for top in (*folders_of("AMENT_PREFIX_PATH"), Path(sys.prefix))]
    in_share = name.startswith(PACKAGE) or any(Path(path).is_relative_to(top) for top in shares)
    return in_share and ".." not in Path(path).parts and "//" not in path


def read_mesh(path: Path) -> tuple[Array, Index]:
    """Return vertices (v, 3) [m] and triangles (f, 3) of a file.

    OBJ is read here, so that it needs no library; trimesh reads STL and other forms.

    Raises:
        AccordError: if it cannot be read, or has no triangles in it.
    """
    ((vertices, faces, _),) = _checked(path, _read_one_part)
    return vertices, faces


def read_parts(path: Path) -> list[MeshPart]:
    """Return the parts of a file's mesh, each of one colour, or of None if the file has none.

    The colour is that of the material; of a texture it is the mean.

    Raises:
        AccordError: as `read_mesh` does.
    """
    return _checked(path, _read_parts)


def _checked(path: Path, read: Callable[[Path], list[MeshPart]]) -> list[MeshPart]:
    """Return the parts that a function reads from a file; errors as of `read_mesh`."""
    if path.suffix.lower() not in FORMATS:
        raise AccordError(f"cannot read {path}: a mesh is one of {', '.join(FORMATS)}")
    check_file(path)
    try:
        with memory_limit(MOST_MEMORY):
            parts = read(path)
    except AccordError:
        raise
    except Exception as error:  # noqa: BLE001 - trimesh raises whatever its readers do
        message = getattr(error, "strerror", None) or str(error)
        reason = (message.splitlines() or [type(error).__name__])[0]
        raise AccordError(f"cannot read {path}: {reason}") from None
    if not any(len(faces) for _, faces, _ in parts):
        raise AccordError(f"cannot read {path}: it holds no triangles")
    for vertices, faces, _ in parts:
        if not np.isfinite(vertices).all():
            raise AccordError(f"cannot read {path}: a vertex is not finite")
        if len(faces) and (faces.min() < 0 or faces.max() >= len(vertices)):
            raise AccordError(f"cannot read {path}: a face names a vertex that is not there")
    return parts


def _read_one_part(path: Path) -> list[MeshPart]:
    """Return a file's mesh as one part without a colour."""
    if path.suffix.lower() == ".obj":
        return [(*_read_obj(path), None)]
    mesh = _trimesh(path).load_mesh(path, process=False, resolver=_neighbour_resolver(path))
    return [(np.array(mesh.vertices, float), np.array(mesh.faces, np.int64), None)]


def _read_parts(path: Path) -> list[MeshPart]:
    """Return a file's parts in one frame, as `read_parts` does, unchecked."""
    if path.suffix.lower() == ".obj" and "\nmtllib " not in f"\n{read_text(path, LARGEST)}":
        return _read_one_part(path)
    # `process` joins vertices: in STL each triangle has its own.
    scene = _trimesh(path).load_scene(path, process=True, resolver=_neighbour_resolver(path))
    parts = list[MeshPart]()
    for node in scene.graph.nodes_geometry:
        pose, name = scene.graph[node]
        mesh = scene.geometry[name]
        vertices = np.array(mesh.vertices, float) @ pose[:3, :3].T + pose[:3, 3]
        for triangles, colour in _triangles_by_colour(mesh):
            indices, corners = np.unique(triangles, return_inverse=True)
            parts.append((vertices[indices], corners.reshape(-1, 3), colour))
    return parts


def _triangles_by_colour(mesh: Trimesh) -> Iterator[tuple[Index, Array | None]]:
    """Yield, for each colour of a mesh of trimesh, its triangles (f, 3) and the colour (3,)."""
    faces = np.array(mesh.faces, np.int64)
    visual: Any = mesh.visual
    if not visual.defined:
        yield faces, None
        return
    if visual.kind == "texture":
        material = visual.material
        textured = getattr(material, "image", getattr(material, "baseColorTexture", None))
        has_no_texture = textured is None or visual.uv is None
        shades = [material.main_color] if has_no_texture else visual.to_color().vertex_colors
        colours = np.mean(shades, axis=0)[None, :3] / 255.0
        index = np.zeros(len(faces), dtype=np.int64)
    else:
        colours, index = np.unique(visual.face_colors[:, :3] / 255.0, axis=0, return_inverse=True)
        if len(colours) > MOST_COLOURS:  # one for all: their mean
            colours, index = colours[index.ravel()].mean(axis=0)[None], 0 * index
    for i, colour in enumerate(colours):
        yield faces[index.ravel() == i], colour


def _trimesh(path: Path) -> Any:
    """Return trimesh.

    Raises:
        AccordError: if it is not installed.
    """
    try:
        import trimesh
    except ImportError as error:
        raise AccordError(f"{path.name} needs {error.name}; run: pip install trimesh") from None
    logging.getLogger("trimesh").setLevel(logging.CRITICAL)  # it logs tracebacks
    return trimesh


def _neighbour_resolver(path: Path) -> Any:
    """Return a resolver that gives trimesh textures and buffers, from files of bounded size."""
    resolver = _trimesh(path).resolvers.FilePathResolver(str(path))
    read = resolver.get

    def get(name: str) -> bytes:
        """Return the content of a file by its name, after a check of its size."""
        for word in (name.strip(), name.strip().lstrip("/"), Path(name).name):
            if (neighbour := path.parent / word).exists():
                check_file(neighbour)
        return bytes(read(name))

    resolver.get = get
    return resolver


def _read_obj(path: Path) -> tuple[Array, Index]:
    """Return vertices and triangles of an OBJ file; polygons are cut into fans of triangles."""
    points, faces = list[list[float]](), list[list[int]]()
    for line in read_text(path, LARGEST).splitlines():
        keyword, *fields = line.split() or [""]
        if keyword == "v":
            points.append([float(number) for number in fields[:3]])
        elif keyword == "f":
            numbers = [int(corner.partition("/")[0]) for corner in fields]
            corners = [i - 1 if i > 0 else len(points) + i for i in numbers]
            faces += [[corners[0], *pair] for pair in pairwise(corners[1:])]
    return np.array(points).reshape(-1, 3), np.array(faces, dtype=np.int64).reshape(-1, 3)


def local_files(urdf: str) -> str:
    """Return a URDF whose meshes are named by file, for readers that do not resolve packages.

    `package://PKG/PATH` becomes `file://` and the path of that file. Records and topics
    keep the names by package, which mean the same on every machine.

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
