"""Draw solids, their shadows and a ground grid into a picture, with numpy and Pillow alone.

Every solid is convex, so its hidden faces are those turned away; between solids each pixel keeps
the nearest face. 1/depth of a plane is affine in the picture, which makes that exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from roboaccord.contract.state import Array
from roboaccord.description.solids import Faces
from roboaccord.view.camera import Camera

GROUND = np.array([233.0, 236.0, 240.0])
LINE = np.array([196.0, 203.0, 212.0])
HAZE = np.array([247.0, 248.0, 250.0])
TRACE = np.array([214.0, 106.0, 60.0])
SHADOW = 0.28  # how much of the light a shadow takes
AMBIENT = 0.62
LIGHT = np.array([-0.45, -0.6, 1.0]) / np.linalg.norm([-0.45, -0.6, 1.0])  # towards the light
LINE_WIDTH = 1.3  # of the grid [pixels]
OVERSAMPLING = 2
NEAR = 1e-3  # [m]

Solid = tuple[Array, Faces, Array]
"""Vertices in the world (v, 3) [m], faces, and colour (3,) in 0..1."""


Buffers = tuple[Array, Array]
"""A picture (height, width, 3), and 1 / depth where there is something, 0 elsewhere."""


def draw_frame(
    camera: Camera,
    solids: Sequence[Solid],
    trace: Array,
    floor: float,
    grid: float,
    behind: Buffers | None = None,
) -> Image.Image:
    """Draw one picture, its edges smoothed.

    Args:
        camera: whose picture is drawn.
        solids: what stands on the ground.
        trace: points of the path to draw on the ground (m, 3) [m].
        floor: height of the ground [m].
        grid: distance of the grid's lines [m].
        behind: terrain that was drawn already, by `draw_terrain` for the same camera; the path is
            drawn over it.
    """
    fine = camera.scaled(OVERSAMPLING)
    pixels = draw_ground(camera, floor, grid)
    path = draw_path(fine, trace)[..., None]
    if behind is not None:
        pixels = _lay_over(pixels, behind)
    pixels += (TRACE - pixels) * path
    if behind is None:
        pixels *= 1.0 - SHADOW * draw_shadows(camera, solids, floor)[..., None]
    paint, depths = draw_solids(fine, solids, None if behind is None else behind[1])
    pixels = _lay_over(pixels, (paint, depths))
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def draw_ground(camera: Camera, floor: float, grid: float) -> Array:
    """Return the ground with its grid, antialiased, fading into haze (height, width, 3)."""
    x = (np.arange(camera.width) + 0.5 - 0.5 * camera.width) / camera.focal
    y = (np.arange(camera.height) + 0.5 - 0.5 * camera.height) / camera.focal
    right, down, forward = camera.axes
    fall = -(forward[2] + y * down[2])  # of a ray, per metre of depth; right is horizontal
    above = camera.eye[2] - floor
    depth = np.where(fall > 1e-9, above / np.maximum(fall, 1e-9), np.inf)[:, None]
    nearest = above / max(float(fall.max()), 1e-9)
    shown = np.where(np.isfinite(depth), depth, 0.0)
    clear = np.exp(-(np.maximum(shown / nearest - 1.0, 0.0) ** 2) / 18.0) * np.isfinite(depth)
    cover = np.zeros((camera.height, camera.width))
    for axis in (0, 1):
        along = forward[axis] + x[None, :] * right[axis] + y[:, None] * down[axis]
        place = (camera.eye[axis] + shown * along) / grid
        away = np.abs(place - np.round(place))
        # Size of a pixel on the ground, in the units of `place`: forward difference both ways.
        step = np.hypot(np.gradient(place, axis=1), np.gradient(place, axis=0)) + 1e-12
        cover = np.maximum(cover, np.clip(0.5 * LINE_WIDTH + 0.5 - away / step, 0, 1))
    cover = (cover * clear)[..., None]
    base = HAZE + (GROUND - HAZE) * np.round(clear * 6)[..., None] / 6  # few tones: small files
    return np.asarray(base + (LINE - base) * cover)


def draw_path(camera: Camera, trace: Array) -> Array:
    """Return how much of each final pixel a path (m, 3) covers, 0 to 1."""
    mask = Image.new("L", (camera.width, camera.height))
    seen = trace[camera.local(trace)[:, 2] > NEAR]
    if len(seen) > 1:
        points = [(float(x), float(y)) for x, y in camera.project(seen)]
        ImageDraw.Draw(mask).line(points, fill=255, width=2 * OVERSAMPLING, joint="curve")
    return np.asarray(mask.reduce(OVERSAMPLING), dtype=float) / 255.0


def draw_shadows(camera: Camera, solids: Sequence[Solid], floor: float) -> Array:
    """Return how dark the ground is, 0 to 1 (height, width)."""
    mask = Image.new("L", (camera.width, camera.height))
    pen = ImageDraw.Draw(mask)
    for vertices, faces, _ in solids:
        drop = np.maximum(vertices[:, 2:] - floor, 0.0) / LIGHT[2]
        fallen = vertices - drop * LIGHT
        if (camera.local(fallen)[:, 2] < NEAR).any():
            continue
        pixels = camera.project(fallen)
        for face in faces:
            pen.polygon([(float(x), float(y)) for x, y in pixels[list(face)]], fill=255)
    blurred = mask.filter(ImageFilter.GaussianBlur(1.5))
    return np.asarray(blurred, dtype=float) / 255.0


def draw_terrain(camera: Camera, terrain: Solid) -> Buffers:
    """Draw terrain, which need not be convex, for the pictures of one camera."""
    vertices, faces, colour = terrain
    sides = [(vertices[list(face)], (tuple(range(len(face))),), colour) for face in faces]
    return draw_solids(camera.scaled(OVERSAMPLING), sides)


def draw_solids(camera: Camera, solids: Sequence[Solid], hidden: Array | None = None) -> Buffers:
    """Draw solids, nearest in front; what is behind 1 / depth `hidden` is left out."""
    pixels = np.zeros((camera.height, camera.width, 3))
    depths = np.zeros((camera.height, camera.width))  # 1 / depth; 0 is infinitely far
    before = depths if hidden is None else hidden
    depths[:] = before
    light = camera.axes @ LIGHT
    for vertices, faces, colour in solids:
        seen = camera.local(vertices)
        if (seen[:, 2] < NEAR).any():
            continue
        flat = camera.project(vertices)
        for face in faces:
            corners = seen[list(face)]
            normal = _normal(corners)
            distance = float(normal @ corners.mean(axis=0))
            if distance < 0.0:
                shade = AMBIENT + (1.0 - AMBIENT) * max(float(normal @ light), 0.0)
                paint = 255.0 * colour * shade
                _fill(camera, flat[list(face)], normal / distance, paint, pixels, depths)
    return pixels, np.where(depths > before, depths, 0.0) if hidden is not None else depths


def _lay_over(pixels: Array, buffers: Buffers) -> Array:
    """Return a picture with what was drawn laid over it, its edges smoothed."""
    paint, depths = buffers
    cover = _reduce((depths > 0.0).astype(float))[..., None]
    return np.asarray(pixels * (1.0 - cover) + _reduce(paint))


def _reduce(values: Array) -> Array:
    """Return means over squares of OVERSAMPLING pixels."""
    n = OVERSAMPLING
    parts = [values[i::n, j::n] for i in range(n) for j in range(n)]
    return np.asarray(np.mean(parts, axis=0))


def _normal(corners: Array) -> Array:
    """Return the unit normal (3,) of a polygon, by Newell's sum; zero if it has no area."""
    total = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
    return np.asarray(total / max(float(np.linalg.norm(total)), 1e-300))


