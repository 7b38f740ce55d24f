"""Two fingers press a cube from both sides: they hold it, and nothing lifts it."""

import numpy as np
from roboaccord.contract import Array

from roboaccord_bench.problem import Problem
from roboaccord_bench.scene import GROUND, Body, Motion, Scene

EDGE, THICK, MU = 0.05, 0.02, 1.0  # m, m, 1
REACH = 0.5 * (EDGE + THICK)  # m
FINGER = (THICK, 0.6 * EDGE, 0.6 * EDGE)  # m


class Pinch(Problem):
    """Rise of a cube between two fingers; negative if it slips."""

    figure = "rise of a cube of 0.1 kg in 1 s that two fingers press with a force from both sides"
    unit = "m"
    source = "0: fingers that cannot rise hold up to 2 mu F, and do not lift"
    body = "cube"
    cases = tuple({"height": h, "force": force} for h in (0.0, 0.1) for force in (2.0, 50.0))
    columns = ("rise [m]",)
    scale = 1e-3
    advice = "Before a grasp is believed: press without lifting, and see whether the object rises."

    def scene(self, **case: float) -> Scene:
        """Return a cube between fingers on slides along x, on the ground or above it."""
        z = 0.5 * EDGE + case["height"]
        cube = Body(name="cube", size=(EDGE,) * 3, mass=0.1, position=(0.0, 0.0, z))
        fingers = (
            Body(name=name, size=FINGER, mass=0.1, position=(x, 0.0, z), slide=(1.0, 0.0, 0.0))
            for name, x in (("left", -REACH), ("right", REACH))
        )
        return Scene((GROUND, cube, *fingers), MU)

    def forces(self, **case: float) -> dict[str, Array]:
        """Return the forces of both fingers towards the cube (3,) [N]."""
        press = np.array([case["force"], 0.0, 0.0])
        return {"left": press, "right": -press}

    def look(self, motion: Motion, **case: float) -> tuple[float]:
        """Return the rise [m]."""
        return (float(motion.position[2] - (0.5 * EDGE + case["height"])),)


PROBLEM = Pinch()
