"""Shadows: of solids on level ground, and by a depth map from the light on anything else."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image, ImageFilter

from roboaccord.contract.state import Array
from roboaccord.numerics.jit import kernel
from roboaccord.view.camera import Camera
from roboaccord.view.raster import LIGHT, OVERSAMPLING, Canvas, Mesh, Picture

SHADOW = 0.28  # how much of the light a shadow takes
SOFT = 1.5  # standard deviation of a shadow's edge [pixels]
MARGIN = 6  # pixels past which no edge is soft any more
FAR = 300.0  # of a scene's size: from there the light's rays are as good as parallel
DETAIL = 1024  # pixels of a depth map, each way
GAP = 1e-2  # of a scene's size: what is less far behind is not in the shadow of itself


def shade_ground(picture: Picture, canvas: Canvas, mesh: Mesh, floor: float) -> None:
    """Darken a picture where a mesh keeps the light from level ground.

    Args:
        picture: to be darkened.
        canvas: a spare one of the picture's size.
        mesh: what stands on the ground.
        floor: height of the ground [m].
    """
    drop = np.maximum(mesh.points[:, 2:] - floor, 0.0) / LIGHT[2]
    canvas.draw(mesh.at(mesh.points - drop * LIGHT))
    height, width, _ = picture.shape
    left, top = np.maximum(canvas.box[:2] - MARGIN, 0)
    right, bottom = np.minimum(canvas.box[2:] + MARGIN, (width, height))
    dark = (canvas.owner[top:bottom, left:right] >= 0).astype(np.uint8)
    soft = Image.fromarray(255 * dark).filter(ImageFilter.GaussianBlur(SOFT))
    _darken(picture[top:bottom, left:right], np.asarray(soft))


@kernel
def _darken(picture: Picture, dark: Picture) -> None:
    for y in range(dark.shape[0]):
        for x in range(dark.shape[1]):
            if dark[y, x]:
                left = 1.0 - SHADOW * dark[y, x] / 255.0
                for c in range(3):
                    picture[y, x, c] = int(picture[y, x, c] * left)


class Relief:
    """Hold terrain that stands still before a still camera, and the light on it.

    Args:
        mesh: the terrain.
        camera: whose pictures are drawn.
        picture: of what is behind the terrain, which is drawn over it.
    """

    def __init__(self, mesh: Mesh, camera: Camera, picture: Picture) -> None:
        low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
        self._size = float(np.linalg.norm(high - low))
        self._middle, self._mesh = 0.5 * (low + high), mesh
        self._sun = Canvas(self._above(LIGHT))
        canvas = Canvas(camera.scaled(OVERSAMPLING))
        canvas.draw(mesh)
        canvas.lay_over(picture)
        self.picture, self.hidden = picture, canvas.depths
        places = camera.places(canvas.depths[::OVERSAMPLING, ::OVERSAMPLING])
        seen = self._sun.camera.local(places)
        self._flat = np.ascontiguousarray(self._sun.camera.project(places))
        self._inverse = np.ascontiguousarray(1.0 / seen[..., 2])
        self.shade(picture, mesh)

    def shade(self, picture: Picture, mesh: Mesh) -> None:
        """Darken a picture where a mesh keeps the light from the terrain."""
        self._sun.draw(mesh)
        gap = 1.0 + GAP / FAR
        _darken(picture, _hidden(self._sun.depths, self._flat, self._inverse * gap))

    def under(self, points: Array) -> Array:
        """Return points (m, 3) lowered onto the terrain [m]; where there is none, as they are."""
        above = Canvas(self._above(np.array([1e-6, 0.0, 1.0])))
        above.draw(self._mesh)
        x, y = np.clip(above.camera.project(points).astype(int), 0, DETAIL - 1).T
        inverse = above.depths[y, x]
        depth = 1.0 / np.where(inverse > 0.0, inverse, np.nan)
        heights = np.where(inverse > 0.0, above.camera.eye[2] - depth, points[:, 2])
        return np.column_stack([points[:, :2], heights])

    def _above(self, direction: Array) -> Camera:
        """Return a camera that sees all of the terrain from afar."""
        distance = FAR * self._size
        view = 2.0 * math.atan(0.55 / FAR)
        return Camera.aim(self._middle, direction, distance, view, (DETAIL, DETAIL))


@kernel
def _hidden(depths: Array, flat: Array, inverse: Array) -> Picture:
    """Return how much of what is around a pixel lies behind a depth map, 0 to 255.

    Args:
        depths: the map, 1 / depth [1/m].
        flat: where each pixel of the picture is on it (height, width, 2) [pixels].
        inverse: 1 / depth there (height, width) [1/m], or a little more; nan for no place.
    """
    height, width = inverse.shape
    dark = np.zeros((height, width), dtype=np.uint8)
    for y in range(height):
        for x in range(width):
            if not inverse[y, x] > 0.0:
                continue
            i, j = int(flat[y, x, 0]), int(flat[y, x, 1])
            if not (1 <= i < depths.shape[1] - 1 and 1 <= j < depths.shape[0] - 1):
                continue
            count = 0
            for row in range(j - 1, j + 2):
                for column in range(i - 1, i + 2):
                    if depths[row, column] > inverse[y, x]:
                        count += 1
            dark[y, x] = 255 * count // 9
    return dark
