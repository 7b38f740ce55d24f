"""A cube that a force presses on a wall, where friction holds it: how fast it creeps down."""

import numpy as np
from roboaccord.contract import Array

from roboaccord_bench.ramp import Creep
from roboaccord_bench.scene import Body, Motion, Scene

MU = 0.5
WALL = Body(name="wall", size=(1.0, 4.0, 4.0), position=(-0.5, 0.0, 0.0))
CUBE = Body(name="cube", size=(0.1, 0.1, 0.1), mass=1.0, position=(0.05, 0.0, 0.0))


class CreepWall(Creep):
    """Creep of a cube that is pressed on a wall.

    Friction holds it from 19.6 N on. Its law is that of `creep_ramp`, with a d that grows with the
    force. A turn about the vertical leaves the directions of friction as they are, so that the
    force is varied instead.
    """

    figure = "creep of a cube of 1 kg that a force of 25 to 200 N presses on a wall, at mu 0.5"
    source = "0: Coulomb's law, as mu times the force is more than the weight"
    body = "cube"
    cases = ({"force": 25.0}, {"force": 50.0}, {"force": 100.0}, {"force": 200.0})
    advice = "Choose a solver whose friction is hard: to press more hardly helps in the others."

    def scene(self, **_: float) -> Scene:
        """Return a cube beside a wall."""
        return Scene((WALL, CUBE), MU)

    def forces(self, **case: float) -> dict[str, Array]:
        """Return the force towards the wall (3,) [N]."""
        return {"cube": np.array([-case["force"], 0.0, 0.0])}

    def look(self, motion: Motion, **_: float) -> tuple[float]:
        """Return the distance downwards [m]."""
        return (-float(motion.position[2]),)

    def further(self, figure: float, **case: float) -> dict[str, float]:
        """Return the creep per newton of the force that presses [m/s/N]."""
        return {"per_newton": figure / case["force"]}


PROBLEM = CreepWall()
