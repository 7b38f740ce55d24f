"""A heavy box rests on a light one on the ground."""

from collections.abc import Sequence

import numpy as np

from roboaccord_bench.problem import Problem, Row
from roboaccord_bench.scene import GROUND, Body, Motion, Scene

EDGE, MU = 0.2, 0.5  # m, 1


class Stack(Problem):
    """Way of the light box of a stack at rest."""

    figure = "way of a box of 1 kg in 1 s, which stands on the ground under another box"
    unit = "m"
    source = "0: all forces balance, and a rigid body does not sink"
    body = "light"
    cases = ({"ratio": 100.0},)
    columns = ("sink [m]", "way [m]")
    scale = 1e-3
    advice = "For heavy loads look at the sink, not at the stopping box: a setting may trade them."

    def scene(self, **case: float) -> Scene:
        """Return two boxes on the ground."""
        boxes = (
            Body(name=name, size=(EDGE,) * 3, mass=mass, position=(0.0, 0.0, height * EDGE))
            for name, mass, height in (("light", 1.0, 0.5), ("heavy", case["ratio"], 1.5))
        )
        return Scene((GROUND, *boxes), MU)

    def look(self, motion: Motion, **_: float) -> tuple[float, float]:
        """Return how far the box has sunk, and has gone in any direction [m]."""
        way = motion.position - (0.0, 0.0, 0.5 * EDGE)
        return -way[2], float(np.linalg.norm(way))

    def read(self, rows: Sequence[Row], **_: float) -> float:
        """Return the median over the second half of its way, as soft contacts may hop [m]."""
        return float(np.median([way for time, _, way in rows if time > 0.5 * self.duration]))


PROBLEM = Stack()