def _fill(
    camera: Camera, polygon: Array, plane: Array, paint: Array, pixels: Array, depths: Array
) -> None:
    """Fill a convex polygon (p, 2) [pixels] where it is nearer than what is there."""
    low = np.maximum(np.floor(polygon.min(axis=0)).astype(int), 0)
    high = np.minimum(np.ceil(polygon.max(axis=0)).astype(int), (camera.width, camera.height))
    if (high <= low).any():
        return
    x = np.arange(low[0], high[0])[None, :] + 0.5
    y = np.arange(low[1], high[1])[:, None] + 0.5
    inside: NDArray[np.bool_] = np.ones((y.size, x.size), dtype=bool)
    for (ax, ay), (bx, by) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        # Outward faces run counter-clockwise for the eye, that is clockwise with y downwards.
        inside &= (bx - ax) * (y - ay) <= (by - ay) * (x - ax)
    ray_x = (x - 0.5 * camera.width) / camera.focal
    ray_y = (y - 0.5 * camera.height) / camera.focal
    inverse = plane[0] * ray_x + plane[1] * ray_y + plane[2]
    window = (slice(low[1], high[1]), slice(low[0], high[0]))
    inside &= inverse > depths[window]
    depths[window][inside] = inverse[inside]
    pixels[window][inside] = paint
