"""A motion as a film: pictures evenly spaced in time, drawn without display or OpenGL.

What a picture is composed of may be changed in `Film.picture`, what is written in `_rows`,
`_caption` and `_legend`; places and words that test_annotations.py finds in pictures stay. Of its
parts `raster`, `ground` and `second` draw the robot, what is around it and others beside it,
`annotations` writes, and `stance` places the camera. LOOKS, of speed, and MOST_BAND, of room for
the robot, may be tuned. Times of pictures must stay even.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from roboaccord.contract import REFUSED, AccordError, Aim, Array, Event, Index, Trajectory
from roboaccord.description import BACKDROPS, RED, TERRAIN, VISUAL, WALL, Scene, Shape, Surface
from roboaccord.numerics import HAS_NUMBA
from roboaccord.scenario import Camera

from roboaccord_view import annotations as notes
from roboaccord_view.annotations import INK, MUTED, Ink
from roboaccord_view.ground import Relief, draw_ground, draw_path, shade_ground
from roboaccord_view.motion import Moved, resample
from roboaccord_view.options import FPS, SIZE, check
from roboaccord_view.raster import OVERSAMPLING, Canvas, Mesh, Picture, finer, hidden
from roboaccord_view.second import Layers, SecondRun
from roboaccord_view.stance import AZIMUTHS, SMALL, Bands, Stance, over_terrain, stance_of

MOST_BAND = 0.3  # of a picture's height that is kept for writing, above or below
LOOKS = 16  # pictures in which it is checked whether something blocks the view

Progress = Callable[[int, int], None]


class Film:
    """Draw a motion, picture by picture.

    Args:
        urdf: description of the robot.
        trajectory: the motion; its joints must be those of the description.
        fps: pictures a second of film.
        size: width and height of the pictures [pixels].
        speed: how many seconds of motion a second of film shows.
        surfaces: terrain or a wall instead of level ground, and convex solids that stand around.
        beside: robots that are drawn translucent beside it; of several, or of one without a
            line of its own, it is written how far they are from the robot, or from its target.
        name: of what made the motion, where there are others.
        aim: the point whose speed and path are shown; by default `Moved.tip`, or else the centre
            of mass.
        findings: what the controller found out about the robot.
        uncut: whether time in which nothing moves is shown, too.
        collision: whether the robot's collision shapes are drawn, not the visual ones.

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
        surfaces: Sequence[Surface] = (),
        beside: Sequence[SecondRun] = (),
        name: str = "",
        aim: Aim | None = None,
        findings: Sequence[Event] = (),
        uncut: bool = False,
        collision: bool = False,
    ) -> None:
        check(fps, size, speed)
        if not len(trajectory):
            raise AccordError("the motion has no samples to draw")
        if not HAS_NUMBA:
            raise AccordError("films need numba; run: pip install numba")
        self.fps, self.size, self.speed, self._step = fps, size, speed, speed / fps
        self._scene = Scene.parse(urdf, collision=collision)
        self._moved = moved = Moved(self._scene, resample(trajectory, self._step))
        self._motion, self._findings, self._name = moved.motion, findings, name
        self._aim = aim = aim or moved.tip()
        self._rates, self._path = moved.speeds(aim), moved.path(aim)
        self._outline = moved.outlines()
        self._layers = [Layers(each, self._step, len(self._motion), aim) for each in beside]
        self._failures = notes.failures(self._scene, trajectory.events)
        self._shown = np.arange(len(self._motion)) if uncut else self._cut()
        self._solids = [each for each in surfaces if each.name not in BACKDROPS]
        drawn: list[Shape | Surface] = [*self._scene.shapes, *self._solids]
        self._mesh = Mesh.join(drawn)
        self._owners = np.repeat(np.arange(len(drawn)), [len(each.faces) for each in drawn])
        backdrops = {surface.name: surface for surface in surfaces}
        terrain = backdrops.get(TERRAIN)
        self._stance = self._look(terrain, wall=WALL in backdrops)
        self._trace = self._path @ self._stance.turn.T
        self._relief: Relief | None = None
        self._still: tuple[Array, Picture] | None = None
        first = self._stance.camera(0, size)
        self._canvas = Canvas(finer(first))
        self._spare = Canvas(first)  # for shadows, whose edges are soft anyway
        if terrain:
            self._relief = Relief(Mesh.join([terrain]), first, self._backdrop(first))
            self._trace = self._relief.under(self._trace)
            self._canvas = Canvas(finer(first), self._relief.hidden)
        elif aim is None:
            level = np.ptp(self._path[:, 2]) < np.ptp(self._outline[0], axis=0).max()
            if level or not self._stance.on_ground:
                self._trace[:, 2] = self._stance.floor

    def _look(self, terrain: Surface | None, *, wall: bool) -> Stance:
        """Return from where all is seen, and nothing that stands around hides the path."""
        aspect, bands, count = self.size[0] / self.size[1], self._bands(), len(self._motion)
        if terrain:
            return over_terrain(terrain.vertices, count, aspect, bands)
        fixed = [each.vertices for each in self._solids]
        if self._aim and self._aim.target is not None:
            fixed.append(self._aim.target[None])
        points = [self._outline, *(np.tile(each, (count, 1, 1)) for each in fixed)]
        seen, centre = np.concatenate(points, axis=1), self._moved.path()
        stances = (
            stance_of(seen, centre, self.fps, aspect, bands, turn, wall) for turn in AZIMUTHS
        )
        return min(stances, key=self._hidden) if self._solids else next(stances)

    def _bands(self) -> Bands:
        """Return the parts of a picture above and below that are kept for what is written."""
        letters, height = notes.letters(self.size[0]), self.size[1]
        count = len(self._motion)
        rows = self._rows(count - 1, count - len(self._shown), self._legend(0))
        above, below = letters * (1.0 + 1.25 * len(rows)), 2.5 * letters
        return min(above / height, MOST_BAND), min(below / height, MOST_BAND)

    def _hidden(self, stance: Stance) -> int:
        """Return how often what stands around hides the point whose path is shown."""
        mesh, turn = Mesh.join(self._solids), stance.turn.T
        placed, path = mesh.at(mesh.points @ turn), self._path @ turn
        size = SMALL * self.size[0] // self.size[1], SMALL
        looks = np.unique(np.linspace(0, len(path) - 1, LOOKS).astype(int))
        return sum(hidden(stance.camera(i, size), placed, path[i : i + 1]) for i in looks)

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

    def pictures(self, progress: Progress = lambda done, total: None) -> Iterator[Picture]:
        """Yield all pictures; `progress` is called with the number of those done and to do."""
        for i in range(len(self)):
            yield self.picture(i)
            progress(i + 1, len(self))

    def picture(self, k: int) -> Picture:
        """Draw a picture (height, width, 3)."""
        i = int(self._shown[k])
        camera, now = self._stance.camera(i, self.size), float(self._motion.time[i])
        turn = self._stance.turn.T
        robot = self._moved.placed(self._scene.shapes, i)
        points = np.concatenate([robot, *(each.vertices for each in self._solids)])
        failed = [each for each in self._failures if each.time <= now]
        red = np.isin(self._owners, [each.shape for each in failed])[:, None]
        mesh = self._mesh.at(points @ turn)
        mesh = replace(mesh, colours=np.where(red, RED, mesh.colours))
        self._canvas.camera, self._spare.camera = finer(camera), camera
        picture = self._backdrop(camera)
        draw_path(picture, camera, self._trace[: i + 1], self._canvas.hidden)
        if self._relief:
            self._relief.shade(picture, mesh)
        else:
            shade_ground(picture, self._spare, mesh, self._stance.floor)
        self._canvas.draw(mesh)
        self._canvas.lay_over(picture)
        lines = [layers.draw(picture, self._canvas, i, turn) for layers in self._layers]
        covered = self._canvas.owner[::OVERSAMPLING, ::OVERSAMPLING] >= 0
        notes.point_out(picture, self._marks(camera, i, failed), covered)
        line = next(filter(None, lines), "")
        head = [(line, notes.WARNING)] if line else self._legend(i)
        notes.write_above(picture, self._rows(i, i - k, head))
        grid = f"grid {self._stance.grid:g} m"
        notes.write_below(picture, self._caption(i), [f"{self._scene.name}   {grid}", grid])
        return picture

    def _rows(self, i: int, cut: int, head: Sequence[tuple[str, Ink]]) -> list[tuple[str, Ink]]:
        """Return what is written above, with colours, where so many samples were left out."""
        now = float(self._motion.time[i])
        lines = notes.failure_lines(self._failures, self._findings, now)
        rows = [*head, *((line, notes.WARNING) for line in lines)]
        if self._scene.kind != VISUAL:
            rows.append((self._scene.kind, MUTED))
        if cut:
            rows.append((f"{cut * self._step:.1f} s of waiting left out", MUTED))
        return rows

    def _caption(self, i: int) -> str:
        """Return what is written below: time, and the speed of what."""
        slow = f"   shown at {self.speed:g} x" if self.speed != 1.0 else ""
        what = self._aim.name if self._aim else "centre of mass"
        time = f"t = {self._motion.time[i]:.2f} s"
        return f"{time}   speed of the {what} {self._rates[i]:.2f} m/s{slow}"

    def _marks(self, camera: Camera, i: int, failed: Sequence[notes.Failure]) -> list[notes.Mark]:
        """Return what is pointed out in a picture: the target, the end of a refused one, joints."""
        origins, places = self._moved.origins[i], list[notes.Mark]()
        if self._aim and self._aim.target is not None:
            places.append((self._aim.target, "target", notes.GREEN, True))
            if any(f.kind == REFUSED and f.time <= self._motion.time[i] for f in self._findings):
                places.append((self._path[-1], "nearest point", notes.GREEN, True))
        places += [(origins[f.link], f.name, notes.WARNING, False) for f in failed]
        turn = self._stance.turn.T
        return [(camera.project(at @ turn), text, ink, ring) for at, text, ink, ring in places]

    def _legend(self, i: int) -> list[tuple[str, Ink]]:
        """Return what is drawn, each in its colour, with its distance from target or robot."""
        target = self._aim.target if self._aim else None
        if target is None and not (self._name and self._layers):
            return []
        what = self._aim.name if self._aim else "centres of mass"
        drawn = [(self._name if self._layers else "", INK, self._path[i])]
        if self._name:
            drawn += [(each.second.name, each.ink, each.path[i]) for each in self._layers]
        rows = list[tuple[str, Ink]]()
        for name, ink, place in drawn:
            distance = float(np.linalg.norm(place - (self._path[i] if target is None else target)))
            text = f"{what} {1e3 * distance:.0f} mm from the target"
            if target is None:
                text = f"{what} {notes.length(distance)} apart" if rows else ""
            rows.append(("   ".join(filter(None, (name, text))), ink))
        return rows

    def _backdrop(self, camera: Camera) -> Picture:
        """Return a copy of what stands behind the robot; drawn anew where the camera moves."""
        if self._relief:
            return self._relief.picture.copy()
        if self._still is None or (camera.eye != self._still[0]).any():
            stance = self._stance
            self._still = camera.eye, draw_ground(camera, stance.floor, stance.grid)
        return self._still[1].copy()
