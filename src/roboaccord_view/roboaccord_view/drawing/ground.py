"""Draws level ground and terrain behind a robot: a grid, the robot's path, and shadows.

Grid lines on level ground are antialiased by their distance in pixels, which has a closed form. A
shadow on level ground is the robot's mesh projected along the light. On terrain (`Relief`) a depth
map, a picture of depths as seen from the light, shows which pixels are in shadow.

Colours and widths may be changed; pages take GROUND_COLOUR, GRID_COLOUR and PATH_COLOUR from here.
SHADOW_GAP and MAP_SIZE belong together: the coarser the depth map, the larger the gap. test_view.py
computes where grid lines and a ball's shadow must lie.
"""

import math

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from roboaccord.contract import Array, Index
from roboaccord.scenario import Camera

from roboaccord_view.drawing import raster
from roboaccord_view.drawing.raster import OVERSAMPLING, TO_LIGHT, Canvas, Depths, Mesh, Picture

# Colours, 0 to 255: of the ground, its grid, distant ground, the path and shadows. Chosen by eye:
# greys that are lighter than any robot, and one warm colour.
GROUND_COLOUR = np.array([233.0, 236.0, 240.0])
GRID_COLOUR = np.array([196.0, 203.0, 212.0])
HAZE_COLOUR = np.array([247.0, 248.0, 250.0])
PATH_COLOUR = np.array([214.0, 106.0, 60.0])
SHADOW_COLOUR = np.zeros(3)
# Tones in which the ground fades into the haze: few make small files, and below 4 bands are seen.
HAZE_TONES = 6
# Pixels; width of grid lines: thinner ones vanish as they are blended over two pixels.
LINE_WIDTH = 1.3
PATH_WIDTH = 2  # pixels; width of the path, by eye: more than that of grid lines (LINE_WIDTH)
# Pixels from the picture's corner; farther points are moved to there, which Pillow's integers of 32
# bits hold even if finer.
MAX_PIXEL = 1e6
# Ratio of depths up to which a surface does not hide a path that lies on it: less than a robot's
# size, more than a pixel's on a slope.
PATH_DEPTH_RATIO = 1.02
# Fraction of the light that a shadow takes away. Any from 0.2 to 0.4 would do, by eye.
SHADOW_STRENGTH = 0.28
SHADOW_BLUR = 1.5  # pixels; standard deviation of a shadow's soft edge, by eye
SHADOW_MARGIN = 6  # pixels; 4 SHADOW_BLUR, the width of a shadow's soft edge
# Distance of the light over a scene's size, so that its rays are nearly parallel: they diverge by
# 1/300 rad, 0.2 degrees, over it.
LIGHT_DISTANCE = 300.0
MAP_SIZE = 1024  # pixels of a depth map in each direction, more than a picture has (options.SIZE)
# Fraction of a scene's size; depths closer than this do not shadow each other. Ten steps of the
# map: the scene's size / MAP_SIZE is 1e-3.
SHADOW_GAP = 1e-2
# 2 sigma^2 of the Gaussian in which the ground fades; sigma is 3 nearest depths. By eye: it fades
# before lines meet.
HAZE_DEPTH = 18.0


def draw_ground(camera: Camera, floor: float, grid: float) -> Picture:
    """Return a picture of level ground with its grid, antialiased, which fades into haze.

    Each row of the picture is at one depth, for the camera is not tilted sideways; along a row the
    coordinates of the ground are affine in x.

    Args:
        camera: camera of the picture, not tilted sideways.
        floor: height of the ground [m].
        grid: distance between grid lines [m].
    """
    _, down, forward = camera.axes
    rows = np.arange(camera.height)[:, None] + 0.5  # middles [pixels]
    # Slopes of the rows below the camera's axis, and by how much rays fall per metre of depth.
    slopes = np.asarray((rows - 0.5 * camera.height) / camera.focal, float)
    fall = -(forward[2] + slopes * down[2])
    # Depth of the ground in each row, infinite above the horizon, and how clear it is in the haze.
    above = camera.eye[2] - floor
    depth = np.where(fall > 1e-9, above / np.maximum(fall, 1e-9), np.inf)
    nearest = above / max(float(fall.max()), 1e-9)
    clear = np.exp(-(np.maximum(depth / nearest - 1.0, 0.0) ** 2) / HAZE_DEPTH)
    shares = np.round(clear * HAZE_TONES)
    ground = (HAZE_COLOUR + (GROUND_COLOUR - HAZE_COLOUR) * shares / HAZE_TONES)[:, None]
    depth = np.where(np.isfinite(depth), depth, 0.0)
    # The grid is blended over the ground by how much it covers a pixel, less in the haze.
    cover = _grid_cover(camera, above, grid, slopes, depth) * clear
    return np.asarray(ground + (GRID_COLOUR - ground) * cover[..., None]).astype(np.uint8)


