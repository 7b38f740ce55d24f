"""Write a moving picture of a motion, on any machine: no display, no OpenGL."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.solids import Faces
from roboaccord.view.camera import Camera
from roboaccord.view.raster import draw_frame, draw_terrain
from roboaccord.view.scene import Scene
from roboaccord.view.stance import ASPECT, VIEW, over_terrain, stance_of

COLOURS = 96
INK, MUTED = (45, 52, 62), (110, 120, 132)
EARTH = np.array([0.72, 0.70, 0.64])  # of terrain

Progress = Callable[[int, int], None]
Terrain = tuple[Array, Faces]


def write_gif(
    urdf: str,
    trajectory: Trajectory,
    path: Path,
    *,
    fps: int = 25,
    width: int = 720,
    speed: float = 1.0,
    progress: Progress | None = None,
    terrain: Terrain | None = None,
    surroundings: Sequence[Terrain] = (),
) -> int:
    """Write a GIF of a motion, and return its number of frames.

    Args:
        urdf: description of the robot.
        trajectory: the motion; its joints must be those of the description.
        path: of the file to write.
        fps: frames a second; GIF holds times in 0.01 s, so up to 50.
        width: of the picture [pixels].
        speed: how many seconds of motion a second of film shows.
        progress: called with the number of frames done and to do.
        terrain: vertices (v, 3) [m] and faces of what the robot is on; instead of a level ground.
        surroundings: convex solids that stand around on it, likewise.

    Raises:
        AccordError: for figures out of range, or a file that cannot be written.
    """
    if not 1 <= fps <= 50 or width < 64 or not speed > 0.0 or not len(trajectory):
        raise AccordError("a GIF needs 1 to 50 frames/s, 64 pixels, a speed above 0 and samples")
    scene = Scene.parse(urdf)
    film = resample(trajectory, speed / fps)
    height = 2 * round(width / ASPECT / 2)
    pictures = list(
        _render(scene, film, fps, speed, (width, height), progress, terrain, surroundings)
    )
    palette = _palette(pictures)
    frames = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    ends = np.round(100.0 * np.arange(len(frames) + 1) / fps)
    try:
        frames[0].save(
            path,
            format="GIF",
            save_all=True,
            append_images=frames[1:],
            duration=[int(10 * d) for d in np.diff(ends)],
            loop=0,
            optimize=False,
        )
    except OSError as error:
        raise AccordError(f"cannot write {path}: {error.strerror or error}") from None
    return len(frames)


def resample(trajectory: Trajectory, step: float) -> Trajectory:
    """Return a motion at every `step` [s] from its start, linear between samples."""
    start, stop = trajectory.time[0], trajectory.time[-1]
    time = start + step * np.arange(math.floor((stop - start) / step + 1e-6) + 1)

    def at(values: Array) -> Array:
        columns = [np.interp(time, trajectory.time, column) for column in values.T]
        return np.column_stack(columns) if columns else np.empty((len(time), 0))

    turns = trajectory.orientation.copy()
    flips = np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    turns[1:] *= np.cumprod(flips)[:, None]  # q and -q are one rotation, but do not average
    turns = at(turns)
    return Trajectory(
        joints=trajectory.joints,
        time=time,
        q=at(trajectory.q),
        qd=at(trajectory.qd),
        effort=at(trajectory.effort),
        position=at(trajectory.position),
        orientation=turns / np.linalg.norm(turns, axis=1, keepdims=True),
        twist=at(trajectory.twist),
        events=trajectory.events,
    )


def _render(
    scene: Scene,
    film: Trajectory,
    fps: int,
    speed: float,
    size: tuple[int, int],
    progress: Progress | None,
    terrain: Terrain | None,
    surroundings: Sequence[Terrain],
) -> list[Image.Image]:
    origins, rotations = scene.motion(film)
    bodies = [
        np.einsum("tij,vj->tvi", rotations[:, s.link], s.vertices) + origins[:, None, s.link]
        for s in scene.shapes
    ]
    bodies += [np.tile(vertices, (len(film), 1, 1)) for vertices, _ in surroundings]
    looks = [(s.faces, s.colour) for s in scene.shapes] + [(f, EARTH) for _, f in surroundings]
    centre = scene.centres(origins, rotations)
    if terrain is None:
        stance = stance_of(bodies, centre, fps)
    else:
        stance = over_terrain(terrain[0], len(film))
    bodies = [body @ stance.turn.T for body in bodies]
    centre = centre @ stance.turn.T
    rate = np.linalg.norm(np.gradient(centre, speed / fps, axis=0), axis=1) if len(film) > 1 else 0
    rates = rate * np.ones(len(film))
    trace = np.column_stack([centre[:, :2], np.full(len(film), stance.floor)])
    behind = None
    if terrain is not None:
        trace = centre
        camera = Camera.aim(stance.target[0], stance.direction, stance.distance, VIEW, size)
        behind = draw_terrain(camera, (*terrain, EARTH))
    pictures = []
    for i in range(len(film)):
        camera = Camera.aim(stance.target[i], stance.direction, stance.distance, VIEW, size)
        solids = [(b[i], *look) for b, look in zip(bodies, looks, strict=True)]
        picture = draw_frame(camera, solids, trace[: i + 1], stance.floor, stance.grid, behind)
        slow = f"   shown at {speed:g} x" if speed != 1.0 else ""
        left = f"t = {film.time[i]:.2f} s   {rates[i]:.2f} m/s{slow}"
        _caption(picture, left, f"{scene.name}   grid {stance.grid:g} m")
        pictures.append(picture)
        if progress:
            progress(i + 1, len(film))
    return pictures


def _caption(picture: Image.Image, left: str, right: str) -> None:
    size = max(10, picture.width // 45)
    font = ImageFont.load_default(size)
    pen = ImageDraw.Draw(picture)
    margin, line = size, picture.height - size
    pen.text((margin, line), left, fill=INK, font=font, anchor="ls")
    pen.text((picture.width - margin, line), right, fill=MUTED, font=font, anchor="rs")


def _palette(pictures: list[Image.Image]) -> Image.Image:
    """Return one palette for all frames, from a few of them: equal ground stays equal."""
    few = pictures[:: max(1, len(pictures) // 6)]
    sheet = Image.new("RGB", (few[0].width, few[0].height * len(few)))
    for i, picture in enumerate(few):
        sheet.paste(picture, (0, i * picture.height))
    return sheet.quantize(COLOURS, method=Image.Quantize.MEDIANCUT)
