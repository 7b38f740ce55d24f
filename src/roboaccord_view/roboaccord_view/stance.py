"""Places the camera for a motion, and the plane behind the robot: the ground, or a wall.

`stance_of` frames all points of a motion with a camera at rest. If a camera that follows the robot
could be FOLLOWING_RATIO times nearer, it follows. `frame` computes where a camera must be so that
given points just fill the picture; test_view.py projects all points to check that. A robot that
moves in a vertical plane but not towards it (`moves_on_wall`) is drawn on a wall.

Angles of the camera and margins may be changed.
"""

import math
from dataclasses import dataclass

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.scenario import Camera

# rad; field of view, as of a lens of 63 mm on 36 mm of film, which hardly distorts.
FOV = math.radians(32.0)
# rad; direction to the camera over level ground. By eye: three sides of a robot are seen.
AZIMUTH = math.radians(-62.0)
ELEVATION = math.radians(30.0)
# rad; azimuth and elevation over terrain, where the camera looks down steeply into hollows: by eye.
STEEP_VIEW = (math.radians(-76.0), math.radians(64.0))
# rad; azimuths that are tried in turn until nothing hides the robot. Six around the circle, 56 or
# 68 degrees apart so that none looks along an axis.
AZIMUTHS = tuple(AZIMUTH + math.radians(turn) for turn in (0, -56, 56, 124, 180, -124))
# Pixels; side of the small picture in which it is checked whether anything hides it: a tenth of a
# robot has 20, which is enough to see whether it is hidden.
CHECK_SIZE = 200
# s of film; time constant of the camera that follows the robot, longer than the period of a gait,
# which does not shake it then.
FOLLOWING_TIME = 0.6
# Ratio of distances from which on the camera follows the robot instead of resting: the robot's
# height would be two fifths or less.
FOLLOWING_RATIO = 2.5
# m; a robot on a wall moves by less than this in x, away from the wall: constraints of engines give
# way by less.
WALL_MAX_X = 1e-3
# Fraction of the robot's radius; a robot on a wall moves by more in y and in z: a twentieth is more
# than a robot that hangs still sways.
WALL_MIN_ASCENT = 0.05
# m; largest robot that is drawn: float64 has 1e-7 m there, float32 of the depths 60 m.
MAX_RADIUS = 1e9
MIN_DISTANCE = 1e-2  # m; smallest distance between the eye and a point: ten times raster.MIN_DEPTH
SIDE_MARGIN = 0.03  # fraction of a picture's width that stays free on each side, by eye
# Largest number of grid lines over a picture's width, so that single squares can be counted.
MAX_GRID_LINES = 6
# Rotations from the world to the axes of the picture (3, 3), in which the plane behind the robot is
# level: the ground stays as it is.
ON_GROUND = np.eye(3)
# The wall, the world's y-z plane, becomes the ground of the picture, with light from above.
ON_WALL = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
# Direction to the camera in these axes, a little below the robot on the wall: 7 degrees, by eye.
WALL_DIRECTION = np.array([0.0, 0.12, 1.0])

# Fractions of a picture's height at its upper and lower edge that are kept clear for texts.
Bands = tuple[float, float]
NO_BANDS: Bands = (SIDE_MARGIN, SIDE_MARGIN)


@dataclass(frozen=True)
class Stance:
    """The camera placement for a motion.

    Args:
        turn: rotation from the world to the picture's axes, in which the plane behind the robot
            is level and below it (3, 3).
        floor: height of that plane in the picture's axes [m].
        grid: distance between its grid lines [m].
        target: point at which the camera looks, at each sample, in the picture's axes (t, 3) [m].
        direction: direction from the target to the camera (3,).
        distance: distance from the target to the camera [m].
    """

    turn: Array
    floor: float
    grid: float
    target: Array
    direction: Array
    distance: float

    @property
    def on_ground(self) -> bool:
        """Whether the robot is on the ground, not on a wall."""
        return self.turn is ON_GROUND

    def camera(self, i: int, size: tuple[int, int]) -> Camera:
        """Return the camera of a picture of a size [pixels]."""
        return Camera.aim(self.target[i], self.direction, self.distance, FOV, size)


