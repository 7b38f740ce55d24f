"""Two fingers press a cube from both sides: they hold it, and nothing lifts it."""

from __future__ import annotations

import numpy as np

from roboaccord_bench.problem import Problem, Trial
from roboaccord_bench.scene import GROUND, Body, Scene

EDGE, THICK, MU = 0.05, 0.02, 1.0  # m
REACH = 0.5 * (EDGE + THICK)  # m


class Pinch(Problem):
    """Rise of a cube between two fingers."""

    figure = "rise of a cube of 0.1 kg in 1 s that two fingers press with a force from both sides"
    unit = "m"
    source = "0: fingers that cannot rise hold up to 2 mu F, and do not lift"
    cases = tuple({"height": h, "force": force} for h in (0.0, 0.1) for force in (2.0, 50.0))
    columns = ("rise [m]",)
    scale = 1e-3
    advice = "Before a grasp is believed: press without lifting, and see whether the object rises."

    def exact(self, **_: float) -> float:
        """Return 0 [m]."""
        return 0.0

    def scene(self, **case: float) -> Scene:
        """Return a cube between fingers on slides along x, on the ground or above it."""
        z = 0.5 * EDGE + case["height"]
        cube = Body(name="cube", size=(EDGE,) * 3, mass=0.1, position=(0.0, 0.0, z))
        fingers = (
            Body(
                name=name,
                size=(THICK, 0.6 * EDGE, 0.6 * EDGE),
                mass=0.1,
                position=(x, 0.0, z),
                slide=(1.0, 0.0, 0.0),
            )
            for name, x in (("left", -REACH), ("right", REACH))
        )
        return Scene((GROUND, cube, *fingers), MU)

    def series(self, time: float, **_: float) -> tuple[float]:
        """Return that it has not risen [m]."""
        return (0.0,)

    def measure(self, trial: Trial, **case: float) -> float:
        """Return the rise after 1 s [m]; negative if it slips."""
        scene = self.scene(**case)
        run, start = trial.start(scene), scene.moving[0].position[2]
        press = np.array([case["force"], 0.0, 0.0])
        for time in run.steps(self.duration, {"left": press, "right": -press}):
            trial.record(time, run.motion("cube").position[2] - start)
        return trial.series[-1][1]


PROBLEM = Pinch()
