"""Robots over the pictures of a film, beside a first one, with the opacity of their looks."""

from __future__ import annotations

from functools import cache

import numpy as np

from roboaccord.bag.second import SecondRun
from roboaccord.contract.state import Aim, Array
from roboaccord.view.annotations import moves
from roboaccord.view.raster import Canvas, Mesh, Picture, Solid
from roboaccord.view.scene import Scene, Shape, path, resample

CLEAR = 1.005  # relative depth by which a robot that is alike has to be nearer to be seen


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
        self.second, self._motion = second, resample(second.trajectory, step)
        self._parsed = cache(Scene.parse)
        scene = self._parsed(second.painted(second.look(0.0)))
        self._poses = scene.motion(self._motion)
        until = np.minimum(np.arange(count), len(self._motion) - 1)
        red, green, blue = (round(255 * part) for part in second.colour)
        self.ink = red, green, blue
        self.path = path(scene, self._motion, aim)[until]
        self.moving = moves(self._motion, self._poses[0], step)[until]

    def draw(self, picture: Picture, canvas: Canvas, i: int, turn: Array) -> str:
        """Draw it over a picture, in front of what a canvas holds; return the line to write.

        `turn` is from the world to the axes of the picture, transposed (3, 3).
        """
        k = min(i, len(self._motion) - 1)
        look = self.second.look(float(self._motion.time[k]))
        shapes = self._parsed(self.second.painted(look)).shapes
        for opacity in sorted({shape.opacity for shape in shapes}):
            layer = [shape for shape in shapes if shape.opacity == opacity]
            over = Canvas(canvas.camera, canvas.depths * np.float32(1.0 if look.link else CLEAR))
            over.draw(Mesh.join([self._placed(shape, k, turn) for shape in layer]))
            before = picture.astype(float)
            over.lay_over(picture)
            picture[:] = np.rint(before + opacity * (picture - before))
        return look.line

    def _placed(self, shape: Shape, k: int, turn: Array) -> Solid:
        origins, rotations = (part[k, shape.link] for part in self._poses)
        vertices = (shape.vertices @ rotations.T + origins) @ turn
        return vertices, shape.faces, shape.colour
