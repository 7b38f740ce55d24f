"""Rasterises faces with a depth buffer, at a multiple of the picture's resolution.

A depth buffer keeps for each pixel the nearest face so far and its depth. 1 / depth of a plane is
affine in the picture's coordinates, so it is exact at each pixel. Faces are seen from both sides,
because meshes need not be closed. `_fill` is compiled, for it takes most of a film's time; `Canvas`
keeps its result and mixes it into a picture, as means of 3 x 3 samples per pixel.

AMBIENT_LIGHT, TO_LIGHT and OVERSAMPLING may be changed. test_view.py compares pixels with geometry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract import Array, Index
from roboaccord.description import Shape, Surface
from roboaccord.numerics import kernel
from roboaccord.scenario import Camera

# Fraction of the light that comes from all around. By eye: faces in the shade keep their colour,
# and edges are seen.
AMBIENT_LIGHT = 0.62
# Unit vector towards the light, at the upper left behind the camera (stance.AZIMUTH), 53 degrees
# high, as is usual in drawings.
TO_LIGHT = np.array([-0.45, -0.6, 1.0]) / np.linalg.norm([-0.45, -0.6, 1.0])
# Samples of a pixel in each direction, 9 in all. 4 would be 1.8 times as many, and 2 leave steps at
# edges.
OVERSAMPLING = 3
# m; faces nearer to the camera are not drawn: a tenth of stance.MIN_DISTANCE, so none is left
# out; it prevents a division by 0.
MIN_DEPTH = 1e-3
# Ratio of depths from which on a point is hidden by a face (as ground.PATH_DEPTH_RATIO).
HIDDEN_DEPTH_RATIO = 1.02
EMPTY_BOX = np.zeros(4, dtype=np.int64)  # box (left, top, right, bottom) without pixels

# Red, green and blue (height, width, 3).
Picture = NDArray[np.uint8]

# 1 / depth (height, width) [1/m]; 0 is infinitely far.
Depths = NDArray[np.float32]


@dataclass(frozen=True)
class Mesh:
    """Faces that are convex polygons.

    Args:
        points: positions of the vertices (v, 3) [m].
        corners: indices of the polygons' vertices, polygon after polygon (c,).
        starts: where each polygon begins in `corners`, and the end of the last one (f + 1,).
        colours: colours of the polygons (f, 3), 0 to 1.
    """

    points: Array
    corners: Index
    starts: Index
    colours: Array

    @classmethod
    def join(cls, solids: Sequence[Shape | Surface]) -> Mesh:
        """Return the faces of all solids as one mesh."""
        counts = list[int]()  # corners of each face
        corners = list[Index]()
        first = 0  # index of the solid's first vertex among all
        for solid in solids:
            counts += [len(face) for face in solid.faces]
            corners.append(np.fromiter(chain.from_iterable(solid.faces), dtype=np.int64) + first)
            first += len(solid.vertices)
        points = np.concatenate([solid.vertices for solid in solids]).astype(float)
        colours = np.concatenate([np.tile(s.colour, (len(s.faces), 1)) for s in solids])
        return cls(points, np.concatenate(corners), np.cumsum([0, *counts]), colours.astype(float))

    def at(self, points: Array) -> Mesh:
        """Return the mesh with its points at (v, 3) [m]."""
        return replace(self, points=np.ascontiguousarray(points))


class Canvas:
    """The face that is seen in each pixel, and its depth.

    Args:
        camera: camera of the picture, with the size of the canvas.
        hidden: 1 / depth of what is drawn already, which hides faces behind it [1/m].

    Attributes:
        depths: 1 / depth of each pixel (height, width) [1/m].
        owner: index of the face of each pixel (height, width); -1 for no face.
        paint: colour of each face (f, 3), 0 to 255.
        box: left, top, right and bottom of the pixels that the last mesh has touched.
    """

    def __init__(self, camera: Camera, hidden: Depths | None = None) -> None:
        size = camera.height, camera.width
        self.camera = camera
        self.hidden = np.zeros(size, np.float32) if hidden is None else hidden
        self.depths = self.hidden.copy()
        self.owner = np.full(size, -1, dtype=np.int32)
        self.paint = np.zeros((0, 3), dtype=np.uint8)
        self.box = EMPTY_BOX

    def draw(self, mesh: Mesh) -> None:
        """Clear the canvas, and draw a mesh."""
        camera = self.camera
        left, top, right, bottom = self.box
        self.owner[top:bottom, left:right] = -1
        self.depths[top:bottom, left:right] = self.hidden[top:bottom, left:right]
        points = np.ascontiguousarray(camera.local(mesh.points))
        lens = np.array([camera.focal, 0.5 * camera.width, 0.5 * camera.height])
        light = camera.axes @ TO_LIGHT
        self.box, shades = _fill(
            points, mesh.corners, mesh.starts, lens, light, self.depths, self.owner
        )
        shades = AMBIENT_LIGHT + (1.0 - AMBIENT_LIGHT) * shades
        self.paint = np.clip(255.0 * mesh.colours * shades[:, None], 0, 255).astype(np.uint8)

    def lay_over(self, picture: Picture) -> None:
        """Mix the means over squares of OVERSAMPLING pixels into a picture, by their cover."""
        n = OVERSAMPLING
        # The touched box in pixels of the picture, rounded outwards.
        left, top = self.box[:2] // n
        right, bottom = -(-self.box[2:] // n)
        owner = self.owner[n * top : n * bottom, n * left : n * right]
        # Colours of the faces; the fourth column counts samples without a face (index -1).
        paint = np.zeros((len(self.paint) + 1, 4), dtype=np.uint16)
        paint[:-1, :3] = self.paint
        paint[-1, 3] = 1
        sums = np.zeros((bottom - top, right - left, 4), dtype=np.uint16)
        for row, column in np.ndindex(n, n):
            sums += paint[owner[row::n, column::n]]
        # Mean of the samples' colours; samples without a face have the picture's.
        touched = picture[top:bottom, left:right]
        touched[:] = (sums[..., :3] + sums[..., 3:] * touched) // (n * n)


def finer(camera: Camera) -> Camera:
    """Return the same view in `OVERSAMPLING` times as many pixels in each direction."""
    width, height = camera.width * OVERSAMPLING, camera.height * OVERSAMPLING
    return replace(camera, focal=camera.focal * OVERSAMPLING, width=width, height=height)


def count_hidden(camera: Camera, mesh: Mesh, points: Array) -> int:
    """Return the number of points (m, 3) [m] that a mesh hides."""
    canvas = Canvas(camera)
    canvas.draw(mesh)
    last = np.array([camera.width, camera.height]) - 1
    x, y = np.clip(camera.project(points), 0, last).astype(int).T
    return int((canvas.depths[y, x] * camera.local(points)[:, 2] > HIDDEN_DEPTH_RATIO).sum())


@kernel
def _fill(seen, corners, starts, lens, light, depths, owner):
    """Fill the pixels of all faces where they are nearest.

    Args:
        seen: points in the camera's axes (v, 3) [m].
        corners, starts: vertices of the faces, see `Mesh`.
        lens: focal length and middle of the picture [pixels].
        light: direction to the light in the camera's axes (3,).
        depths, owner: 1 / depth [1/m] and face of each pixel (height, width); they are changed.

    Returns:
        left, top, right and bottom of the pixels that were touched, all 0 if none was; and the
        fraction of the directed light on each face (f,).
    """
    height, width = depths.shape
    focal, middle_x, middle_y = lens
    left, top, right, bottom = width, height, 0, 0  # of the pixels touched so far
    shades = np.zeros(len(starts) - 1)
    flat = np.empty((len(seen), 2))  # the points in the picture [pixels]
    for v in range(len(seen)):
        scale = focal / max(seen[v, 2], MIN_DEPTH)
        flat[v, 0] = middle_x + scale * seen[v, 0]
        flat[v, 1] = middle_y + scale * seen[v, 1]
    for face in range(len(shades)):
        ring = corners[starts[face] : starts[face + 1]]
        a, b, c, distance, nearest, low, high = _plane(seen, flat, ring)
        if distance == 0.0 or nearest < MIN_DEPTH:
            continue
        side = 1.0 if distance < 0.0 else -1.0  # 1 if the face's outer side is seen, else -1
        towards = side * (a * light[0] + b * light[1] + c * light[2])
        shades[face] = max(towards / np.sqrt(a * a + b * b + c * c), 0.0)
        # Rows whose middles the face covers.
        first_row = max(int(np.ceil(low - 0.5)), 0)
        end_row = min(int(np.floor(high - 0.5)) + 1, height)
        # On the plane a x + b y + c z = distance, with x = z (i - middle_x) / focal and y alike,
        # 1 / depth = (a (i - middle_x) / focal + b (j - middle_y) / focal + c) / distance.
        slope = a / (focal * distance)
        for row in range(first_row, end_row):
            x_first, x_last = _span(flat, ring, side, row, width)
            first = max(int(np.ceil(x_first)), 0)
            end = min(int(np.floor(x_last)) + 1, width)
            if end <= first:
                continue
            left, right = min(left, first), max(right, end)
            top, bottom = min(top, row), max(bottom, row + 1)
            start = (b * (row + 0.5 - middle_y) / focal + c) / distance
            for i in range(first, end):
                inverse = start + slope * (i + 0.5 - middle_x)
                if inverse > depths[row, i]:
                    depths[row, i] = inverse
                    owner[row, i] = face
    if right <= left:
        left, top = 0, 0
    return np.array([left, top, right, bottom]), shades


@kernel
def _plane(seen, flat, ring):
    """Return normal, distance, nearest depth [m], and lowest and highest row of a face.

    The normal (a, b, c), not of unit length, is Newell's sum over the edges; `distance` is its dot
    product with the mean of the corners.

    Args:
        seen: points in the camera's axes (v, 3) [m].
        flat: the same in the picture (v, 2) [pixels].
        ring: indices of the corners of the face.
    """
    a, b, c = 0.0, 0.0, 0.0  # the normal
    x, y, z = 0.0, 0.0, 0.0  # sum of the corners
    nearest, low, high = np.inf, np.inf, -np.inf
    p = ring[len(ring) - 1]  # the edge from corner p to corner q
    for q in ring:
        a += seen[p, 1] * seen[q, 2] - seen[p, 2] * seen[q, 1]
        b += seen[p, 2] * seen[q, 0] - seen[p, 0] * seen[q, 2]
        c += seen[p, 0] * seen[q, 1] - seen[p, 1] * seen[q, 0]
        x, y, z = x + seen[q, 0], y + seen[q, 1], z + seen[q, 2]
        nearest = min(nearest, seen[q, 2])
        low, high = min(low, flat[q, 1]), max(high, flat[q, 1])
        p = q
    return a, b, c, (a * x + b * y + c * z) / len(ring), nearest, low, high


@kernel
def _span(flat, ring, side, row, width):
    """Return the first and last x [pixels] of a convex face (`ring`) in a row of the picture.

    Edges that rise on the side that is seen bound it on the left, the others on the right: outward
    faces run clockwise on the picture, whose y points downwards.
    """
    x_first, x_last = -0.5, width - 0.5
    p = ring[len(ring) - 1]
    for q in ring:
        rise = flat[q, 1] - flat[p, 1]
        if rise != 0.0:
            # Where the edge cuts the middle of the row; pixel i has its middle at i + 0.5.
            share = (row + 0.5 - flat[p, 1]) / rise
            cut = flat[p, 0] + share * (flat[q, 0] - flat[p, 0]) - 0.5
            if rise * side > 0.0:
                x_first = max(x_first, cut)
            else:
                x_last = min(x_last, cut)
        p = q
    return x_first, x_last
