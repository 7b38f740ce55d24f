"""A pinhole camera, and the view of a robot at the start of its scenario.

`Camera` projects points of the world to pixels. `start_view` chooses a `View`: the target of the
camera and the distance from which the robot fills a given share of the picture. It moves the target
to the middle of the projected robot, and finds the distance by bisection. Films, the browser view
and Gazebo's window start with it; the shares and angles below are matters of taste (test_shared).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.description import BACKDROPS, TERRAIN, WALL, Scene
from roboaccord.scenario.setup import Setup

# Share of the picture's width that the robot spans, chosen by eye: on level ground, with room to
# move, and on terrain, of which more is to be seen.
SHARE_ON_LEVEL_GROUND = 0.52
SHARE_ON_TERRAIN = 0.2
# Direction of the camera about the axes of the world [rad], chosen by eye: on level ground, much as
# in report/drawing.py; on terrain, whose hollows are to be seen.
AZIMUTH, ELEVATION = (math.radians(-62.0), math.radians(25.0))
ELEVATION_ON_TERRAIN = math.radians(40.0)
# The same in front of a wall, which is the y-z plane: azimuth and elevation.
ASIDE, ABOVE = (math.radians(-10.0), math.radians(5.0))
CENTRING_ITERATIONS = 4  # iterations that centre the robot to less than a pixel
BISECTIONS = 40  # bisections of the interval of distances, to 2^-40 = 1e-12 of it


@dataclass(frozen=True)
class Camera:
    """A pinhole camera.

    Args:
        eye: its position in the world (3,) [m].
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
        """Return a camera that looks at a point.

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

    def local(self, points: Array) -> Array:
        """Return points (..., 3) in the camera's axes: right, down, forward [m]."""
        return np.asarray((points - self.eye) @ self.axes.T)

    def project(self, points: Array) -> Array:
        """Return pixel coordinates (..., 2) of points (..., 3) in front of the camera."""
        local = self.local(points)
        middle = np.array([0.5 * self.width, 0.5 * self.height])
        return np.asarray(middle + self.focal * local[..., :2] / local[..., 2:])


@dataclass(frozen=True)
class View:
    """Where a camera stands, as seen from the point at which it looks.

    Args:
        target: the point in the middle of the picture (3,) [m].
        distance: of the camera from the target [m].
        azimuth: of the camera, about the vertical from the x axis [rad].
        elevation: of the camera, above the horizontal [rad].
    """

    target: Array
    distance: float
    azimuth: float
    elevation: float

    @property
    def eye(self) -> Array:
        """Position of the camera (3,) [m]."""
        return self.target + self.distance * self.direction

    @property
    def direction(self) -> Array:
        """Unit vector from the target to the camera (3,)."""
        horizontal, vertical = math.cos(self.elevation), math.sin(self.elevation)
        x, y = horizontal * math.cos(self.azimuth), horizontal * math.sin(self.azimuth)
        return np.array([x, y, vertical])


def start_view(setup: Setup, half: float) -> View:
    """Return the view that has the robot at its start, with the solids near it, in the middle.

    Solids farther from it along an axis than its length, such as the last pegs of a long row, are
    left out, so that the robot is not small.

    Args:
        setup: robot and scenario.
        half: half of the camera's horizontal field of view [rad].
    """
    surroundings, robot = setup.robot.surroundings(setup), start_points(setup)
    solids = [vertices for name, (vertices, _) in surroundings.items() if name not in BACKDROPS]
    length = np.ptp(robot, axis=0).max()
    low, high = robot.min(axis=0) - length, robot.max(axis=0) + length
    near = [s for s in solids if (s.max(axis=0) >= low).all() and (s.min(axis=0) <= high).all()]
    points = np.concatenate([robot, *near])
    target = 0.5 * (points.min(axis=0) + points.max(axis=0))
    azimuth, elevation, share = AZIMUTH, ELEVATION, SHARE_ON_LEVEL_GROUND
    if TERRAIN in surroundings:
        elevation, share = ELEVATION_ON_TERRAIN, SHARE_ON_TERRAIN
    elif WALL in surroundings:
        azimuth, elevation = ASIDE, ABOVE
    direction = View(target, 1.0, azimuth, elevation).direction
    # In turn: the distance for this target, then the target in the middle of the picture.
    distance = math.inf
    for _ in range(CENTRING_ITERATIONS):
        distance = _distance(points, target, direction, half, share)
        camera = Camera.aim(target, direction, distance, 2 * half, (1, 1))
        pixels = camera.project(points)
        # Shift of the robot's middle from the picture's, 0.5 of a picture one pixel wide.
        offset = 0.5 * (pixels.min(axis=0) + pixels.max(axis=0)) - 0.5
        target = target + distance / camera.focal * (offset @ camera.axes[:2])
    return View(np.round(target, 4), round(distance, 4), azimuth, elevation)


def _distance(points: Array, target: Array, direction: Array, half: float, share: float) -> float:
    """Return the distance [m] from which points (m, 3) span a share of the picture's width."""
    radius = float(np.linalg.norm(points - target, axis=1).max())
    near, far = radius, radius / (share * math.tan(half)) + radius
    for _ in range(BISECTIONS):
        distance = 0.5 * (near + far)
        pixels = Camera.aim(target, direction, distance, 2 * half, (1, 1)).project(points)
        if np.ptp(pixels, axis=0).max() > share:  # of a picture one pixel wide
            near = distance
        else:
            far = distance
    return far


def start_points(setup: Setup) -> Array:
    """Return the vertices of a robot's shapes where its scenario starts (m, 3) [m]."""
    scene, state = Scene.parse(setup.urdf()), setup.initial
    origins, turns = scene.tree.forward(setup.joints, state.q, state.position, state.orientation)
    return np.concatenate([origins[s.link] + s.vertices @ turns[s.link].T for s in scene.shapes])