def _grid_cover(camera: Camera, above: float, grid: float, slopes: Array, depth: Array) -> Array:
    """Return how much the nearest grid line of either direction covers each pixel (height, width).

    Args:
        camera: camera of the picture.
        above: height of the camera above the ground [m].
        grid: distance between grid lines [m].
        slopes: of the rows below the camera's axis (height, 1).
        depth: of the ground in each row (height, 1) [m]; 0 above the horizon.
    """
    focal, x = camera.focal, np.arange(camera.width) + 0.5
    slant = depth**2 / above * camera.axes[1, 2]  # derivative of the depth by the slope
    cover = np.zeros((camera.height, camera.width))
    for axis in range(2):  # the world's x and y
        right, down, forward = camera.axes[:, axis]
        # Of rays through the picture's left edge: change of the coordinate per metre of depth.
        left_edge = forward + slopes * down - 0.5 * camera.width / focal * right
        # The coordinate in units of the grid, and its rates along x and y of the picture.
        x_rate = depth * right / focal / grid
        coordinate = (camera.eye[axis] + depth * left_edge) / grid + x * x_rate
        y_rate = (slant * left_edge + depth * down) / focal / grid
        y_rate = y_rate + x * (slant * right / focal / focal / grid)
        with np.errstate(divide="ignore", invalid="ignore"):
            to_line = np.abs(coordinate - np.rint(coordinate))
            distance = to_line / np.sqrt(x_rate**2 + y_rate**2)  # from the nearest line [pixels]
        cover = np.fmax(cover, 0.5 * LINE_WIDTH + 0.5 - distance)
    return np.minimum(cover, 1.0)


def draw_path(picture: Picture, camera: Camera, trace: Array, hidden: Depths) -> None:
    """Draw the visible part of a path over a picture.

    Args:
        picture: the picture, which is changed.
        camera: camera of the picture.
        trace: points of the path (m, 3) [m].
        hidden: 1 / depth of what may hide the path [1/m], in OVERSAMPLING times as many pixels.
    """
    ahead = trace[camera.local(trace)[:, 2] > raster.MIN_DEPTH]
    flat = np.clip(OVERSAMPLING * camera.project(ahead), -MAX_PIXEL, MAX_PIXEL)
    height, width = hidden.shape
    x, y = np.clip(flat.astype(int), 0, (width - 1, height - 1)).T
    visible = hidden[y, x] * camera.local(ahead)[:, 2] <= PATH_DEPTH_RATIO
    sheet = Image.new("L", (width, height))
    pen = ImageDraw.Draw(sheet)
    # Pieces of the path that are visible, or hidden, throughout.
    for piece in np.split(np.arange(len(flat)), np.flatnonzero(np.diff(visible)) + 1):
        if len(piece) > 1 and visible[piece[0]]:
            pen.line(flat[piece].ravel().tolist(), fill=255, width=OVERSAMPLING * PATH_WIDTH)
    _mix(picture, PATH_COLOUR, np.asarray(sheet.reduce(OVERSAMPLING)))


def _mix(picture: Picture, colour: Array, cover: Picture, share: float = 1.0) -> None:
    """Mix a colour into a picture, in each pixel by `cover` (0 to 255) times a share."""
    covered = np.nonzero(cover)
    before = picture[covered]
    picture[covered] = before + share * (colour - before) * (cover[covered][:, None] / 255.0)


def shade_ground(picture: Picture, canvas: Canvas, mesh: Mesh, floor: float) -> None:
    """Darken level ground in a picture where a mesh casts its shadow.

    Args:
        picture: the picture, which is changed.
        canvas: a canvas of the picture's size to draw the shadow on.
        mesh: mesh above the ground.
        floor: height of the ground [m].
    """
    # Project the mesh onto the ground along the light, and blur the pixels that it covers.
    drop = np.maximum(mesh.points[:, 2:] - floor, 0.0) / TO_LIGHT[2]
    canvas.draw(mesh.at(mesh.points - drop * TO_LIGHT))
    height, width, _ = picture.shape
    # The box of these pixels, with the margin into which they are blurred.
    left, top = np.maximum(canvas.box[:2] - SHADOW_MARGIN, 0)
    right, bottom = np.minimum(canvas.box[2:] + SHADOW_MARGIN, (width, height))
    dark = (canvas.owner[top:bottom, left:right] >= 0).astype(np.uint8)
    soft = Image.fromarray(255 * dark).filter(ImageFilter.GaussianBlur(SHADOW_BLUR))
    _mix(picture[top:bottom, left:right], SHADOW_COLOUR, np.asarray(soft), SHADOW_STRENGTH)


