"""Robots beside a first one, translucent: a bag's reference (analytical model), or further runs.

GHOSTS, their colours in turn, may be changed, and `names_of`, how runs are told apart in writing.
How the reference looks as a cross-check goes on is recorded in the bag, as `roboaccord.bag.Look`,
and is changed there. CLEAR must stay above 1: it keeps a robot that coincides with the first from
flickering through it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from roboaccord.bag import REFERENCE, BagRun, Look
from roboaccord.contract import Aim, Array, Trajectory
from roboaccord.description import BLUE, Scene

from roboaccord_view.annotations import moves, rgb
from roboaccord_view.motion import Moved, resample
from roboaccord_view.raster import Canvas, Mesh, Picture

CLEAR = 1.005  # relative depth by which a robot that is alike has to be nearer to be seen
Colour = tuple[float, float, float]
GHOSTS: tuple[Colour, ...] = (BLUE, (0.05, 0.55, 0.30), (0.60, 0.25, 0.70), (0.70, 0.50, 0.0))
"""Of robots beside a first one, in turn."""


@dataclass(frozen=True)
class SecondRun:
    """A robot beside a first one: its motion, and how it looks from a time on.

    Args:
        trajectory, urdf: motion and description.
        looks: in order of time.
        name: of what made the motion, such as an engine.
        colour: red, green and blue, 0 to 1.
    """

    trajectory: Trajectory
    urdf: str
    looks: Sequence[Look] = (Look(),)
    name: str = REFERENCE
    colour: Colour = BLUE

    def painted(self, look: Look) -> str:
        """Return its description as it looks."""
        return look.paint(self.urdf, self.colour)

    def look(self, moment: float) -> Look:
        """Return how it looks at a time [s]: the link that is found in the end is red before."""
        at = bisect_right(self.looks, moment, key=lambda each: each.time)
        now, last = self.looks[max(at - 1, 0)], self.looks[-1]
        if not last.link or moment < last.since:
            return replace(now, link="", line="")
        return replace(now, link=last.link, line=last.line)


def beside(runs: Sequence[BagRun], urdfs: Sequence[str]) -> list[SecondRun]:
    """Return the further runs as robots beside the first one, each in a colour of its own."""
    others = zip(runs[1:], urdfs, names_of(runs)[1:], strict=True)
    return [
        SecondRun(run.trajectory, urdf, name=name, colour=GHOSTS[i % len(GHOSTS)])
        for i, (run, urdf, name) in enumerate(others)
    ]


def names_of(runs: Sequence[BagRun]) -> list[str]:
    """Return names that distinguish runs: their engines, or else their controllers."""
    engines = [run.engine or f"run {i + 1}" for i, run in enumerate(runs)]
    controllers = [run.scenario.get("controller", {}).get("name", "") for run in runs]
    apart = len(set(engines)) == 1 and len(set(controllers)) == len(runs)
    return controllers if apart else engines


class Layers:
    """Draw a robot beside a first one, the shapes of each opacity as a layer.

    Args:
        second: its motion, and how it looks.
        step: motion between pictures [s].
        count: of pictures; the last pose stays where the motion is over.
        aim: the point whose path it has; by default the centre of mass.

    Attributes:
        second, ink: as given, and its colour in bytes.
        path, moving: at each picture, the place (t, 3) [m], and whether something moves (t,).
    """

    def __init__(self, second: SecondRun, step: float, count: int, aim: Aim | None = None) -> None:
        self.second, self._parsed = second, cache(Scene.parse)
        scene = self._parsed(second.painted(second.look(0.0)))
        self._moved = moved = Moved(scene, resample(second.trajectory, step))
        until = np.minimum(np.arange(count), len(moved.motion) - 1)
        self.ink = rgb(255.0 * np.array(second.colour))
        self.path = moved.path(aim)[until]
        self.moving = moves(moved.motion, moved.origins, step)[until]

    def draw(self, picture: Picture, canvas: Canvas, i: int, turn: Array) -> str:
        """Draw it over a picture, in front of what a canvas holds; return the line to write.

        `turn` is from the world to the axes of the picture, transposed (3, 3).
        """
        motion = self._moved.motion
        k = min(i, len(motion) - 1)
        look = self.second.look(float(motion.time[k]))
        shapes = self._parsed(self.second.painted(look)).shapes
        for opacity in sorted({shape.opacity for shape in shapes}):
            layer = [shape for shape in shapes if shape.opacity == opacity]
            over = Canvas(canvas.camera, canvas.depths * np.float32(1.0 if look.link else CLEAR))
            over.draw(Mesh.join(layer).at(self._moved.placed(layer, k) @ turn))
            before = picture.astype(float)
            over.lay_over(picture)
            picture[:] = np.rint(before + opacity * (picture - before))
        return look.line
