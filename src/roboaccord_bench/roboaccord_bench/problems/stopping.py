"""A box slides on the ground until friction stops it."""

from __future__ import annotations

from math import cos, radians, sin

import numpy as np
from roboaccord_bench.problem import Problem, Trial
from roboaccord_bench.scene import GROUND, Body, G, Scene

SPEED, MU = 2.0, 0.5  # m/s
STOP = SPEED / (MU * G)  # s


class Stopping(Problem):
    """Distance in which a sliding box stops."""

    figure = "distance in which a box stops that slides with 2 m/s at mu 0.5"
    unit = "m"
    source = "v^2 / (2 mu g): Coulomb's law and the work of a constant force"
    advice = "Choose a cone, not a pyramid or a box: they make friction depend on the direction."

    def exact(self, **_: float) -> float:
        """Return v^2 / (2 mu g) [m]."""
        return SPEED**2 / (2.0 * MU * G)

    def measure(self, trial: Trial, **case: float) -> float:
        """Return the distance after twice the time in which it should stop [m]."""
        angle = radians(case["heading"])
        direction = np.array([cos(angle), sin(angle), 0.0])
        box = Body(
            name="box",
            size=(0.4, 0.4, 0.1),
            mass=1.0,
            position=(0.0, 0.0, 0.05),
            rotation=(0.0, 0.0, angle),
            velocity=tuple(SPEED * direction),
        )
        run = trial.start(Scene((GROUND, box), MU))
        for time in run.steps(2.0 * STOP):
            trial.record(time, float(run.motion("box").position @ direction))
        return trial.series[-1][1]

    def laws(self, **case: float) -> dict[str, float]:
        """Return the distances under a pyramid and a box along the world's axes, at 45 degrees."""
        diagonal = case["heading"] == 45.0
        return {"pyramid": 2.0**0.5, "box": 0.5**0.5} if diagonal else {}


PROBLEM = Stopping()
