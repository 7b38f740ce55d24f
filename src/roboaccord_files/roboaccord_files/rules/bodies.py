"""Links as bodies: mass, centre and inertia beside the hull of what is drawn and touched.

A shape may be added: a case of `shape_points`. A link with a shape that is not known, or smaller
than TINY, is no body here, and no rule of plausible.py speaks of it. The hull is that of
half-spaces whose normals are DIRECTIONS and the principal axes: never less than the true one but
for the corners that `extremes` leaves out (1 % of a sphere). test_plausible.py compares its moments
with closed forms.
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
from roboaccord.description.tree import symmetric
from roboaccord.numerics.rotations import rpy_matrix

from roboaccord_files.repair.extents import DIRECTIONS, extremes, mesh_extent
from roboaccord_files.repair.inertial import AXES
from roboaccord_files.rules.source import TINY, Source

RAYS = 600
_HEIGHTS, _TURNS = 1.0 - (2.0 * np.arange(RAYS) + 1.0) / RAYS, 2.399963229728653 * np.arange(RAYS)
_ROUND = np.sqrt(1.0 - _HEIGHTS**2)
SPHERE = np.column_stack([_ROUND * np.cos(_TURNS), _ROUND * np.sin(_TURNS), _HEIGHTS])
"""Directions spread evenly (RAYS, 3)."""
CORNERS = np.array(list(product((-0.5, 0.5), repeat=3)))


@dataclass(frozen=True)
class Solid:
    """Hold a link that has a mass and known shapes, in its own frame.

    Args:
        link, inertial: its elements.
        mass: [kg].
        centre: of mass (3,) [m].
        inertia: about the centre of mass (3, 3) [kg m^2].
        points: extreme points of its shapes (k, 3) [m].
        volume: of its drawn shapes, as if they did not overlap [m^3]; nan where unknown.
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
        """How far the hull reaches beyond the centre of mass in each of DIRECTIONS [m]."""
        return np.asarray((DIRECTIONS @ self.points.T).max(axis=1) - DIRECTIONS @ self.centre)

    @cached_property
    def size(self) -> float:
        """The diagonal of the box around the hull [m]."""
        return float(np.linalg.norm(np.ptp(self.points, axis=0)))

    @cached_property
    def spread(self) -> Array:
        """The second moments of its mass about the centre of mass, by its mass (3, 3) [m^2]."""
        half = 0.5 * np.trace(self.inertia) * np.eye(3)
        return np.asarray((half - self.inertia) / self.mass)

    @cached_property
    def hull(self) -> tuple[float, Array]:
        """Volume of the hull [m^3], and second moments about its centroid by volume (3, 3)."""
        middle = self.points.mean(axis=0)
        seen = self.points - middle
        along = np.linalg.svd(seen, full_matrices=False)[2]  # of a box that is turned, its sides
        normals = np.concatenate([DIRECTIONS, along, -along])
        above, spokes = (normals @ seen.T).max(axis=1), SPHERE @ normals.T
        with np.errstate(divide="ignore"):
            rays = np.where(spokes > 1e-9, above / spokes, np.inf).min(axis=1)
        volume = 4.0 / 3.0 * math.pi * float(np.mean(rays**3))
        centroid = math.pi * np.mean(rays[:, None] ** 4 * SPHERE, axis=0) / volume
        about = 0.8 * math.pi * (SPHERE.T * rays**5) @ SPHERE / RAYS / volume
        return volume, about - np.outer(centroid, centroid)


def bodies(source: Source) -> Iterator[Solid]:
    """Yield the links whose mass, inertia and shapes are all known."""
    for link in source.links.values():
        inertial = link.find("inertial")
        if inertial is None:
            continue
        try:
            mass = float(_number(inertial, "mass", "value"))
            moments = [float(_number(inertial, "inertia", key)) for key in AXES]
            origin = inertial.find("origin")
            place, turn = ((origin.get(k, "0 0 0") if origin is not None else "0 0 0").split()
                           for k in ("xyz", "rpy"))  # fmt: skip
            centre, rotation = np.array(place, float), rpy_matrix(*map(float, turn))
            shapes = {tag: [shape_points(source, read_geometry(each)) for each in link.findall(tag)]
                      for tag in ("visual", "collision")}  # fmt: skip
        except (ValueError, TypeError):
            continue
        every = [found for each in shapes.values() for found in each]
        known = np.isfinite([mass, *moments, *centre, *rotation.flat]).all()
        if not known or mass <= 0.0 or not every or any(not len(points) for points, _ in every):
            continue
        points = extremes(np.concatenate([points for points, _ in every]))
        volumes = [volume for _, volume in shapes["visual"] or every]
        inertia = rotation @ symmetric(moments) @ rotation.T
        body = Solid(link, inertial, mass, centre, inertia, points, sum(volumes))
        if body.size >= 2.0 * TINY:
            yield body


def _number(inertial: ET.Element, tag: str, key: str) -> str:
    element = inertial.find(tag)
    return "" if element is None else element.get(key, "")


def shape_points(source: Source, shape: Geometry) -> tuple[Array, float]:
    """Return extreme points of a shape (k, 3) [m], none if it is not known, and its volume."""
    radius, length = shape.radius, shape.length
    if shape.form == "box":
        return shape.placed(CORNERS * shape.size), float(np.prod(shape.size))
    if shape.form in ("sphere", "capsule"):
        ends = 0.5 * length * np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
        points = np.concatenate([radius * DIRECTIONS + end for end in ends])
        volume = math.pi * radius**2 * (4.0 / 3.0 * radius + length)
        return shape.placed(points), volume
    if shape.form == "cylinder":
        angles = np.arange(0.0, 2.0 * math.pi, math.pi / 32.0)
        ring = np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles]) * radius
        ends = np.array([[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]])
        points = np.concatenate([ring + end for end in ends])
        return shape.placed(points), math.pi * radius**2 * length
    path = source.file.find(shape.file)
    extent = mesh_extent(path) if path else None
    if extent is None:
        return np.zeros((0, 3)), np.nan
    volume = extent.volume * abs(float(np.prod(shape.scale)))
    return shape.placed(extent.extremes * shape.scale), volume
