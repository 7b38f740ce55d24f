"""Robots over the pictures of a film, beside a first one, translucent as their looks say."""

from __future__ import annotations

from functools import cache

import numpy as np

from roboaccord.bag.second import SecondRun
from roboaccord.contract.state import Array
from roboaccord.view.raster import Canvas, Mesh, Picture
from roboaccord.view.scene import Scene, Shape, resample


class Layers:
    """Draw a robot beside a first one, the shapes of each opacity as a layer.

    Args:
        second: its motion, and how it looks.
        step: motion between pictures [s].
        turn: from the world to the axes of the pictures, transposed (3, 3).

    Attributes:
        second: as given.
        centre: of mass, at each picture (t, 3) [m].
    """

    def __init__(self, second: SecondRun, step: float, turn: Array) -> None:
        self.second, self._motion, self._turn = second, resample(second.trajectory, step), turn
        self._parsed = cache(Scene.parse)
        scene = self._parsed(second.painted(second.look(0.0)))
        self._poses = scene.motion(self._motion)
        self.centre = scene.tree.centres(*self._poses)

    def draw(self, picture: Picture, canvas: Canvas, i: int) -> str:
        """Draw it over a picture, in front of what a canvas holds; return the line to write.

        The last pose stays where the motion is over.
        """
        k = min(i, len(self._motion) - 1)
        look = self.second.look(float(self._motion.time[k]))
        shapes = self._parsed(self.second.painted(look)).shapes
        for opacity in sorted({shape.opacity for shape in shapes}):
            layer = [shape for shape in shapes if shape.opacity == opacity]
            over = Canvas(canvas.camera, canvas.depths)
            over.draw(Mesh.join([self._placed(shape, k) for shape in layer]))
            before = picture.astype(float)
            over.lay_over(picture)
            picture[:] = np.rint(before + opacity * (picture - before))
        return look.line

    def _placed(self, shape: Shape, k: int) -> tuple[Array, tuple[tuple[int, ...], ...], Array]:
        origins, rotations = (part[k, shape.link] for part in self._poses)
        vertices = (shape.vertices @ rotations.T + origins) @ self._turn
        return vertices, shape.faces, shape.colour
