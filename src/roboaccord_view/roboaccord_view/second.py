"""Robots beside the first one, drawn translucent: the reference in a bag, or further runs.

A SecondRun is the motion of such a robot, with its looks (colours, opacity and a line of text) over
time; the bag of a cross-check records the looks of the reference (`roboaccord.bag.Look`). Layers
draws it over a picture: shapes of the same opacity are drawn together as a layer, and mixed in.
player.py shows it on a page.

COLOURS and `names_of` may be changed. CLEARANCE stays above 1: it keeps a robot that
coincides with the first one from flickering through it.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

import numpy as np
from roboaccord.bag import REFERENCE, BagRun, Look
from roboaccord.contract import Aim, Array, Trajectory
from roboaccord.description import BLUE, Scene, Surface

from roboaccord_view.drawing.annotations import INK, Ink, length_text, rgb
from roboaccord_view.drawing.raster import Canvas, Mesh, Picture
from roboaccord_view.drawing.waiting import is_moving
from roboaccord_view.motion import MovingRobot, resample

# Ratio of depths by which another robot must be nearer to hide the first one: any from 1.001, above
# the rounding of poses in bags, to 1.01, below a link's thickness, would do.
CLEARANCE = 1.005
# Red, green and blue, 0 to 1.
Colour = tuple[float, float, float]
# Colours of further robots, in turn. Blue as in figures, then green, violet and ochre, far apart in
# hue.
COLOURS: tuple[Colour, ...] = (BLUE, (0.05, 0.55, 0.30), (0.60, 0.25, 0.70), (0.70, 0.50, 0.0))


@dataclass(frozen=True)
class SecondRun:
    """A robot beside a first one: its motion, and its looks over time.

    Args:
        trajectory, urdf: motion and description.
        looks: looks in order of time; each is valid from its time on.
        name: name of the motion's source, such as an engine.
        colour: colour of the robot.
        bodies: surfaces of the free bodies beside it, in that colour.
    """

    trajectory: Trajectory
    urdf: str
    looks: Sequence[Look] = (Look(),)
    name: str = REFERENCE
    colour: Colour = BLUE
    bodies: Sequence[Surface] = ()

    def painted(self, look: Look) -> str:
        """Return the description in the colours of a look."""
        return look.paint(self.urdf, self.colour)

    def look_at(self, moment: float) -> Look:
        """Return the look at a time [s].

        A link that the last look names as the cause is red from `since` on, when the cause began,
        although a cross-check can name it only later.
        """
        next_index = bisect_right(self.looks, moment, key=lambda look: look.time)
        current, last = self.looks[max(next_index - 1, 0)], self.looks[-1]
        if not last.link or moment < last.since:
            return replace(current, link="", line="")
        return replace(current, link=last.link, line=last.line)

    def with_bodies(self, surfaces: Sequence[Surface]) -> Self:
        """Return the run with the free bodies among surfaces, if its motion has any."""
        moving = [] if self.trajectory.bodies is None else [s for s in surfaces if s.frame]
        return replace(self, bodies=[replace(s, colour=np.array(self.colour)) for s in moving])


def runs_beside(runs: Sequence[BagRun], urdfs: Sequence[str]) -> list[SecondRun]:
    """Return all runs but the first as robots beside it, each in a colour of its own.

    Args:
        runs: recorded runs.
        urdfs: descriptions of all but the first.
    """
    others = enumerate(zip(runs[1:], urdfs, names_of(runs)[1:], strict=True))
    return [
        SecondRun(run.trajectory, urdf, name=name, colour=COLOURS[i % len(COLOURS)])
        for i, (run, urdf, name) in others
    ]


def names_of(runs: Sequence[BagRun]) -> list[str]:
    """Return names that distinguish runs: their engines, or else their controllers."""
    engines = [run.engine or f"run {i + 1}" for i, run in enumerate(runs)]
    controllers = [run.scenario.get("controller", {}).get("name", "") for run in runs]
    only_controllers_differ = len(set(engines)) == 1 and len(set(controllers)) == len(runs)
    return controllers if only_controllers_differ else engines


class Layers:
    """Draws a robot beside the first one into pictures, the shapes of each opacity as a layer.

    Args:
        second: motion and looks of the robot.
        step: time between pictures [s of motion].
        count: number of pictures; the last pose stays once the motion is over.
        aim: the point whose path is given; by default the centre of mass.

    Attributes:
        second: the argument.
        ink: colour of the robot, 0 to 255.
        path: positions of the point at each picture (t, 3) [m].
        moving: whether something moves, at each picture (t,).
    """

    def __init__(self, second: SecondRun, step: float, count: int, aim: Aim | None = None) -> None:
        self.second = second
        self._parsed = cache(Scene.parse)  # scene of a description; few looks differ
        scene = self._parsed(second.painted(second.look_at(0.0)))
        moved = MovingRobot(scene, resample(second.trajectory, step), second.bodies)
        samples = np.minimum(np.arange(count), len(moved.motion) - 1)
        self._moved = moved
        self.ink = rgb(255.0 * np.array(second.colour))
        self.path = moved.path(aim)[samples]
        self.moving = is_moving(moved.motion, moved.origins, step)[samples]

    def end(self, i: int) -> str:
        """Return words on the end of the run; "" while it lasts."""
        over = i >= len(self._moved.motion)
        return f"ended at {self.second.trajectory.time[-1]:.1f} s" if over else ""

    def draw(self, picture: Picture, canvas: Canvas, i: int, turn: Array) -> str:
        """Draw the robot over a picture, and return the line of its look.

        Args:
            picture: the picture, which is changed.
            canvas: holds the depths of the first robot.
            i: index of the sample.
            turn: transposed rotation from the world to the axes of the picture (3, 3).
        """
        motion = self._moved.motion
        k = min(i, len(motion) - 1)
        look = self.second.look_at(float(motion.time[k]))
        robot = self._parsed(self.second.painted(look)).shapes
        bodies = self._moved.shapes[len(robot) :]
        shapes = [*robot, *(replace(shape, opacity=look.opacity) for shape in bodies)]
        for opacity in sorted({shape.opacity for shape in shapes}):
            layer = [shape for shape in shapes if shape.opacity == opacity]
            clearance = np.float32(1.0 if look.link else CLEARANCE)
            layer_canvas = Canvas(canvas.camera, canvas.depths * clearance)
            layer_canvas.draw(Mesh.join(layer).at(self._moved.placed(layer, k) @ turn))
            # Draw the layer opaque, then mix it with the picture before it.
            before = picture.astype(float)
            layer_canvas.lay_over(picture)
            picture[:] = np.rint(before + opacity * (picture - before))
        return look.line


def distance_lines(
    name: str, path: Array, others: Sequence[Layers], aim: Aim | None, i: int
) -> list[tuple[str, Ink]]:
    """Return a line for each robot, in its colour: its distance from the target or first robot.

    A run that has ended gets the time of its end instead. All distances have one unit, that of the
    largest of the film.

    Args:
        name: of the first robot; "" without others.
        path: of its aim, or centre of mass, at each picture (t, 3) [m].
        others: robots beside it.
        aim: the point of which distances are given.
        i: index of the picture.
    """
    target = aim.target if aim else None
    if target is None and not others:
        return []
    points = aim.name if aim else "centres of mass"
    origin, place = (path, "apart") if target is None else (target, "from the target")
    names = [(name, INK, path, ""), *((o.second.name, o.ink, o.path, o.end(i)) for o in others)]
    largest = max(float(np.linalg.norm(of - origin, axis=-1).max()) for _, _, of, _ in names)
    rows = list[tuple[str, Ink]]()
    for who, ink, of, end in names:
        distance = float(np.linalg.norm(of - origin, axis=-1)[i])
        text = end or f"{points} {length_text(distance, largest)} {place}"
        rows.append(("   ".join(filter(None, (who, "" if of is origin else text))), ink))
    return rows
