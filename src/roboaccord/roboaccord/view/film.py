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
from roboaccord.view.raster import OVERSAMPLING, Canvas, Mesh, Picture, Solid, hidden
from roboaccord.view.scene import VISUAL, Scene, outlines, path, resample, speeds, tip
from roboaccord.view.stance import (
    AZIMUTHS,
    ON_GROUND,
    SMALL,
    VIEW,
    Bands,
    Stance,
    over_terrain,
    stance_of,
)

FPS = 25
SIZE = 720, 404  # pixels
LEAST, MOST = 64, 4096  # pixels of a side
PALE = 0.2  # of the contrast that is left of what is behind lines
MOST_BAND = 0.3  # of a picture's height that is kept for writing, above or below
LOOKS = 16  # pictures in which it is checked whether something blocks the view
INK, MUTED = (45, 52, 62), (110, 120, 132)

Terrain = tuple[Array, Faces | Index]
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
        aim: the point whose speed and path are shown; by default `scene.tip`, or else the centre
            of mass.
        findings: what the controller found out about the robot.
        uncut: whether time in which nothing moves is shown, too.
        collision: whether the robot's collision shapes are drawn, not the visual ones.
        wall: whether the robot is on a wall, even where its motion does not show it.

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
        collision: bool = False,
        wall: bool = False,
    ) -> None:
        check(fps, size, speed)
        if not len(trajectory):
            raise AccordError("the motion has no samples to draw")
        if not HAS_NUMBA:
            raise AccordError("films need numba; run: pip install numba")
        self.fps, self.size, self.speed = fps, size, speed
        self._scene = Scene.parse(urdf, collision=collision)
        self._motion = motion = resample(trajectory, speed / fps)
        aim = aim or tip(self._scene, motion)
        self._rates = speeds(self._scene, motion, aim)
        self._origins, self._turns = self._scene.motion(motion)
        centre = self._scene.tree.centres(self._origins, self._turns)
        self._path = centre if aim is None else path(self._scene, motion, aim)
        count, aspect = len(motion), size[0] / size[1]
        self._name, self._aim, self._step = name, aim, speed / fps
        self._layers = [Layers(each, speed / fps, count, aim) for each in beside]
        self._failures = notes.failures(self._scene, trajectory.events)
        self._findings = findings
        self._outline = outlines(self._scene, self._origins, self._turns)
        self._shown = np.arange(count) if uncut else self._cut()
        self._solids: list[Solid] = [(vertices, faces, EARTH) for vertices, faces in surroundings]
        shapes = self._scene.shapes
        self._mesh = Mesh.join([*((s.vertices, s.faces, s.colour) for s in shapes), *self._solids])
        self._points = self._mesh.points.copy()
        sizes = [len(s.faces) for s in shapes] + [len(faces) for _, faces, _ in self._solids]
        self._owners = np.repeat(np.arange(len(sizes)), sizes)
        bands = self._bands(size)
        if terrain is None:
            fixed = [vertices for vertices, _ in surroundings]
            fixed += [] if aim is None or aim.target is None else [aim.target[None]]
            points = np.concatenate(
                [self._outline, *(np.tile(each, (count, 1, 1)) for each in fixed)], axis=1
            )
            stances = (
                stance_of(points, centre, fps, aspect, bands, turn, wall) for turn in AZIMUTHS
            )
            self._stance = min(stances, key=self._hidden) if self._solids else next(stances)
        else:
            self._stance = over_terrain(terrain[0], count, aspect, bands)
        self._trace = self._path @ self._stance.turn.T
        self._relief: Relief | None = None
        self._still: tuple[Array, Picture] | None = None
        self._canvas = Canvas(self._camera(0).scaled(OVERSAMPLING))
        self._spare = Canvas(self._camera(0))  # for shadows, whose edges are soft anyway
        level = float(np.ptp(centre[:, 2])) < float(np.ptp(self._outline[0], axis=0).max())
        if terrain is None and aim is None and (level or self._stance.turn is not ON_GROUND):
            self._trace[:, 2] = self._stance.floor
        elif terrain is not None:
            ground = self._backdrop(self._camera(0))
            self._relief = Relief(Mesh.join([(*terrain, EARTH)]), self._camera(0), ground)
            self._trace = self._relief.under(self._trace)
            self._canvas = Canvas(self._canvas.camera, self._relief.hidden)

    def _bands(self, size: tuple[int, int]) -> Bands:
        """Return the parts of a picture above and below that are kept for what is written."""
        letters = notes.letters(size[0])
        last = float(self._motion.time[-1])
        rows = len(self._legend(0)) + sum(
            1 for _ in notes.failure_lines(self._failures, self._findings, last)
        )
        rows += (len(self._shown) < len(self._motion)) + (self._scene.kind != VISUAL)
        above, below = (letters * (1.0 + 1.25 * rows), 2.5 * letters)
        return min(above / size[1], MOST_BAND), min(below / size[1], MOST_BAND)

    def _hidden(self, stance: Stance) -> int:
        """Return how often what stands around hides the point whose path is shown."""
        mesh, found = Mesh.join(self._solids), 0
        turn, size = stance.turn.T, (SMALL * self.size[0] // self.size[1], SMALL)
        for i in np.unique(np.linspace(0, len(self._path) - 1, LOOKS).astype(int)):
            camera = Camera.aim(stance.target[i], stance.direction, stance.distance, VIEW, size)
            found += hidden(camera, mesh.at(mesh.points @ turn), self._path[i : i + 1] @ turn)
        return found

    def _cut(self) -> Index:
        """Return the samples of the motion that are shown, without those of waiting."""
        moving = notes.moves(self._motion, self._outline, self._step)
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
        mesh = self._mesh.at(self._placed(i))
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
        robot = self._canvas.owner[::OVERSAMPLING, ::OVERSAMPLING] >= 0
        notes.point_out(picture, self._marks(camera, i, failed), robot)
        line = next(filter(None, lines), "")
        rows = [(line, notes.WARNING)] if line else self._legend(i)
        rows += [
            (line, notes.WARNING)
            for line in notes.failure_lines(self._failures, self._findings, now)
        ]
        if self._scene.kind != VISUAL:
            rows.append((self._scene.kind, MUTED))
        if cut:
            rows.append((f"{cut * self._step:.1f} s of waiting left out", MUTED))
        _headed(picture, rows)
        grid = f"grid {self._stance.grid:g} m"
        return _captioned(picture, self._caption(i), [f"{self._scene.name}   {grid}", grid])

    def _placed(self, i: int) -> Array:
        """Return where all vertices are at a sample, in the axes of the picture (v, 3) [m]."""
        first = 0
        for shape in self._scene.shapes:
            last = first + len(shape.vertices)
            turn, origin = self._turns[i, shape.link], self._origins[i, shape.link]
            self._points[first:last] = shape.vertices @ turn.T + origin
            first = last
        return self._points @ self._stance.turn.T

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
        tracks = [self._path, *(each.path for each in beside)]
        for name, ink, track in zip(names, inks, tracks, strict=True):
            apart = float(np.linalg.norm(track[i] - (self._path[i] if target is None else target)))
            text = f"{what} {1e3 * apart:.0f} mm from the target"
            if target is None:
                text = "" if track is self._path else f"{what} {length(apart)} apart"
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


def _headed(picture: Picture, lines: Sequence[tuple[str, notes.Ink]]) -> None:
    """Write lines at the upper edge of a picture, each in its colour and in as many as it takes."""
    size = notes.letters(picture.shape[1])
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


def _captioned(picture: Picture, left: str, right: Sequence[str]) -> Picture:
    """Write a line at the lower edge of a picture, and on the right the first that has room."""
    height, width, _ = picture.shape
    size = notes.letters(width)
    font, top = notes.font(size), height - 9 * size // 4
    free = width - 4 * size - font.getlength(left)
    ends = [(size, left, INK, "ls")]
    ends += [(width - size, text, MUTED, "rs") for text in right if font.getlength(text) < free][:1]
    for x, text, ink, anchor in ends:
        wide = round(font.getlength(text)) + size
        first = max(x - size // 2 if anchor == "ls" else x + size // 2 - wide, 0)
        ground = picture[top : top + 7 * size // 4, first : first + wide]
        ground[:] = GROUND + (ground - GROUND) * PALE
        strip = Image.fromarray(np.ascontiguousarray(ground))
        ImageDraw.Draw(strip).text((x - first, 5 * size // 4), text, ink, font, anchor)
        ground[:] = np.asarray(strip)
    return picture
