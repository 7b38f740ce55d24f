"""A motion as a film: pictures evenly spaced in time, drawn without a display or OpenGL.

A Film first places the camera once (stance.py) and leaves out waiting, times in which nothing moves
(drawing/waiting.py). Then it draws picture by picture: the backdrop with path and shadow
(drawing/backdrop.py), the robot (drawing/raster.py), other robots beside it (second.py), and texts
(drawing/annotations.py).

Terms: the recorded motion is resampled evenly in time, and each picture shows one of these samples,
all of them if nothing is left out. The aim is the point of the robot whose speed and path are
shown. A stance is the placement of the camera; pictures have axes of their own, in which the plane
behind the robot is level. Surfaces are a terrain or a wall behind the robot, or solids beside it.

What a picture is composed of may be changed in `Film.picture`, texts in `_lines_above`,
`_line_below` and `_legend`; test_annotations finds texts and places in pictures.
CHECKED_PICTURES and MAX_BAND may be tuned.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from roboaccord.contract import REFUSED, AccordError, Aim, Array, Event, Index, Trajectory
from roboaccord.description import BACKDROPS, RED, TERRAIN, VISUAL, WALL, Scene, Shape, Surface
from roboaccord.numerics import HAS_NUMBA
from roboaccord.scenario import Camera

from roboaccord_view.drawing import annotations as notes
from roboaccord_view.drawing.annotations import MUTED, Ink
from roboaccord_view.drawing.backdrop import Backdrop
from roboaccord_view.drawing.failures import Failure, failure_lines, failures
from roboaccord_view.drawing.ground import draw_path
from roboaccord_view.drawing.raster import OVERSAMPLING, Canvas, Mesh, Picture, count_hidden, finer
from roboaccord_view.drawing.waiting import MIN_GAP, SHOWN_REST, is_moving, ranges, shown_samples
from roboaccord_view.motion import MovingRobot, resample
from roboaccord_view.options import FPS, SIZE, check_film
from roboaccord_view.second import Layers, SecondRun, distance_lines
from roboaccord_view.stance import AZIMUTHS, CHECK_SIZE, Bands, Stance, over_terrain, stance_of

# Largest fraction of a picture's height for the band of texts above, or for that below: with two of
# them 0.4 remain for the robot.
MAX_BAND = 0.3
# Height of a line of text over that of its letters, and of the band below with its margins; they
# are those of annotations.write_above and write_below.
LINE_HEIGHT, BAND_BELOW = 1.25, 2.5
# Pictures of a motion in which it is checked whether solids hide the robot: every fifteenth of it.
CHECKED_PICTURES = 16

# Called with the number of pictures done, and in all.
Progress = Callable[[int, int], None]


class Film:
    """A motion as pictures, evenly spaced in time.

    Args:
        urdf: description of the robot.
        trajectory: the motion; its joints must be those of the description.
        fps: pictures per second of film.
        size: width and height of the pictures [pixels].
        speed: seconds of motion per second of film.
        surfaces: terrain or a wall instead of level ground, convex solids around the robot, and
            free bodies.
        beside: robots that are drawn translucent beside it. A legend states the distance of each
            from the robot or from its target, unless the line of its look takes that place.
        name: name of the motion's source, such as an engine, if there are others.
        aim: the point whose speed and path are shown; by default `MovingRobot.tip`, or else the
            centre of mass.
        findings: what the controller has detected about the robot, as events.
        uncut: whether times in which nothing moves are included.
        collision: whether collision shapes are drawn instead of visual ones.

    Raises:
        AccordError: for figures out of range, or a robot that cannot be drawn.
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
        check_film(fps, size, speed)
        if not len(trajectory):
            raise AccordError("the motion has no samples to draw")
        if not HAS_NUMBA:
            raise AccordError("films need numba; run: pip install numba")
        self.fps = fps
        self.size = size
        self._width, self._height = size
        self.speed = speed
        self._name = name
        # The motion, resampled, and what follows from it for each of its t samples.
        self._step = speed / fps  # time between samples [s of motion]
        self._scene = Scene.parse(urdf, collision=collision)
        bodies = [surface for surface in surfaces if surface.frame]
        self._robot = MovingRobot(self._scene, resample(trajectory, self._step), bodies)
        self._motion = self._robot.motion
        self._aim = self._robot.tip() if aim is None else aim
        self._aim_speeds = self._robot.speeds(self._aim)  # speed of the aim (t,) [m/s]
        self._path = self._robot.path(self._aim)  # path of the aim in the world (t, 3) [m]
        self._outline = self._robot.outlines()  # outermost vertices of both (t, v, 3) [m]
        # The point of which distances are written: a free body that all runs have, or the aim.
        body = bodies[0] if beside and bodies and all(run.bodies for run in beside) else None
        self._compared = Aim(body.name, body.frame, np.zeros(3)) if body else self._aim
        count = len(self._motion)
        self._layers = [Layers(run, self._step, count, self._compared) for run in beside]
        self._failures = failures(self._scene, trajectory.events)
        self._findings = findings
        # Index of the sample that each picture shows, in order.
        self._samples = np.arange(len(self._motion)) if uncut else self._samples_without_waiting()
        # The faces that are drawn anew in each picture: of robot and bodies, then of the solids.
        self._solids = [s for s in surfaces if s.name not in BACKDROPS and not s.frame]
        drawn: list[Shape | Surface] = [*self._robot.shapes, *self._solids]
        self._mesh = Mesh.join(drawn)
        # Index of the shape or solid of each face (f,).
        self._owners = np.repeat(np.arange(len(drawn)), [len(solid.faces) for solid in drawn])
        # From where, and before what: the placement of the camera needs all of the above.
        by_name = {surface.name: surface for surface in surfaces}
        terrain = by_name.get(TERRAIN)
        self._stance = self._place_camera(terrain, wall=WALL in by_name)
        first_camera = self._stance.camera(0, size)
        # Whether the aim stays within a pixel (t,).
        pixel = self._stance.distance / first_camera.focal
        self._at_rest = ranges(self._path, self._step).max(axis=1) < pixel
        ground = Mesh.join([terrain]) if terrain else None
        self._backdrop = Backdrop(first_camera, self._stance.floor, self._stance.grid, ground)
        self._canvas = Canvas(finer(first_camera), self._backdrop.hidden)
        self._path_on_ground = self._lowered_path()  # in the axes of pictures (t, 3) [m]

    def __len__(self) -> int:
        """Return the number of pictures."""
        return len(self._samples)

    def pictures(self, progress: Progress = lambda done, total: None) -> Iterator[Picture]:
        """Yield all pictures; `progress` is called with the number done and the number in all."""
        for number in range(len(self)):
            yield self.picture(number)
            progress(number + 1, len(self))

    def picture(self, number: int) -> Picture:
        """Draw a picture (height, width, 3): the scene, the other robots, and the texts.

        Args:
            number: of the picture; i is the index of the sample that it shows.
        """
        i = int(self._samples[number])
        camera, turn = self._stance.camera(i, self.size), self._stance.turn.T
        failed = [failure for failure in self._failures if failure.time <= self._motion.time[i]]
        picture = self._draw_scene(camera, i, failed)
        look_lines = [layers.draw(picture, self._canvas, i, turn) for layers in self._layers]
        robot = self._canvas.owner[::OVERSAMPLING, ::OVERSAMPLING] >= 0  # its pixels
        notes.point_out(picture, self._marks(camera, i, failed), robot)
        # The first line that a look has, or else the legend.
        line = next(filter(None, look_lines), "")
        head = [(line, notes.WARNING)] if line else self._legend(i)
        notes.write_above(picture, self._lines_above(i, i - number, head))
        grid = f"grid {self._stance.grid:g} m"
        notes.write_below(picture, self._line_below(i), [f"{self._scene.name}   {grid}", grid])
        return picture

    def portrait(self, shares: Mapping[str, float]) -> Picture:
        """Draw the first sample without texts, each link mixed with red by its share, 0 to 1."""
        share, links = np.zeros((len(self._owners), 1)), self._scene.tree.links
        for index, shape in enumerate(self._robot.shapes):
            if shape.link < len(links):  # else of a free body
                share[self._owners == index] = shares.get(links[shape.link].name, 0.0)
        own = self._mesh.colours
        self._mesh = replace(self._mesh, colours=own + share * (np.array(RED) - own))
        return self._draw_scene(self._stance.camera(0, self.size), 0, ())

    def _draw_scene(self, camera: Camera, i: int, failed: Sequence[Failure]) -> Picture:
        """Draw backdrop, path, shadow and robot at a sample, joints that have failed in red."""
        vertices = self._robot.placed(self._robot.shapes, i)
        points = np.concatenate([vertices, *(solid.vertices for solid in self._solids)])
        # Whether each face is drawn in red (f, 1).
        red = np.isin(self._owners, [failure.shape for failure in failed])[:, None]
        mesh = self._mesh.at(points @ self._stance.turn.T)
        mesh = replace(mesh, colours=np.where(red, RED, mesh.colours))
        self._canvas.camera = finer(camera)
        picture = self._backdrop.picture(camera)
        draw_path(picture, camera, self._path_on_ground[: i + 1], self._canvas.hidden)
        self._backdrop.shade(picture, camera, mesh)
        self._canvas.draw(mesh)
        self._canvas.lay_over(picture)
        return picture

    def _lines_above(
        self, i: int, cut: int, head: Sequence[tuple[str, Ink]]
    ) -> list[tuple[str, Ink]]:
        """Return the lines at the upper edge of a picture, with their colours.

        Args:
            i: index of the sample.
            cut: number of samples before it that were left out.
            head: the first lines.
        """
        lines = failure_lines(self._failures, self._findings, float(self._motion.time[i]))
        rows = [*head, *((line, notes.WARNING) for line in lines)]
        if self._scene.kind != VISUAL:
            rows.append((self._scene.kind, MUTED))
        if cut:
            rows.append((f"{cut * self._step:.1f} s of waiting left out", MUTED))
        return rows

    def _line_below(self, i: int) -> str:
        """Return the line at the lower edge: time, and the speed of the aim or centre of mass."""
        slow = f"   shown at {self.speed:g} x" if self.speed != 1.0 else ""
        point = self._aim.name if self._aim else "centre of mass"
        speed = f"speed of the {point} {self._aim_speeds[i]:.2f} m/s"
        if self._at_rest[i]:
            speed = f"{point} at rest"
        return f"t = {self._motion.time[i]:.2f} s   {speed}{slow}"

    def _marks(self, camera: Camera, i: int, failed: Sequence[Failure]) -> list[notes.Mark]:
        """Return the marks of a picture: the target, the end of a refused one, failed joints."""
        origins, turn = self._robot.origins[i], self._stance.turn.T
        marks = list[notes.Mark]()  # at points of the world (3,) [m]
        if self._aim and self._aim.target is not None:
            marks.append(notes.Mark(self._aim.target, "target", notes.GREEN, ring=True))
            now = self._motion.time[i]
            if any(event.kind == REFUSED and event.time <= now for event in self._findings):
                marks.append(notes.Mark(self._path[-1], "nearest point", notes.GREEN, ring=True))
        marks += [notes.Mark(origins[f.link], f.name, notes.WARNING, ring=False) for f in failed]
        return [mark._replace(point=camera.project(mark.point @ turn)) for mark in marks]

    def _legend(self, i: int) -> list[tuple[str, Ink]]:
        """Return a line for each robot, in its colour: its distance from target or first robot."""
        name, others = self._name if self._layers else "", self._layers if self._name else ()
        return distance_lines(name, self._robot.path(self._compared), others, self._compared, i)

    def _lowered_path(self) -> Array:
        """Return the path in the axes of pictures (t, 3) [m].

        On terrain it is lowered onto the terrain. If it is that of the centre of mass, and stays
        about level, it is lowered onto the ground.
        """
        trace = self._path @ self._stance.turn.T
        lowered = self._backdrop.under(trace)
        if lowered is not None:
            return lowered
        if self._aim is None:
            level = np.ptp(self._path[:, 2]) < np.ptp(self._outline[0], axis=0).max()
            if level or not self._stance.on_ground:
                trace[:, 2] = self._stance.floor
        return trace

    def _place_camera(self, terrain: Surface | None, *, wall: bool) -> Stance:
        """Return the camera placement that sees everything, and in which solids hide least."""
        aspect, bands, count = self._width / self._height, self._bands(), len(self._motion)
        if terrain:
            return over_terrain(terrain.vertices, count, aspect, bands)
        fixed = [solid.vertices for solid in self._solids]
        if self._aim and self._aim.target is not None:
            fixed.append(self._aim.target[None])
        over_time = [self._outline, *(np.tile(vertices, (count, 1, 1)) for vertices in fixed)]
        points = np.concatenate(over_time, axis=1)  # all that must be in view (t, m, 3) [m]
        centre = self._robot.path()
        # Computed one by one, since without solids only the first is needed.
        stances = (
            stance_of(points, centre, self.fps, aspect, bands, azimuth, wall)
            for azimuth in AZIMUTHS
        )
        return min(stances, key=self._times_hidden) if self._solids else next(stances)

    def _bands(self) -> Bands:
        """Return the parts of a picture's height above and below that texts need."""
        letters = notes.letters(self._width)  # height of a line's letters [pixels]
        # The last sample has all lines.
        count = len(self._motion)
        rows = self._lines_above(count - 1, count - len(self._samples), self._legend(0))
        above, below = letters * (1.0 + LINE_HEIGHT * len(rows)), BAND_BELOW * letters
        return min(above / self._height, MAX_BAND), min(below / self._height, MAX_BAND)

    def _times_hidden(self, stance: Stance) -> int:
        """Return how often solids hide the path, in up to CHECKED_PICTURES pictures."""
        solids, turn = Mesh.join(self._solids), stance.turn.T
        solids = solids.at(solids.points @ turn)
        path = self._path @ turn
        size = CHECK_SIZE * self._width // self._height, CHECK_SIZE
        samples = np.unique(np.linspace(0, len(path) - 1, CHECKED_PICTURES).astype(int))
        return sum(count_hidden(stance.camera(i, size), solids, path[i : i + 1]) for i in samples)

    def _samples_without_waiting(self) -> Index:
        """Return the samples of the motion without waiting."""
        moving = is_moving(self._motion, self._outline, self._step)
        for layers in self._layers:
            moving |= layers.moving
        # What fails, or is found to have failed, is shown as well.
        times = [f.time for f in self._failures] + [f.time for f in self._findings]
        moving[np.searchsorted(self._motion.time[:-1], times)] = True
        rest = max(round(SHOWN_REST * self.fps), 1)
        return shown_samples(moving, rest, math.ceil(MIN_GAP / self._step))
