"""Level ground and terrain behind a robot: a grid, its path, and shadows.

Colours and widths below may be changed: pages take GROUND, LINE and TRACE from here. GAP and DETAIL
belong together: the coarser the depth map, the farther behind must be what a shadow falls on.
test_view.py computes where grid lines and a ball's shadow must lie.
"""

from __future__ import annotations

import math

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from roboaccord.contract import Array, Index
from roboaccord.scenario import Camera

from roboaccord_view.raster import LIGHT, NEAR, OVERSAMPLING, Canvas, Depths, Mesh, Picture, finer

GROUND = np.array([233.0, 236.0, 240.0])
LINE = np.array([196.0, 203.0, 212.0])
HAZE = np.array([247.0, 248.0, 250.0])
TRACE, BLACK = np.array([214.0, 106.0, 60.0]), np.zeros(3)
TONES = 6  # of the ground as it fades into the haze: few make small files
LINE_WIDTH = 1.3  # of the grid [pixels]
PATH_WIDTH = 2  # [pixels]
FARTHEST = 1e6  # pixels from the corner of a picture: farther is drawn there
NEARLY = 1.02  # relative depth within which a path lies on what it is drawn on
SHADOW = 0.28  # how much of the light a shadow takes
SOFT = 1.5  # standard deviation of a shadow's edge [pixels]
MARGIN = 6  # pixels past which no edge is soft any more
FAR = 300.0  # of a scene's size: from there the light's rays are as good as parallel
DETAIL = 1024  # pixels of a depth map, in each direction
GAP = 1e-2  # of a scene's size: what is less far behind is not in the shadow of itself


def draw_ground(camera: Camera, floor: float, grid: float) -> Picture:
    """Return level ground with its grid, antialiased, fading into haze.

    Where a line of the grid is on the picture is affine in x along a row.

    Args:
        camera: whose picture is drawn; its picture is not tilted.
        floor: height of the ground [m].
        grid: distance of its lines [m].
    """
    height, width, focal = camera.height, camera.width, camera.focal
    right, down, forward = camera.axes
    x, y = np.arange(width) + 0.5, (np.arange(height)[:, None] + 0.5 - 0.5 * height) / focal
    fall = -(forward[2] + y * down[2])  # of a ray, per metre of depth; right is horizontal
    above = camera.eye[2] - floor
    depth = np.where(fall > 1e-9, above / np.maximum(fall, 1e-9), np.inf)
    nearest = above / max(float(fall.max()), 1e-9)
    clear = np.exp(-(np.maximum(depth / nearest - 1.0, 0.0) ** 2) / 18.0)
    tones = (HAZE + (GROUND - HAZE) * np.round(clear * TONES) / TONES)[:, None]
    depth = np.where(np.isfinite(depth), depth, 0.0)
    slant = depth**2 / above * down[2]  # of depth against y
    cover = np.zeros((height, width))
    for k in range(2):
        ahead = forward[k] + y * down[k] - 0.5 * width / focal * right[k]
        along = depth * right[k] / focal / grid
        at = (camera.eye[k] + depth * ahead) / grid + x * along
        across = (slant * ahead + depth * down[k]) / focal / grid
        across = across + x * (slant * right[k] / focal / focal / grid)
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.abs(at - np.rint(at)) / np.sqrt(along**2 + across**2)  # in pixels
        cover = np.fmax(cover, 0.5 * LINE_WIDTH + 0.5 - away)
    cover = np.minimum(cover, 1.0) * clear
    return np.asarray(tones + (LINE - tones) * cover[..., None]).astype(np.uint8)


