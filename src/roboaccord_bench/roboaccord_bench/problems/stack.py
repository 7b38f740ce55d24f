"""A heavy box rests on a light one on the ground."""

from __future__ import annotations

import numpy as np

from roboaccord_bench.problem import Problem, Trial
from roboaccord_bench.scene import GROUND, Body, Scene

EDGE, MU = 0.2, 0.5  # m


class Stack(Problem):
    """Way of the light box of a stack at rest."""

    figure = "way of a box of 1 kg in 1 s, which stands on the ground under another box"
    unit = "m"
    source = "0: all forces balance, and a rigid body does not sink"
    cases = ({"ratio": 100.0},)
    columns = ("sink [m]", "way [m]")
    scale = 1e-3
    advice = "For heavy loads look at the sink, not at the stopping box: a setting may trade them."

    def exact(self, **_: float) -> float:
        """Return 0 [m]."""
        return 0.0

    def scene(self, **case: float) -> Scene:
        """Return two boxes on the ground."""
        masses = {"light": 1.0, "heavy": case["ratio"]}
        heights = 0.5 * EDGE, 1.5 * EDGE
        boxes = (
            Body(name=name, size=(EDGE,) * 3, mass=mass, position=(0.0, 0.0, height))
            for (name, mass), height in zip(masses.items(), heights, strict=True)
        )
        return Scene((GROUND, *boxes), MU)

    def series(self, time: float, **_: float) -> tuple[float, float]:
        """Return that it has not moved [m]."""
        return 0.0, 0.0

    def measure(self, trial: Trial, **case: float) -> float:
        """Return the median over the second half of its way, as soft contacts may hop [m]."""
        run = trial.start(self.scene(**case))
        for time in run.steps(self.duration):
            way = run.motion("light").position - (0.0, 0.0, 0.5 * EDGE)
            trial.record(time, -way[2], float(np.linalg.norm(way)))
        return float(np.median([row[2] for row in trial.series if row[0] > 0.5 * self.duration]))


PROBLEM = Stack()
