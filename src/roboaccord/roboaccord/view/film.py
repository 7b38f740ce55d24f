"""A motion as a film: pictures evenly spaced in time, drawn without display or OpenGL."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from roboaccord.bag.second import SecondRun
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.solids import Faces
from roboaccord.numerics.jit import HAS_NUMBA
from roboaccord.scenario.surroundings import EARTH
from roboaccord.view.camera import Camera
from roboaccord.view.ground import Relief, draw_ground, draw_path, shade_ground
from roboaccord.view.layers import Layers
from roboaccord.view.raster import OVERSAMPLING, Canvas, Mesh, Picture
from roboaccord.view.scene import Scene, resample, speeds
from roboaccord.view.stance import VIEW, over_terrain, stance_of

FPS = 25
SIZE = 720, 404  # pixels
LEAST, MOST = 64, 4096  # pixels of a side
INK, MUTED, WARNING = (45, 52, 62), (110, 120, 132), (190, 20, 20)

Terrain = tuple[Array, Faces]
Ink = tuple[int, int, int]
Progress = Callable[[int, int], None]


class Film:
    """Draw a motion, picture by picture.

    Args:
        urdf: description of the robot.
        trajectory: the motion; its joints must be those of the description.
        fps: pictures a second of film.
        size: width and height of the pictures [pixels].
        speed: how many seconds of motion a second of film shows.
        terrain: vertices (v, 3) [m] and faces of what the robot is on; instead of a level ground.
        surroundings: convex solids that stand around on it, likewise.
        beside: robots that are drawn translucent beside it; of several, or of one without a
            line of its own, the distances of their centres of mass are written.
        name: of what made the motion, where there are distances.

    Raises:
        AccordError: for figures out of range, or what cannot be drawn.
    """

    def __init__(
        self,
        urdf: str,
        trajectory: Trajectory,
        *,
        fps: float = FPS,
        size: tuple[int, int] = SIZE,
        speed: float = 1.0,
        terrain: Terrain | None = None,
        surroundings: Sequence[Terrain] = (),
        beside: Sequence[SecondRun] = (),
        name: str = "",
    ) -> None:
        check(fps, size, speed)
        if not len(trajectory):
            raise AccordError("the motion has no samples to draw")
        if not HAS_NUMBA:
            raise AccordError("moving pictures need numba; run: pip install numba")
        self.fps, self.size, self.speed = fps, size, speed
        self._scene, self._motion = Scene.parse(urdf), resample(trajectory, speed / fps)
        self._rates = speeds(self._scene, self._motion)
        bodies, looks, centre = _bodies(self._scene, self._motion, surroundings)
        aspect = size[0] / size[1]
        if terrain is None:
            self._stance = stance_of(bodies, centre, fps, aspect)
        else:
            self._stance = over_terrain(terrain[0], len(self), aspect)
        turn = self._stance.turn.T
        self._mesh = Mesh.join([(b[0], *look) for b, look in zip(bodies, looks, strict=True)])
        self._points, self._trace = np.concatenate(bodies, axis=1) @ turn, centre @ turn
        self._name, self._centre = name, centre
        self._layers = [Layers(each, speed / fps, turn) for each in beside]
        self._relief: Relief | None = None
        self._still: tuple[Array, Picture] | None = None
        self._canvas = Canvas(self._camera(0).scaled(OVERSAMPLING))
        self._spare = Canvas(self._camera(0))  # for shadows, whose edges are soft anyway
        if terrain is None:
            self._trace[:, 2] = self._stance.floor
        else:
            ground = self._backdrop(self._camera(0))
            self._relief = Relief(Mesh.join([(*terrain, EARTH)]), self._camera(0), ground)
            self._trace = self._relief.under(self._trace)
            self._canvas = Canvas(self._canvas.camera, self._relief.hidden)

    def __len__(self) -> int:
        """Return how many pictures it has."""
        return len(self._motion)

    def pictures(self, progress: Progress | None = None) -> Iterator[Picture]:
        """Yield all pictures.

        Args:
            progress: called with the number of pictures done and to do.
        """
        for i in range(len(self)):
            yield self.picture(i)
            if progress:
                progress(i + 1, len(self))

    def picture(self, i: int) -> Picture:
        """Draw a picture (height, width, 3)."""
        camera = self._camera(i)
        mesh = self._mesh.at(self._points[i])
        self._canvas.camera, self._spare.camera = camera.scaled(OVERSAMPLING), camera
        picture = self._backdrop(camera)
        draw_path(picture, camera, self._trace[: i + 1], self._canvas.hidden)
        if self._relief:
            self._relief.shade(picture, mesh)
        else:
            shade_ground(picture, self._spare, mesh, self._stance.floor)
        self._canvas.draw(mesh)
        self._canvas.lay_over(picture)
        lines = [layers.draw(picture, self._canvas, i) for layers in self._layers]
        slow = f"   shown at {self.speed:g} x" if self.speed != 1.0 else ""
        left = f"t = {self._motion.time[i]:.2f} s   {self._rates[i]:.2f} m/s{slow}"
        line = next(filter(None, lines), "")
        _headed(picture, [(line, WARNING)] if line else self._legend(i))
        return _captioned(picture, left, f"{self._scene.name}   grid {self._stance.grid:g} m")

    def _legend(self, i: int) -> list[tuple[str, Ink]]:
        """Return what is drawn, each in its colour, with its distance from the first."""
        if not (self._layers and self._name):
            return []
        rows: list[tuple[str, Ink]] = [(self._name, INK)]
        for layers in self._layers:
            k = min(i, len(layers.centre) - 1)
            apart = float(np.linalg.norm(layers.centre[k] - self._centre[i]))
            red, green, blue = (round(255 * part) for part in layers.second.colour)
            rows.append((f"{layers.second.name}   {length(apart)} apart", (red, green, blue)))
        return rows

    def _camera(self, i: int) -> Camera:
        stance = self._stance
        return Camera.aim(stance.target[i], stance.direction, stance.distance, VIEW, self.size)

    def _backdrop(self, camera: Camera) -> Picture:
        """Return a copy of what stands behind the robot; drawn anew where the camera moves."""
        if self._relief:
            return self._relief.picture.copy()
        if self._still is None or (camera.eye != self._still[0]).any():
            stance = self._stance
            self._still = camera.eye, draw_ground(camera, stance.floor, stance.grid)
        return self._still[1].copy()


def length(value: float) -> str:
    """Return a length in a unit that fits it, to two digits."""
    unit, scale = next(
        (each for each in (("m", 1.0), ("mm", 1e3), ("µm", 1e6)) if value * each[1] >= 1.0),
        ("nm", 1e9),
    )
    return f"{float(f'{value * scale:.2g}'):g} {unit}"


def check(fps: float, size: tuple[int, int], speed: float) -> None:
    """Refuse a film that cannot be.

    Raises:
        AccordError: for figures out of range.
    """
    if not 0.0 < fps <= 240.0:
        raise AccordError(f"fps is {fps:g}, and must be above 0, and 240 at most")
    if not all(LEAST <= side <= MOST for side in size):
        raise AccordError(f"size is {size[0]}x{size[1]}; its sides are {LEAST} to {MOST} pixels")
    if not (speed > 0.0 and math.isfinite(speed)):
        raise AccordError(f"speed is {speed:g}, and must be above 0")


def parse_size(text: str) -> tuple[int, int]:
    """Return the size of pictures [pixels]: `720x404`, or a width, with sides of 16 to 9.

    Raises:
        AccordError: if it is none.
    """
    width, x, height = text.lower().partition("x")
    if not width.isdecimal() or not (height.isdecimal() or not x):
        raise AccordError(f"size is {text}, and must be WIDTHxHEIGHT or WIDTH in pixels")
    return int(width), int(height) if x else 2 * round(int(width) * 9 / 32)


def _bodies(
    scene: Scene, motion: Trajectory, surroundings: Sequence[Terrain]
) -> tuple[list[Array], list[tuple[Faces, Array]], Array]:
    """Return all that stands and moves: vertices (t, v, 3), looks, centre of mass (t, 3) [m]."""
    origins, rotations = scene.motion(motion)
    bodies = [
        np.einsum("tij,vj->tvi", rotations[:, s.link], s.vertices) + origins[:, None, s.link]
        for s in scene.shapes
    ]
    bodies += [np.tile(vertices, (len(motion), 1, 1)) for vertices, _ in surroundings]
    looks = [(s.faces, s.colour) for s in scene.shapes] + [(f, EARTH) for _, f in surroundings]
    return bodies, looks, scene.tree.centres(origins, rotations)


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _headed(picture: Picture, lines: Sequence[tuple[str, Ink]]) -> None:
    """Write lines at the upper edge of a picture, each in its colour and in as many as it takes."""
    size = max(10, picture.shape[1] // 50)
    wide = 2 * picture.shape[1] // size - 8
    rows = [(row, ink) for line, ink in lines for row in textwrap.wrap(line, wide)]
    if rows:
        strip = Image.fromarray(picture[: (len(rows) + 2) * size * 5 // 4])
        pen = ImageDraw.Draw(strip)
        for k, (row, ink) in enumerate(rows):
            pen.text((size, size + k * size * 5 // 4), row, fill=ink, font=_font(size))
        picture[: strip.height] = np.asarray(strip)


def _captioned(picture: Picture, left: str, right: str) -> Picture:
    """Write a line at the lower edge of a picture."""
    height, width, _ = picture.shape
    size = max(10, width // 45)
    strip = Image.fromarray(picture[height - 3 * size :])
    pen = ImageDraw.Draw(strip)
    pen.text((size, 2 * size), left, fill=INK, font=_font(size), anchor="ls")
    pen.text((width - size, 2 * size), right, fill=MUTED, font=_font(size), anchor="rs")
    picture[height - 3 * size :] = np.asarray(strip)
    return picture
