"""Robots over the pictures of a film, beside a first one, with the opacity of their looks.

How a translucent robot is drawn may change here; its looks are `SecondRun`'s.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from roboaccord.contract import Aim, Array
from roboaccord.description import Scene, Shape

from roboaccord_view.annotations import moves
from roboaccord_view.motion import Moved, resample
from roboaccord_view.raster import Canvas, Mesh, Picture, Solid
from roboaccord_view.second import SecondRun

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
        self.second, self._parsed = second, cache(Scene.parse)
        scene = self._parsed(second.painted(second.look(0.0)))
        self._moved = moved = Moved(scene, resample(second.trajectory, step))
        until = np.minimum(np.arange(count), len(moved.motion) - 1)
        red, green, blue = (round(255 * part) for part in second.colour)
        self.ink = red, green, blue
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
            over.draw(Mesh.join([self._placed(shape, k, turn) for shape in layer]))
            before = picture.astype(float)
            over.lay_over(picture)
            picture[:] = np.rint(before + opacity * (picture - before))
        return look.line

    def _placed(self, shape: Shape, k: int, turn: Array) -> Solid:
        return self._moved.placed(shape, k) @ turn, shape.faces, shape.colour
