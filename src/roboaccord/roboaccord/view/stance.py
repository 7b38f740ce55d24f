"""Camera placement, and the backdrop of a robot: the ground, or the wall it moves on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.view.camera import Camera

VIEW = math.radians(32.0)  # field of view
AZIMUTH, ELEVATION = math.radians(-62.0), math.radians(30.0)  # of the camera, over ground
ROOM = 1.06  # times the distance from which all of a terrain is just seen
ASIDE, STEEP = math.radians(-76.0), math.radians(64.0)  # over terrain, into whose hollows it looks
FOLLOW = 0.6  # time constant of the camera that follows the robot [s of film]
STILL = 0.5  # a robot that strays less than this many of its radii is not followed
FLAT = 1e-3  # m: motion in x that is none, so that the robot moves on a wall
WIDE = 8.0  # radii of the robot: a longer way along a wall is followed
LARGEST = 1e9  # m: of a robot that is drawn
LINES, RAISED = 1.27, 0.08  # of the height that is seen: lines stand above, and one below
SPARSE = 5  # every so many pictures tell what is to be seen
BELOW = 0.12  # of the way along x: how far the camera before a wall is lowered
ON_GROUND = np.eye(3)
# The picture's ground is the wall, the world's y-z plane; turned so that light comes from above.
ON_WALL = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])


@dataclass(frozen=True)
class Stance:
    """Hold the camera placement for a motion.

    Args:
        turn: from the world to the axes in which the plane behind the robot lies below it (3, 3).
        floor: height of that plane, in those axes [m].
        grid: distance of its lines [m].
        target: what the camera looks at, in those axes (t, 3) [m].
        direction: from there to the camera (3,).
        distance: from there to the camera [m].
    """

    turn: Array
    floor: float
    grid: float
    target: Array
    direction: Array
    distance: float


def stance_of(bodies: Sequence[Array], centre: Array, fps: float, aspect: float) -> Stance:
    """Choose how to look at a motion.

    Args:
        bodies: vertices of each shape over time (t, v, 3) [m].
        centre: of mass over time (t, 3) [m].
        fps: pictures a second.
        aspect: width of a picture over its height.

    Raises:
        AccordError: if the robot is too large to be drawn.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        radius = max(float(np.linalg.norm(b - centre[:, None], axis=-1).max()) for b in bodies)
    if not 0.0 < radius < LARGEST:
        raise AccordError(f"a robot of {radius:g} m cannot be drawn")
    if moves_on_wall(bodies, radius):
        return before_wall(bodies, centre, radius, fps, aspect)
    return over_ground(bodies, centre, radius, fps, aspect)


def moves_on_wall(bodies: Sequence[Array], radius: float) -> bool:
    """Return whether no shape moves in x, while some rise or fall."""
    moved = [np.ptp(b, axis=0).max(axis=0) for b in bodies]
    return bool(max(m[0] for m in moved) < FLAT and max(m[2] for m in moved) > 0.05 * radius)


def over_ground(
    bodies: Sequence[Array], centre: Array, radius: float, fps: float, aspect: float
) -> Stance:
    """Look down at the ground, which is at height 0 or below the robot."""
    floor = min(min(float(b[..., 2].min()) for b in bodies), 0.0)
    direction = np.array([math.cos(AZIMUTH), math.sin(AZIMUTH), math.tan(ELEVATION)])
    upwards = np.array([0.0, 0.0, 1.0]) - direction * direction[2] / (direction @ direction)
    upwards /= np.linalg.norm(upwards)
    height = max(float(np.abs((b - centre[:, None]) @ upwards).max()) for b in bodies)
    across = 1.02 * radius / math.tan(0.5 * VIEW) + 0.3 * radius
    distance = max(across, 1.1 * height * aspect / math.tan(0.5 * VIEW) + 0.3 * radius)
    target = follow(centre, radius, fps)
    if not np.ptp(target, axis=0).any():
        seen = np.concatenate([b[::SPARSE] for b in bodies], axis=1).reshape(-1, 3)
        target[:], distance = frame(seen, direction, LINES * aspect)
        target += RAISED * distance * math.tan(0.5 * VIEW) / aspect * upwards
    return Stance(
        turn=ON_GROUND,
        floor=floor,
        grid=10.0 ** math.floor(math.log10(1.2 * radius)),
        target=target,
        direction=direction,
        distance=distance,
    )


def before_wall(
    bodies: Sequence[Array], centre: Array, radius: float, fps: float, aspect: float
) -> Stance:
    """Look at the wall from its front, y to the right; at all of a short way, without moving."""
    seen = [b @ ON_WALL.T for b in bodies]
    low = np.min([b.min(axis=(0, 1)) for b in seen], axis=0)
    high = np.max([b.max(axis=(0, 1)) for b in seen], axis=0)
    width, height = high[0] - low[0], high[1] - low[1]
    target = np.tile(0.5 * (low + high), (len(centre), 1))
    if width > WIDE * radius:
        target = follow(centre @ ON_WALL.T, radius, fps)
        width, height = 2.4 * radius, 2.2 * radius
    half = 0.55 * max(width, height * aspect)
    return Stance(
        turn=ON_WALL,
        floor=float(low[2]),
        grid=0.5 * 10.0 ** math.ceil(math.log10(0.8 * radius)),
        target=target,
        direction=np.array([0.0, BELOW, 1.0]),
        distance=half / math.tan(0.5 * VIEW) + high[2] - low[2],
    )


def over_terrain(vertices: Array, count: int, aspect: float) -> Stance:
    """Look down at all of a terrain, steeply, without moving.

    Args:
        vertices: of the terrain (v, 3) [m].
        count: number of pictures.
        aspect: width of a picture over its height.
    """
    direction = np.array([math.cos(ASIDE), math.sin(ASIDE), math.tan(STEEP)])
    target, distance = frame(vertices, direction, aspect)
    size = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    return Stance(
        turn=ON_GROUND,
        floor=float(vertices[:, 2].min()),
        grid=10.0 ** math.floor(math.log10(0.5 * size)),
        target=np.tile(target, (count, 1)),
        direction=direction,
        distance=distance,
    )


def frame(points: Array, direction: Array, aspect: float) -> tuple[Array, float]:
    """Return what to look at (3,) and from how far [m], to see points (m, 3) [m] from a direction.

    Args:
        points: that are to be seen.
        direction: to the camera (3,).
        aspect: width of a picture over its height.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    target, size = 0.5 * (low + high), float(np.linalg.norm(high - low))
    near = Camera.aim(target, direction, size, VIEW, (1, 1)).local(points)
    needed = np.abs(near[:, :2]) * (1.0, aspect) / math.tan(0.5 * VIEW) - near[:, 2:]
    return target, ROOM * (size + float(needed.max()))


def follow(centre: Array, radius: float, fps: float) -> Array:
    """Return what the camera looks at (t, 3) [m]: the centre's path, smoothed without lag."""
    middle = 0.5 * (centre.min(axis=0) + centre.max(axis=0))
    if np.linalg.norm(centre - middle, axis=1).max() < STILL * radius:
        return np.tile(middle, (len(centre), 1))
    reach = round(3 * FOLLOW * fps)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / (FOLLOW * fps)) ** 2)
    # Odd reflection about the ends keeps a steady pace steady there.
    wide = np.pad(centre, ((reach, reach), (0, 0)), mode="reflect", reflect_type="odd")
    columns = [np.convolve(c, weights / weights.sum(), mode="valid") for c in wide.T]
    return np.column_stack(columns)
