"""A motion as a film: pictures evenly spaced in time, drawn without display or OpenGL."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from PIL import Image, ImageDraw

from roboaccord.bag.second import SecondRun
from roboaccord.contract.contact import Index
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import REFUSED
from roboaccord.contract.state import Aim, Array, Event
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.materials import RED
from roboaccord.description.solids import Faces
from roboaccord.numerics.jit import HAS_NUMBA
from roboaccord.scenario.surroundings import EARTH
from roboaccord.view import annotations as notes
from roboaccord.view.camera import Camera
from roboaccord.view.ground import GROUND, Relief, draw_ground, draw_path, shade_ground
from roboaccord.view.layers import Layers
from roboaccord.view.raster import OVERSAMPLING, Canvas, Mesh, Picture
from roboaccord.view.scene import Scene, path, resample, speeds
from roboaccord.view.stance import VIEW, over_terrain, stance_of

FPS = 25
SIZE = 720, 404  # pixels
LEAST, MOST = 64, 4096  # pixels of a side
PALE = 0.2  # of the contrast that is left of what is behind lines
INK, MUTED = (45, 52, 62), (110, 120, 132)

Terrain = tuple[Array, Faces]
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
            line of its own, it is written how far they are from the robot, or from its target.
        name: of what made the motion, where there are others.
        aim: the point whose speed and path are shown; by default the centre of mass.
        findings: what the controller found out about the robot.
        uncut: whether time in which nothing moves is shown, too.

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
        aim: Aim | None = None,
        findings: Sequence[Event] = (),
        uncut: bool = False,
    ) -> None:
        check(fps, size, speed)
        if not len(trajectory):
            raise AccordError("the motion has no samples to draw")
        if not HAS_NUMBA:
            raise AccordError("moving pictures need numba; run: pip install numba")
        self.fps, self.size, self.speed = fps, size, speed
        self._scene, self._motion = Scene.parse(urdf), resample(trajectory, speed / fps)
        self._rates = speeds(self._scene, self._motion, aim)
        bodies, looks, centre = _bodies(self._scene, self._motion, surroundings)
        self._path = centre if aim is None else path(self._scene, self._motion, aim)
        count, aspect = len(self._motion), size[0] / size[1]
        others = [Layers(each, speed / fps, count, aim) for each in beside]
        target = aim.target if aim else None
        if terrain is None:
            more = [] if target is None else [np.tile(target, (count, 1, 1))]
            self._stance = stance_of([*bodies, *more], centre, fps, aspect)
        else:
            self._stance = over_terrain(terrain[0], count, aspect)
        turn = self._stance.turn.T
        self._mesh = Mesh.join([(b[0], *look) for b, look in zip(bodies, looks, strict=True)])
        self._points, self._trace = np.concatenate(bodies, axis=1) @ turn, self._path @ turn
        self._owners = np.repeat(np.arange(len(looks)), [len(faces) for faces, _ in looks])
        self._name, self._aim, self._layers = name, aim, others
        self._failures = notes.failures(self._scene, trajectory.events)
        self._findings, self._origins = findings, self._scene.motion(self._motion)[0]
        self._step = speed / fps
        self._shown = np.arange(count) if uncut else self._cut()
        self._relief: Relief | None = None
        self._still: tuple[Array, Picture] | None = None
        self._canvas = Canvas(self._camera(0).scaled(OVERSAMPLING))
        self._spare = Canvas(self._camera(0))  # for shadows, whose edges are soft anyway
        if terrain is None and aim is None:
            self._trace[:, 2] = self._stance.floor
        elif terrain is not None:
            ground = self._backdrop(self._camera(0))
            self._relief = Relief(Mesh.join([(*terrain, EARTH)]), self._camera(0), ground)
            self._trace = self._relief.under(self._trace)
            self._canvas = Canvas(self._canvas.camera, self._relief.hidden)

    def _cut(self) -> Index:
        """Return the samples of the motion that are shown, without those of waiting."""
        own = sum(len(shape.vertices) for shape in self._scene.shapes)
        moving = notes.moves(self._motion, self._points[:, :own], self._step)
        for each in self._layers:
            moving |= each.moving
        happened = [*(each.time for each in self._failures), *(f.time for f in self._findings)]
        moving[np.searchsorted(self._motion.time[:-1], happened)] = True
        rest = max(round(notes.REST * self.fps), 1)
        return notes.shown(moving, rest, math.ceil(notes.WORTH / self._step))

    def __len__(self) -> int:
        """Return how many pictures it has."""
        return len(self._shown)

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
        return self._drawn(int(self._shown[i]), int(self._shown[i]) - i)

    def _drawn(self, i: int, cut: int) -> Picture:
        """Draw what is at a sample of the motion, before which so many were left out."""
        camera, now = self._camera(i), float(self._motion.time[i])
        mesh = self._mesh.at(self._points[i])
        failed = [each for each in self._failures if each.time <= now]
        red = np.isin(self._owners, [each.shape for each in failed])[:, None]
        mesh = replace(mesh, colours=np.where(red, RED, mesh.colours))
        self._canvas.camera, self._spare.camera = camera.scaled(OVERSAMPLING), camera
        picture = self._backdrop(camera)
        draw_path(picture, camera, self._trace[: i + 1], self._canvas.hidden)
        if self._relief:
            self._relief.shade(picture, mesh)
        else:
            shade_ground(picture, self._spare, mesh, self._stance.floor)
        self._canvas.draw(mesh)
        self._canvas.lay_over(picture)
        turn = self._stance.turn.T
        lines = [layers.draw(picture, self._canvas, i, turn) for layers in self._layers]
        notes.point_out(picture, self._marks(camera, i, failed))
        line = next(filter(None, lines), "")
        rows = [(line, notes.WARNING)] if line else self._legend(i)
        rows += [(line, notes.WARNING) for line in notes.told(self._failures, self._findings, now)]
        if cut:
            rows.append((f"{cut * self._step:.1f} s of waiting left out", MUTED))
        _headed(picture, rows)
        grid = f"{self._scene.name}   grid {self._stance.grid:g} m"
        return _captioned(picture, self._caption(i), grid)

    def _caption(self, i: int) -> str:
        """Return what is written below: time, and the speed of what."""
        slow = f"   shown at {self.speed:g} x" if self.speed != 1.0 else ""
        what = self._aim.name if self._aim else "centre of mass"
        return (
            f"t = {self._motion.time[i]:.2f} s   speed of the {what} {self._rates[i]:.2f} m/s{slow}"
        )

    def _marks(self, camera: Camera, i: int, failed: Sequence[notes.Failure]) -> list[notes.Mark]:
        """Return what is pointed out in a picture: the target, the end of a refused one, joints."""
        places: list[notes.Mark]
        places = [(self._origins[i, f.link], f.name, notes.WARNING, False) for f in failed]
        if self._aim and self._aim.target is not None:
            if any(f.kind == REFUSED and f.time <= self._motion.time[i] for f in self._findings):
                places.insert(0, (self._path[-1], "nearest point", notes.GREEN, True))
            places.insert(0, (self._aim.target, "target", notes.GREEN, True))
        turn = self._stance.turn.T
        return [
            (camera.project(place @ turn), name, ink, ring) for place, name, ink, ring in places
        ]

    def _legend(self, i: int) -> list[tuple[str, notes.Ink]]:
        """Return what is drawn, each in its colour, with its distance from target or robot."""
        target, rows = self._aim.target if self._aim else None, list[tuple[str, notes.Ink]]()
        what = self._aim.name if self._aim else "centres of mass"
        beside = self._layers if self._name else []
        names = [self._name if beside else "", *(each.second.name for each in beside)]
        inks = [INK, *(each.ink for each in beside)]
        ways = [self._path, *(each.path for each in beside)]
        for name, ink, way in zip(names, inks, ways, strict=True):
            apart = float(np.linalg.norm(way[i] - (self._path[i] if target is None else target)))
            text = f"{what} {1e3 * apart:.0f} mm from the target"
            if target is None:
                text = "" if way is self._path else f"{what} {length(apart)} apart"
            rows.append(("   ".join(filter(None, (name, text))), ink))
        return rows if beside or target is not None else []

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
    # The font has no Greek letters for micrometres.
    unit, scale = next(
        (each[1:] for each in ((1.0, "m", 1.0), (1e-6, "mm", 1e3)) if value >= each[0]),
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


def _headed(picture: Picture, lines: Sequence[tuple[str, notes.Ink]]) -> None:
    """Write lines at the upper edge of a picture, each in its colour and in as many as it takes."""
    size = notes.letters(picture)
    wide = 2 * picture.shape[1] // size - 8
    rows = [(row, ink) for line, ink in lines for row in textwrap.wrap(line, wide)]
    if rows:
        longest = max(notes.font(size).getlength(row) for row, _ in rows)
        ground = picture[size // 2 : (4 * len(rows) + 5) * size // 4, : round(longest) + 2 * size]
        ground[:] = GROUND + (ground - GROUND) * PALE
        sheet = Image.fromarray(picture)
        pen = ImageDraw.Draw(sheet)
        for k, (row, ink) in enumerate(rows):
            pen.text((size, size + k * size * 5 // 4), row, fill=ink, font=notes.font(size))
        picture[:] = np.asarray(sheet)


def _captioned(picture: Picture, left: str, right: str) -> Picture:
    """Write a line at the lower edge of a picture, and on the right another where there is room."""
    height, width, _ = picture.shape
    size = notes.letters(picture)
    strip = Image.fromarray(picture[height - 3 * size :])
    pen = ImageDraw.Draw(strip)
    ends = [(size, left, INK, "ls")]
    if pen.textlength(f"{left}    {right}", font=notes.font(size)) < width - 2 * size:
        ends.append((width - size, right, MUTED, "rs"))
    for x, text, ink, anchor in ends:
        where = (x, 2 * size)
        pen.text(where, text, fill=ink, font=notes.font(size), anchor=anchor, **notes.HALO)
    picture[height - 3 * size :] = np.asarray(strip)
    return picture