class Relief:
    """Terrain before a camera at rest, and the shadows on it.

    Args:
        mesh: mesh of the terrain.
        camera: camera of the pictures, at rest.
        picture: backdrop, over which the terrain is drawn.

    Attributes:
        picture: the terrain on the backdrop.
        hidden: 1 / depth of the terrain [1/m], in OVERSAMPLING times as many pixels.
    """

    def __init__(self, mesh: Mesh, camera: Camera, picture: Picture) -> None:
        low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
        self._size = float(np.linalg.norm(high - low))
        self._middle = 0.5 * (low + high)
        self._mesh = mesh
        self._sun = Canvas(self._above(TO_LIGHT))
        canvas = Canvas(raster.finer(camera))
        canvas.draw(mesh)
        canvas.lay_over(picture)
        self.picture, self.hidden = picture, canvas.depths
        points = _points_seen(camera, canvas.depths[::OVERSAMPLING, ::OVERSAMPLING])
        depth_from_light = self._sun.camera.local(points)[..., 2]
        # For each pixel's point: 1 / depth as seen from the light [1/m], and its pixel on the map.
        self._inverse = np.nan_to_num(1.0 / depth_from_light)
        self._on_map = np.nan_to_num(self._sun.camera.project(points)).astype(int)
        self.shade(picture, mesh)

    def shade(self, picture: Picture, mesh: Mesh) -> None:
        """Darken the terrain in a picture where a mesh casts its shadow."""
        self._sun.draw(mesh)
        inverse = self._inverse * (1.0 + SHADOW_GAP / LIGHT_DISTANCE)
        cover = _shadow(self._sun.depths, self._on_map, inverse)
        _mix(picture, SHADOW_COLOUR, cover, SHADOW_STRENGTH)

    def under(self, points: Array) -> Array:
        """Return points (m, 3) [m] lowered onto the terrain, unchanged where there is none."""
        # From straight above, but for a small angle that gives the camera's x axis a direction.
        above = Canvas(self._above(np.array([1e-6, 0.0, 1.0])))
        above.draw(self._mesh)
        x, y = np.clip(above.camera.project(points).astype(int), 0, MAP_SIZE - 1).T
        inverse = above.depths[y, x]
        depth = 1.0 / np.where(inverse > 0.0, inverse, np.nan)
        heights = np.where(inverse > 0.0, above.camera.eye[2] - depth, points[:, 2])
        return np.column_stack([points[:, :2], heights])

    def _above(self, direction: Array) -> Camera:
        """Return a camera far away in a direction (3,), which sees all of the terrain."""
        distance = LIGHT_DISTANCE * self._size
        # Field of view of 1.1 sizes: the whole terrain and a margin.
        view = 2.0 * math.atan(0.55 / LIGHT_DISTANCE)
        return Camera.aim(self._middle, direction, distance, view, (MAP_SIZE, MAP_SIZE))


def _points_seen(camera: Camera, inverse: Depths) -> Array:
    """Return the points (height, width, 3) [m] that have 1 / depth `inverse`; nan where 0."""
    # Slopes of the columns (width, 1) and the rows (height, 1, 1) against the camera's axis.
    x = (np.arange(camera.width)[:, None] + 0.5 - 0.5 * camera.width) / camera.focal
    y = (np.arange(camera.height)[:, None, None] + 0.5 - 0.5 * camera.height) / camera.focal
    right, down, forward = camera.axes
    rays = x * right + y * down + forward
    return np.asarray(camera.eye + rays / np.where(inverse > 0.0, inverse, np.nan)[..., None])


def _shadow(depths: Depths, on_map: Index, inverse: Array) -> Picture:
    """Return the share, 0 to 255, of 3 x 3 pixels of a depth map that hide each pixel of a picture.

    Args:
        depths: the map, 1 / depth [1/m].
        on_map: position of each pixel of the picture on it (height, width, 2) [pixels].
        inverse: 1 / depth of the pixel from there (height, width) [1/m]; 0 for none.
    """
    is_inside = ((on_map >= 1) & (on_map < np.array(depths.shape[::-1]) - 1)).all(axis=-1)
    is_lit = is_inside & (inverse > 0.0)  # by the light, unless something hides it
    x, y = on_map[is_lit].T
    hiding = np.zeros(len(x), dtype=int)  # number of pixels of the map that hide each of them
    for row, column in np.ndindex(3, 3):
        hiding += depths[y + row - 1, x + column - 1] > inverse[is_lit]
    dark = np.zeros(inverse.shape, dtype=np.uint8)
    dark[is_lit] = 255 * hiding // 9
    return dark
