"""Measure the extent of a mesh from its vertices alone: STL, OBJ and DAE (COLLADA).

`mesh_extent` takes a file and returns an `Extent`: how far the mesh reaches from its origin, its
extreme points, and its volume. meshes.py and the rules of `accord check` use it. The three formats
are read here, without a library and fast, since checking a file may read dozens of meshes; small
files of other formats go through `read_mesh` of the core. A mesh that cannot be read, or that would
take long, has no extent (None), and no rule judges it. A format is added as a case of `_points`;
test_extents.py tests meshes of known size.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from roboaccord.contract import AccordError, Array, read_bytes
from roboaccord.description.meshes import read_mesh
from roboaccord.numerics.rotations import axis_angle_matrix

# A triangle of a binary STL, whose layout is fixed.
STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
# Bytes at the start of a binary STL; the last 4 are the number of triangles (80 of a title before).
STL_HEADER = 84
MAX_TEXT = 10_000_000  # bytes; larger texts are not read: this size takes 0.2 s
MAX_OTHER = 1_000_000  # bytes; larger files of other formats are not read: this takes as long
# Coordinates of a point in a text of STL, and of OBJ; arrays and indices of COLLADA (DAE).
STL_CORNER = re.compile(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)")
OBJ_POINT = re.compile(rb"^v\s+(\S+)\s+(\S+)\s+(\S+)", re.MULTILINE)
DAE_ARRAY = re.compile(rb"(<float_array\b[^>]*\bid=[\"']([^\"']+)[\"'][^>]*>)([^<]*)")
DAE_INDICES = re.compile(rb"<(p|vcount|v)>[^<]*<")
# Number of points above which a mesh is thinned to the farthest point in each cell of directions:
# 2,000 and 4,000 points take 0.5 and 1 ms either way, 8,000 take 25 ms, and 2 ms if they are
# thinned.
MAX_UNTHINNED = 4000
# Number of these cells from 0 to 1 along an axis. 8 leave some 1100 cells, four times as many as
# DIRECTIONS.
CELLS_PER_UNIT = 8
# Directions from the middle of a 7 x 7 x 7 lattice to its points, each direction once. No direction
# is more than 12.6 degrees from one of them, so no extent is more than 2.4 % short.
LATTICE = [d for d in product(range(-3, 4), repeat=3) if math.gcd(*d) == 1]
DIRECTIONS = np.array([np.divide(d, math.hypot(*d)) for d in LATTICE])  # (290, 3)
DAE_NAMESPACE = re.compile(rb"\sxmlns=[\"'][^\"']*[\"']")


class Extent(NamedTuple):
    """The extent of a mesh.

    Args:
        coordinate: largest coordinate of a point [m].
        distance: largest distance of a point from the origin [m].
        extremes: points that are farthest in some direction of DIRECTIONS (k, 3) [m].
        volume: enclosed by its triangles [m^3]; nan if these are not read.
    """

    coordinate: float
    distance: float
    extremes: Array
    volume: float


def mesh_extent(path: Path) -> Extent | None:
    """Return the extent of a mesh; None if the file cannot be read, or is too large."""
    status = path.stat()
    return _extent(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=1024)
def _extent(path: Path, size: int, _changed: int) -> Extent | None:
    """Return the extent of a file of a size [bytes]; another time of change is another key."""
    points = None
    with suppress(AccordError, OSError, ET.ParseError, ValueError, KeyError, RecursionError):
        points = _points(path, size)
    if points is None or not len(points) or not np.isfinite(points).all():
        return None
    distance, volume = np.linalg.norm(points, axis=1).max(), np.nan
    if path.suffix.lower() == ".stl":
        volume = float(np.linalg.det((points - points.mean(axis=0)).reshape(-1, 3, 3)).sum() / 6.0)
    return Extent(float(np.abs(points).max()), float(distance), extremes(points), abs(volume))


def extremes(points: Array) -> Array:
    """Return the points (k, 3), of (n, 3), that are farthest in some direction of DIRECTIONS.

    Of more than MAX_UNTHINNED points only those are compared that are farthest from the middle in
    their cell of directions.
    """
    if len(points) > MAX_UNTHINNED:
        # Offsets from the middle, in units of the box around the points; their directions in cells.
        middle = 0.5 * (points.max(axis=0) + points.min(axis=0))
        offsets = (points - middle) / (np.ptp(points, axis=0) + 1e-12)
        distances = np.sqrt(np.einsum("ij,ij->i", offsets, offsets)) + 1e-12
        x, y, z = (CELLS_PER_UNIT * (1.0 + offsets / distances[:, None])).astype(np.int64).T
        # Points are entered in the order of their distance, so the farthest one of a cell remains.
        order = np.argsort(distances)
        cells = 2 * CELLS_PER_UNIT + 1  # along an axis, from -1 to 1
        in_cell = np.full(cells**3, -1)
        in_cell[((cells * x + y) * cells + z)[order]] = order
        points = points[in_cell[in_cell >= 0]]
    return np.asarray(points[np.unique(farthest(points, DIRECTIONS))])


def farthest(points: Array, directions: Array) -> Array:
    """Return the index of the point (n, 3) that is farthest in each of the directions (k, 3).

    By einsum, and not by BLAS, whose threads take 15 ms of processor time for 0.5 ms of work.
    """
    along = np.einsum("ji,jk->ik", directions.T.copy(), points.T.copy())
    return np.asarray(along.argmax(axis=1))


def _points(path: Path, size: int) -> Array | None:
    """Return the points of a mesh file (v, 3) [m]; None if it is too large."""
    kind = path.suffix.lower()
    if kind == ".stl":
        with path.open("rb") as file:
            count = int.from_bytes(file.read(STL_HEADER)[-4:], "little")
        if size == STL_HEADER + STL_TRIANGLE.itemsize * count:
            corners = np.fromfile(path, STL_TRIANGLE, offset=STL_HEADER)["corners"]
            return np.asarray(corners.reshape(-1, 3), float)
    if kind in (".stl", ".obj", ".dae"):
        if size > MAX_TEXT:
            return None
        data = read_bytes(path, MAX_TEXT)
        if kind == ".dae":
            return _of_dae(data)
        pattern = STL_CORNER if kind == ".stl" else OBJ_POINT
        return np.array(pattern.findall(data)).astype(float).reshape(-1, 3)
    return read_mesh(path)[0] if size < MAX_OTHER else None


def _of_dae(data: bytes) -> Array | None:
    """Return the points (v, 3) of a COLLADA scene in its axes [m]."""
    arrays = dict[str, bytes]()  # texts of numbers by the id of their element

    def cut_out(match: re.Match[bytes]) -> bytes:
        """Store the numbers of an array, and return its start tag alone."""
        arrays[match[2].decode()] = match[3]
        return match[1]

    # Numbers and indices are cut out by regular expressions, so that little XML is left to parse.
    bare = DAE_INDICES.sub(rb"<\1><", DAE_ARRAY.sub(cut_out, data))
    top = ET.fromstring(DAE_NAMESPACE.sub(b"", bare, count=1))
    unit = top.find("asset/unit")
    meter = float(unit.get("meter", "1")) if unit is not None else 1.0
    shapes = {f"#{e.get('id')}": _of_geometry(e, arrays) for e in top.iter("geometry")}
    placed = list[Array]()
    for node in top.iterfind("library_visual_scenes/visual_scene/node"):
        placed += _of_node(node, np.eye(4), shapes)
    scene = placed or list(shapes.values())
    return meter * np.concatenate(scene) if scene else None


def _of_geometry(geometry: ET.Element, arrays: Mapping[str, bytes]) -> Array:
    """Return the points (v, 3) of a geometry, whose numbers are in `arrays` by id."""
    for vertices in geometry.iterfind("mesh/vertices/input[@semantic='POSITION']"):
        for source in geometry.iterfind(f"mesh/source[@id='{vertices.get('source', '')[1:]}']"):
            array, accessor = source.find("float_array"), source.find("*/accessor")
            stride = int(accessor.get("stride", "1")) if accessor is not None else 3
            if array is not None:
                values = np.array(arrays[array.get("id", "")].split(), float)
                return np.asarray(values.reshape(-1, stride)[:, :3])
    return np.zeros((0, 3))


def _of_node(node: ET.Element, pose: Array, shapes: Mapping[str, Array]) -> Iterator[Array]:
    """Yield the points (v, 3) of a node and of those below, in the scene's axes."""
    for child in node:
        if child.tag in ("matrix", "translate", "rotate", "scale"):
            pose = pose @ _transform(child.tag, np.array((child.text or "").split(), float))
        elif child.tag == "instance_geometry":
            points = shapes[child.get("url", "")]
            yield points @ pose[:3, :3].T + pose[:3, 3]
        elif child.tag == "node":
            yield from _of_node(child, pose, shapes)


def _transform(kind: str, values: Array) -> Array:
    """Return the matrix (4, 4) of a transformation of COLLADA."""
    if kind == "matrix":
        return values.reshape(4, 4)
    matrix = np.eye(4)
    if kind == "translate":
        matrix[:3, 3] = values
    elif kind == "scale":
        matrix[:3, :3] = np.diag(values)
    else:
        matrix[:3, :3] = axis_angle_matrix(values[:3], np.radians(values[3]))
    return matrix
