"""A cube that a force presses on a wall, where friction holds it: how fast it creeps down."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from roboaccord.contract import Array

from roboaccord_bench.problem import Problem, Trial
from roboaccord_bench.ramp import creep
from roboaccord_bench.scene import Body, Scene

MU = 0.5
WALL = Body(name="wall", size=(1.0, 4.0, 4.0), position=(-0.5, 0.0, 0.0))
CUBE = Body(name="cube", size=(0.1, 0.1, 0.1), mass=1.0, position=(0.05, 0.0, 0.0))


class CreepWall(Problem):
    """Creep of a cube that is pressed on a wall.

    Friction holds it from 19.6 N on. Its law is that of `creep_ramp`, with a d that grows with the
    force. A turn about the vertical leaves the directions of friction as they are, so that the
    force is varied instead.
    """

    figure = "creep of a cube of 1 kg that a force of 25 to 200 N presses on a wall, at mu 0.5"
    unit = "m/s"
    source = "0: Coulomb's law, as mu times the force is more than the weight"
    advice = "Choose a solver whose friction is hard: to press more hardly helps in the others."
    cases = ({"force": 25.0}, {"force": 50.0}, {"force": 100.0}, {"force": 200.0})
    scale = 1e-3

    def exact(self, **_: float) -> float:
        """Return 0 [m/s]."""
        return 0.0

    def scene(self, **_: float) -> Scene:
        """Return a cube beside a wall."""
        return Scene((WALL, CUBE), MU)

    def push(self, force: float) -> Array:
        """Return the force towards the wall (3,) [N]."""
        return np.array([-force, 0.0, 0.0])

    def series(self, time: float, **_: float) -> tuple[float]:
        """Return no distance [m]."""
        return (0.0,)

    def measure(self, trial: Trial, **case: float) -> float:
        """Return the mean speed downwards from 0.5 to 1 s [m/s]."""
        run = trial.start(self.scene(**case))
        for time in run.steps(self.duration, {"cube": self.push(**case)}):
            trial.record(time, -float(run.motion("cube").position[2]))
        return creep(trial.series)


def per_newton(creeps: Mapping[float, float]) -> float:
    """Return by how much a newton more changes the creep [m/s/N], from the creep at each force."""
    return float(np.polyfit([*creeps], [*creeps.values()], 1)[0])


PROBLEM = CreepWall()