def stance_of(
    points: Array,
    centre: Array,
    fps: float,
    aspect: float,
    bands: Bands = NO_BANDS,
    azimuth: float = AZIMUTH,
    wall: bool = False,
) -> Stance:
    """Return the stance for a motion, such that all points are in the picture at all times.

    Args:
        points: outermost points of everything in the picture, over time (t, m, 3) [m].
        centre: centre of mass over time (t, 3) [m].
        fps: pictures per second.
        aspect: width of a picture over its height.
        bands: fractions of the height that are kept clear for texts.
        azimuth: azimuth of the camera over ground [rad].
        wall: whether the robot is on a wall; if false, its motion decides.

    Raises:
        AccordError: if the robot is too large to be drawn.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        radius = float(np.linalg.norm(points - centre[:, None], axis=-1).max())
    if not 0.0 < radius < MAX_RADIUS:
        raise AccordError(f"a robot of {radius:g} m cannot be drawn")
    wall = wall or moves_on_wall(points, radius)
    turn = ON_WALL if wall else ON_GROUND
    direction = WALL_DIRECTION if wall else towards(azimuth, ELEVATION)
    # A camera at rest that sees all points, in the picture's axes.
    turned = points @ turn.T
    target, distance = frame(turned.reshape(-1, 3), direction, aspect, bands)
    targets = np.tile(target, (len(points), 1))
    # A camera that follows the smoothed path of the centre of mass, if it is much nearer.
    track = smoothed(centre @ turn.T, fps)
    offset, near = frame((turned - track[:, None]).reshape(-1, 3), direction, aspect, bands)
    if FOLLOWING_RATIO * near < distance:
        targets, distance = track + offset, near
    lowest = float(turned[..., 2].min())
    floor = lowest if wall else min(lowest, 0.0)
    return Stance(turn, floor, grid_of(distance), targets, direction, distance)


def towards(azimuth: float, elevation: float) -> Array:
    """Return the direction to a camera (3,), of angles [rad]."""
    return np.array([math.cos(azimuth), math.sin(azimuth), math.tan(elevation)])


def moves_on_wall(points: Array, radius: float) -> bool:
    """Return whether no point moves in x, but some move in y and some in z, as on a wall."""
    x_range, y_range, z_range = np.ptp(points, axis=0).max(axis=0)  # of motion [m]
    return bool(x_range < WALL_MAX_X and min(y_range, z_range) > WALL_MIN_ASCENT * radius)


def grid_of(distance: float) -> float:
    """Return the distance of grid lines for a camera's distance: 1, 2 or 5 times a power of 10."""
    # Width of the picture at the target over the largest number of lines.
    smallest_step = 2.0 * distance * math.tan(0.5 * FOV) / MAX_GRID_LINES
    power = 10.0 ** math.floor(math.log10(smallest_step))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= smallest_step)


def over_terrain(vertices: Array, count: int, aspect: float, bands: Bands = NO_BANDS) -> Stance:
    """Return the stance of a camera at rest that looks down steeply at all of a terrain.

    Args:
        vertices: of the terrain (v, 3) [m].
        count: number of pictures.
        aspect: width of a picture over its height.
        bands: as of `stance_of`.
    """
    direction = towards(*STEEP_VIEW)
    target, distance = frame(vertices, direction, aspect, bands)
    targets = np.tile(target, (count, 1))
    floor = float(vertices[:, 2].min())
    return Stance(ON_GROUND, floor, grid_of(distance), targets, direction, distance)


def frame(
    points: Array, direction: Array, aspect: float, bands: Bands = NO_BANDS
) -> tuple[Array, float]:
    """Return a camera's target (3,) [m] and distance [m], so that points just fill the picture.

    Each edge of the picture is a plane through the eye, beyond which no point may lie. With x along
    the picture, the depth z and the tangents r and l of the angles to its right and left edge, a
    camera at (eye_x, eye_z) sees all points if

        max(x - r z) <= eye_x - r eye_z    and    max(-x - l z) <= -eye_x - l eye_z.

    The sum of both gives the largest eye_z, and then eye_x. The same holds for the height, with the
    lower and upper edge; the farther of both eyes is taken, and the other direction is centred.

    Args:
        points: in the picture (m, 3) [m].
        direction: to the camera (3,).
        aspect: width of a picture over its height.
        bands: parts of its height above and below that are kept clear.
    """
    axes = Camera.aim(np.zeros(3), direction, 1.0, FOV, (1, 1)).axes
    seen = points @ axes.T  # along the picture's width, its height and the depth
    flat, depths = seen[:, :2], seen[:, 2]
    # Tangents of the angles to the left and upper edge (l), and to the right and lower edge (r).
    half_width = math.tan(0.5 * FOV)
    side = (1.0 - 2.0 * SIDE_MARGIN) * half_width
    above, below = ((1.0 - 2.0 * band) * half_width / aspect for band in bands)
    left_upper, right_lower = np.array([side, above]), np.array([side, below])
    # The left sides of the two inequalities, for width and height (2,) [m].
    low = (-flat - left_upper * depths[:, None]).max(axis=0)
    high = (flat - right_lower * depths[:, None]).max(axis=0)
    # The eye is where both pairs of opposite planes leave all points between them.
    eye_depths = -(low + high) / (left_upper + right_lower)
    eye_depth = float(min(eye_depths.min(), depths.min() - MIN_DISTANCE))
    eye = 0.5 * ((high + right_lower * eye_depth) - (low + left_upper * eye_depth))
    distance = float(depths.mean()) - eye_depth
    return np.array([*eye, eye_depth + distance]) @ axes, distance


def smoothed(centre: Array, fps: float) -> Array:
    """Return the centre's path (t, 3) [m], smoothed by a Gaussian, without lag."""
    reach = round(3 * FOLLOWING_TIME * fps)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / (FOLLOWING_TIME * fps)) ** 2)
    # Odd reflection about the ends keeps a steady speed steady there.
    padded = np.pad(centre, ((reach, reach), (0, 0)), mode="reflect", reflect_type="odd")
    weights /= weights.sum()
    return np.column_stack([np.convolve(column, weights, mode="valid") for column in padded.T])