def draw_path(picture: Picture, camera: Camera, trace: Array, hidden: Depths) -> None:
    """Draw a path over a picture, but for what is behind something.

    Args:
        picture: to be drawn on.
        camera: whose picture it is.
        trace: points of the path (m, 3) [m].
        hidden: 1 / depth of what stands there, OVERSAMPLING times as fine [1/m].
    """
    ahead = trace[camera.local(trace)[:, 2] > NEAR]
    flat = np.clip(OVERSAMPLING * camera.project(ahead), -FARTHEST, FARTHEST)
    height, width = hidden.shape
    x, y = np.clip(flat.astype(int), 0, (width - 1, height - 1)).T
    clear = hidden[y, x] * camera.local(ahead)[:, 2] <= NEARLY
    sheet = Image.new("L", (width, height))
    pen = ImageDraw.Draw(sheet)
    for part in np.split(np.arange(len(flat)), np.flatnonzero(np.diff(clear)) + 1):
        if len(part) > 1 and clear[part[0]]:
            pen.line(flat[part].ravel().tolist(), fill=255, width=OVERSAMPLING * PATH_WIDTH)
    _mix(picture, TRACE, np.asarray(sheet.reduce(OVERSAMPLING)))


def _mix(picture: Picture, colour: Array, cover: Picture, share: float = 1.0) -> None:
    """Mix a colour into a picture by how much of each pixel it covers, 0 to 255."""
    where = np.nonzero(cover)
    before = picture[where]
    picture[where] = before + share * (colour - before) * (cover[where][:, None] / 255.0)


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
    x_first, top = np.maximum(canvas.box[:2] - MARGIN, 0)
    right, bottom = np.minimum(canvas.box[2:] + MARGIN, (width, height))
    dark = (canvas.owner[top:bottom, x_first:right] >= 0).astype(np.uint8)
    soft = Image.fromarray(255 * dark).filter(ImageFilter.GaussianBlur(SOFT))
    _mix(picture[top:bottom, x_first:right], BLACK, np.asarray(soft), SHADOW)


class Relief:
    """Terrain that stands still before a still camera, and the light on it.

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
        canvas = Canvas(finer(camera))
        canvas.draw(mesh)
        canvas.lay_over(picture)
        self.picture, self.hidden = picture, canvas.depths
        places = _places(camera, canvas.depths[::OVERSAMPLING, ::OVERSAMPLING])
        seen = self._sun.camera.local(places)
        self._inverse = np.nan_to_num(1.0 / seen[..., 2])
        self._flat = np.nan_to_num(self._sun.camera.project(places)).astype(int)
        self.shade(picture, mesh)

    def shade(self, picture: Picture, mesh: Mesh) -> None:
        """Darken a picture where a mesh keeps the light from the terrain."""
        self._sun.draw(mesh)
        gap = 1.0 + GAP / FAR
        _mix(picture, BLACK, _hidden(self._sun.depths, self._flat, self._inverse * gap), SHADOW)

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


def _places(camera: Camera, inverse: Depths) -> Array:
    """Return the points (height, width, 3) [m] that have 1 / depth `inverse`; nan where 0."""
    x = (np.arange(camera.width) + 0.5 - 0.5 * camera.width) / camera.focal
    y = (np.arange(camera.height) + 0.5 - 0.5 * camera.height) / camera.focal
    right, down, forward = camera.axes
    rays = x[:, None] * right + (y[:, None] * down)[:, None] + forward
    return np.asarray(camera.eye + rays / np.where(inverse > 0.0, inverse, np.nan)[..., None])


def _hidden(depths: Depths, flat: Index, inverse: Array) -> Picture:
    """Return how much of what is around a pixel lies behind a depth map, 0 to 255.

    Args:
        depths: the map, 1 / depth [1/m].
        flat: where each pixel of the picture is on it (height, width, 2) [pixels].
        inverse: 1 / depth there (height, width) [1/m], or a little more; 0 for no place.
    """
    inside = ((flat >= 1) & (flat < np.array(depths.shape[::-1]) - 1)).all(axis=-1)
    seen = inside & (inverse > 0.0)
    (x, y), near, around = flat[seen].T, inverse[seen], (-1, 0, 1)
    dark = np.zeros(inverse.shape, dtype=np.uint8)
    dark[seen] = (
        255 * sum((depths[y + j, x + i] > near).astype(int) for j in around for i in around) // 9
    )
    return dark
