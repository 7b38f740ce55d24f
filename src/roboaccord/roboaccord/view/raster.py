"""Rasterise the faces of solids with a depth buffer, at twice the picture's resolution.

Faces turned away are left out; between the others each pixel keeps the nearest. 1/depth of a plane
is affine in the picture, which makes that exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.contact import Index
from roboaccord.contract.state import Array
from roboaccord.description.solids import Faces
from roboaccord.numerics.jit import kernel
from roboaccord.view.camera import Camera

AMBIENT = 0.62
LIGHT = np.array([-0.45, -0.6, 1.0]) / np.linalg.norm([-0.45, -0.6, 1.0])  # towards the light
OVERSAMPLING = 2
NEAR = 1e-3  # [m]
EMPTY = np.array([0, 0, 0, 0])

Picture = NDArray[np.uint8]
"""Red, green and blue (height, width, 3)."""

Owners = NDArray[np.int32]
"""Index of the face that is seen in each pixel (height, width), -1 for none."""

Solid = tuple[Array, Faces, Array]
"""Vertices in the world (v, 3) [m], faces, and colour (3,) in 0..1."""


@dataclass(frozen=True)
class Mesh:
    """Hold polygons that face outwards.

    Args:
        points: in the world (v, 3) [m].
        corners: indices of points, polygon after polygon (c,).
        starts: where each polygon begins in `corners`, and the end of the last (f + 1,).
        colours: of the polygons (f, 3), 0 to 1.
    """

    points: Array
    corners: Index
    starts: Index
    colours: Array

    @classmethod
    def join(cls, solids: Sequence[Solid]) -> Mesh:
        """Return the faces of all solids as one mesh."""
        offsets = np.cumsum([0, *(len(vertices) for vertices, _, _ in solids)])
        rings = [
            np.array(f) + o for o, (_, fs, _) in zip(offsets, solids, strict=False) for f in fs
        ]
        return cls(
            np.concatenate([vertices for vertices, _, _ in solids]).astype(float),
            np.concatenate(rings).astype(np.int64),
            np.cumsum([0, *map(len, rings)]).astype(np.int64),
            np.array([colour for _, faces, colour in solids for _ in faces], dtype=float),
        )

    def at(self, points: Array) -> Mesh:
        """Return the mesh with its points elsewhere."""
        return replace(self, points=np.ascontiguousarray(points))


class Canvas:
    """Hold which face is seen in each pixel, and how near.

    Args:
        camera: whose picture it is; its size is that of the canvas.
        hidden: 1 / depth (height, width) of what stands there already [1/m]; 0 is infinitely far.
    """

    def __init__(self, camera: Camera, hidden: Array | None = None) -> None:
        size = camera.height, camera.width
        self.camera = camera
        self.hidden = np.zeros(size) if hidden is None else hidden
        self.depths = self.hidden.copy()
        self.owner = np.full(size, -1, dtype=np.int32)
        self.paint = np.zeros((0, 3), dtype=np.uint8)
        self.box = EMPTY

    def draw(self, mesh: Mesh) -> None:
        """Clear the canvas and draw a mesh: `owner`, `depths` [1/m], `paint` and `box` tell it."""
        camera = self.camera
        _clear(self.owner, self.depths, self.hidden, self.box)
        seen = np.ascontiguousarray(camera.local(mesh.points))
        shades = np.empty(len(mesh.colours))
        lens = np.array([camera.focal, 0.5 * camera.width, 0.5 * camera.height])
        light = camera.axes @ LIGHT
        self.box = _fill(
            seen, mesh.corners, mesh.starts, lens, light, self.depths, self.owner, shades
        )
        shades = AMBIENT + (1.0 - AMBIENT) * shades
        self.paint = np.clip(255.0 * mesh.colours * shades[:, None], 0, 255).astype(np.uint8)

    def lay_over(self, picture: Picture) -> None:
        """Lay what was drawn over a picture of half the size, with smooth edges."""
        _lay_over(picture, self.owner, self.paint, self.box)


@kernel
def _clear(owner: Owners, depths: Array, hidden: Array, box: Index) -> None:
    """Put the pixels of a box (x, y, past x, past y) back to what they were without a mesh."""
    for y in range(box[1], box[3]):
        for x in range(box[0], box[2]):
            owner[y, x] = -1
            depths[y, x] = hidden[y, x]


@kernel
def _plane(seen: Array, ring: Index) -> tuple[float, float, float, float]:
    """Return the normal of a polygon by Newell's sum, and its plane's distance along it."""
    a, b, c = 0.0, 0.0, 0.0
    middle = np.zeros(3)
    for i in range(len(ring)):
        p, q = seen[ring[i]], seen[ring[i - 1]]
        a += q[1] * p[2] - q[2] * p[1]
        b += q[2] * p[0] - q[0] * p[2]
        c += q[0] * p[1] - q[1] * p[0]
        middle += p
    return a, b, c, (a * middle[0] + b * middle[1] + c * middle[2]) / len(ring)


@kernel
def _fill(
    seen: Array, corners: Index, starts: Index, lens: Array, light: Array,
    depths: Array, owner: Owners, shades: Array,
) -> Index:  # fmt: skip
    """Fill all faces where they are nearest, and return the box that was touched.

    Args:
        seen: points in the camera's axes (v, 3) [m].
        corners, starts: of the faces.
        lens: focal length and middle [pixels].
        light: direction to it in the camera's axes (3,).
        depths, owner: 1 / depth [1/m] and face of each pixel (height, width), changed.
        shades: set to how much of the light each face has (f,).
    """
    height, width = depths.shape
    focal, middle_x, middle_y = lens
    box = np.array([width, height, 0, 0])
    for face in range(len(starts) - 1):
        ring = corners[starts[face] : starts[face + 1]]
        a, b, c, distance = _plane(seen, ring)
        shades[face] = 0.0
        if not distance < 0.0 or seen[ring, 2].min() < NEAR:
            continue
        turned = (a * light[0] + b * light[1] + c * light[2]) / np.sqrt(a * a + b * b + c * c)
        shades[face] = max(turned, 0.0)
        flat_x = middle_x + focal * seen[ring, 0] / seen[ring, 2]
        flat_y = middle_y + focal * seen[ring, 1] / seen[ring, 2]
        top = max(int(np.ceil(flat_y.min() - 0.5)), 0)
        bottom = min(int(np.floor(flat_y.max() - 0.5)) + 1, height)
        for y in range(top, bottom):
            left, right = -0.5, width - 0.5
            for i in range(len(ring)):
                # Outward faces run clockwise on the picture, whose y points downwards.
                rise = flat_y[i] - flat_y[i - 1]
                if rise != 0.0:
                    way = (y + 0.5 - flat_y[i - 1]) / rise
                    cut = flat_x[i - 1] + way * (flat_x[i] - flat_x[i - 1]) - 0.5
                    if rise > 0.0:
                        left = max(left, cut)
                    else:
                        right = min(right, cut)
            first, last = max(int(np.ceil(left)), 0), min(int(np.floor(right)) + 1, width)
            if last <= first:
                continue
            box[0], box[2] = min(box[0], first), max(box[2], last)
            box[1], box[3] = min(box[1], y), max(box[3], y + 1)
            row = (b * (y + 0.5 - middle_y) / focal + c) / distance
            slope = a / (focal * distance)
            for x in range(first, last):
                inverse = row + slope * (x + 0.5 - middle_x)
                if inverse > depths[y, x]:
                    depths[y, x] = inverse
                    owner[y, x] = face
    return np.maximum(box, 0) if box[2] > box[0] else np.zeros(4, dtype=np.int64)


@kernel
def _lay_over(picture: Picture, owner: Owners, paint: Picture, box: Index) -> None:
    """Mix the means over squares of OVERSAMPLING pixels into a picture, by how much they cover."""
    n = OVERSAMPLING
    for y in range(box[1] // n, (box[3] + n - 1) // n):
        for x in range(box[0] // n, (box[2] + n - 1) // n):
            red, green, blue, free = 0, 0, 0, 0
            for j in range(n * y, n * y + n):
                for i in range(n * x, n * x + n):
                    face = owner[j, i]
                    if face < 0:
                        free += 1
                    else:
                        red += paint[face, 0]
                        green += paint[face, 1]
                        blue += paint[face, 2]
            if free < n * n:
                picture[y, x, 0] = (red + free * picture[y, x, 0]) // (n * n)
                picture[y, x, 1] = (green + free * picture[y, x, 1]) // (n * n)
                picture[y, x, 2] = (blue + free * picture[y, x, 2]) // (n * n)
