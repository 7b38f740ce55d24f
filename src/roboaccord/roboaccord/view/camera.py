"""A pinhole camera."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from roboaccord.contract.state import Array


@dataclass(frozen=True)
class Camera:
    """Hold a pinhole camera.

    Args:
        eye: its place in the world (3,) [m].
        axes: rows right, down and forward in the world (3, 3).
        focal: focal length [pixels].
        width, height: of the picture [pixels].
    """

    eye: Array
    axes: Array
    focal: float
    width: int
    height: int

    @classmethod
    def aim(
        cls, target: Array, direction: Array, distance: float, view: float, size: tuple[int, int]
    ) -> Camera:
        """Aim a camera.

        Args:
            target: point in the middle of the picture (3,) [m].
            direction: from the target to the camera, not vertical (3,).
            distance: from the target to the camera [m].
            view: horizontal field of view [rad].
            size: width and height [pixels].
        """
        forward = -direction / np.linalg.norm(direction)
        right = np.cross(forward, (0.0, 0.0, 1.0))
        right /= np.linalg.norm(right)
        axes = np.stack([right, np.cross(forward, right), forward])
        focal = 0.5 * size[0] / math.tan(0.5 * view)
        return cls(target - distance * forward, axes, focal, *size)

    def scaled(self, factor: int) -> Camera:
        """Return the same view in `factor` times as many pixels each way."""
        size = self.width * factor, self.height * factor
        return Camera(self.eye, self.axes, self.focal * factor, *size)

    def local(self, points: Array) -> Array:
        """Return points (..., 3) in the camera's axes: right, down, forward [m]."""
        return np.asarray((points - self.eye) @ self.axes.T)

    def project(self, points: Array) -> Array:
        """Return pixel coordinates (..., 2) of points (..., 3) in front of the camera."""
        seen = self.local(points)
        middle = np.array([0.5 * self.width, 0.5 * self.height])
        return np.asarray(middle + self.focal * seen[..., :2] / seen[..., 2:])

    def places(self, inverse: Array) -> Array:
        """Return the points (height, width, 3) [m] that have 1 / depth `inverse`; nan where 0."""
        x = (np.arange(self.width) + 0.5 - 0.5 * self.width) / self.focal
        y = (np.arange(self.height) + 0.5 - 0.5 * self.height) / self.focal
        right, down, forward = self.axes
        rays = x[:, None] * right + (y[:, None] * down)[:, None] + forward
        return np.asarray(self.eye + rays / np.where(inverse > 0.0, inverse, np.nan)[..., None])
