"""Links as solid bodies: mass, centre and inertia, together with the hull of their shapes.

`bodies` yields a `Solid` for each link of a file whose mass, inertia and shapes are all known;
plausible.py judges whether its mass properties can be those of its shapes. The hull approximates
the convex hull of the visual and collision shapes: a net of triangles over the sphere of
directions, each corner of which is the farthest point in its direction. Its volume is 0 to 4 % less
than qhull's on public robots. A link with an unknown shape, or smaller than TINY, is not judged.
test_plausible.py compares the hull's moments with closed forms.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.solids import Geometry, read_geometry
from roboaccord.numerics.rotations import rpy_matrix

from roboaccord_files.repair.extents import DIRECTIONS, extremes, farthest, mesh_extent
from roboaccord_files.repair.inertial import read_inertial
from roboaccord_files.rules.source import TINY, Source

# Cells along an edge of the cube that is projected to the sphere to make the net. They are 7.5
# degrees wide, so the net is 1 - cos(3.75 degrees) = 0.2 % inside it.
CELLS = 12
CORNERS = np.array(list(product((-0.5, 0.5), repeat=3)))  # of a box of 1 m
# 64 points of a circle of 1 m, which the polygon misses by 1 - cos(pi / 64) = 0.12 %.
RING = np.array([(math.cos(turn), math.sin(turn), 0.0) for turn in np.arange(64) * math.pi / 32.0])


def _net() -> tuple[Array, Array]:
    """Return directions (n, 3), and triangles of them (m, 3) that close the sphere, outwards."""
    # One face of the cube: its points, and two triangles for each cell between four of them.
    steps = np.tan(0.25 * math.pi * np.linspace(-1.0, 1.0, CELLS + 1))
    face = np.array([(1.0, u, v) for u in steps for v in steps])
    numbers = np.arange(len(face)).reshape(CELLS + 1, CELLS + 1)
    first, second = numbers[:-1, :-1], numbers[1:, :-1]
    third, fourth = numbers[1:, 1:], numbers[:-1, 1:]
    halves = np.array([[first, second, third], [first, third, fourth]])
    triangles = halves.transpose(0, 2, 3, 1).reshape(-1, 3)
    # All six faces; every other one is a mirror image, whose triangles have the reverse order.
    faces = [np.roll(face, axis, axis=1) * sign for axis in range(3) for sign in (1.0, -1.0)]
    oriented = [len(face) * i + triangles[:, :: (-1) ** i] for i in range(6)]
    return np.concatenate(faces), np.concatenate(oriented)


NET, TRIANGLES = _net()


@dataclass(frozen=True)
class Solid:
    """A link that has a mass and known shapes, in its own frame.

    Args:
        link, inertial: its elements in the URDF.
        mass: mass [kg].
        centre: centre of mass (3,) [m].
        inertia: inertia about the centre of mass (3, 3) [kg m^2].
        points: extreme points of its shapes (k, 3) [m].
        volume: sum of the volumes of its visual shapes [m^3]; nan if unknown.
    """

    link: ET.Element
    inertial: ET.Element
    mass: float
    centre: Array
    inertia: Array
    points: Array
    volume: float

    @cached_property
    def reach(self) -> Array:
        """Distances from the centre of mass to the hull in DIRECTIONS [m]; negative if outside."""
        return np.asarray((DIRECTIONS @ self.points.T).max(axis=1) - DIRECTIONS @ self.centre)

    @cached_property
    def size(self) -> float:
        """The diagonal of the box around the hull [m]."""
        return float(np.linalg.norm(np.ptp(self.points, axis=0)))

    @cached_property
    def spread(self) -> Array:
        """Second moments of the mass about its centre, over the mass (3, 3) [m^2]."""
        half = 0.5 * np.trace(self.inertia) * np.eye(3)
        return np.asarray((half - self.inertia) / self.mass)

    @cached_property
    def hull(self) -> tuple[float, Array]:
        """Volume of the hull [m^3], and second moments about its centroid over it (3, 3) [m^2].

        The sums are over tetrahedra from the middle to each triangle, with six times the volume det
        and corners c1, c2, c3: the integral of x x^T is det / 120 (sum_i c_i c_i^T + s s^T), with
        s = c1 + c2 + c3.
        """
        relative = self.points - self.points.mean(axis=0)
        corners = relative[farthest(relative, NET)][TRIANGLES]
        dets, sums = np.linalg.det(corners), corners.sum(axis=1)
        volume = float(dets.sum()) / 6.0
        centroid = dets @ sums / 24.0 / volume
        moments = np.einsum("m,mki,mkj->ij", dets, corners, corners) + (sums.T * dets) @ sums
        return volume, np.asarray(moments / 120.0 / volume - np.outer(centroid, centroid))


def bodies(source: Source) -> Iterator[Solid]:
    """Yield the links whose mass, inertia and shapes are all known."""
    for link in source.links.values():
        inertial = link.find("inertial")
        if inertial is None:
            continue
        try:
            mass, tensor = read_inertial(inertial, missing="nan")
            origin = inertial.find("origin")
            pose = {} if origin is None else origin.attrib
            centre = np.array(pose.get("xyz", "0 0 0").split(), float)
            rotation = rpy_matrix(*map(float, pose.get("rpy", "0 0 0").split()))
            visual = [shape_points(source, read_geometry(e)) for e in link.findall("visual")]
            collision = [shape_points(source, read_geometry(e)) for e in link.findall("collision")]
        except (ValueError, TypeError):
            continue
        shapes = [*visual, *collision]
        is_finite = np.isfinite([mass, *tensor.flat, *centre, *rotation.flat]).all()
        is_known = bool(shapes) and all(len(points) for points, _ in shapes)
        if not is_finite or mass <= 0.0 or not is_known:
            continue
        points = extremes(np.concatenate([points for points, _ in shapes]))
        volumes = [volume for _, volume in visual or shapes]
        inertia = rotation @ tensor @ rotation.T
        body = Solid(link, inertial, mass, centre, inertia, points, sum(volumes))
        if body.size >= 2.0 * TINY:
            yield body


def shape_points(source: Source, shape: Geometry) -> tuple[Array, float]:
    """Return extreme points of a shape (k, 3) [m], none if it is unknown, and its volume [m^3]."""
    radius, length = shape.radius, shape.length
    if shape.form == "box":
        return shape.placed(CORNERS * shape.size), float(np.prod(shape.size))
    if shape.form in ("sphere", "capsule", "cylinder"):
        has_flat_ends = shape.form == "cylinder"
        surface = radius * (RING if has_flat_ends else DIRECTIONS)
        points = np.concatenate([surface + end for end in CORNERS[:2] * (0.0, 0.0, length)])
        volume = math.pi * radius**2 * (length + (0.0 if has_flat_ends else 4.0 / 3.0 * radius))
        return shape.placed(points), volume
    path = source.file.find(shape.file)
    extent = mesh_extent(path) if path else None
    if extent is None:
        return np.zeros((0, 3)), np.nan
    volume = extent.volume * abs(float(np.prod(shape.scale)))
    return shape.placed(extent.extremes * shape.scale), volume
