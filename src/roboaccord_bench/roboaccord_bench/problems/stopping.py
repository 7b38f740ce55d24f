"""A box slides on the ground until friction stops it."""

from __future__ import annotations

from math import cos, radians, sin

from roboaccord_bench.problem import Problem, Trial, along
from roboaccord_bench.scene import GROUND, Body, G, Scene

SPEED, MU = 2.0, 0.5  # m/s
STOP = SPEED / (MU * G)  # s


class Stopping(Problem):
    """Distance in which a sliding box stops."""

    figure = "distance in which a box stops that slides with 2 m/s at mu 0.5"
    unit = "m"
    duration = 2.0 * STOP
    source = "v^2 / (2 mu g): Coulomb's law and the work of a constant force"
    advice = "Choose a cone, not a pyramid or a box: they make friction depend on the direction."

    def exact(self, **_: float) -> float:
        """Return v^2 / (2 mu g) [m]."""
        return SPEED**2 / (2.0 * MU * G)

    def scene(self, **case: float) -> Scene:
        """Return a box on the ground, which slides in the direction of its heading."""
        angle = radians(case["heading"])
        box = Body(
            name="box",
            size=(0.4, 0.4, 0.1),
            mass=1.0,
            position=(0.0, 0.0, 0.05),
            yaw=angle,
            velocity=(SPEED * cos(angle), SPEED * sin(angle), 0.0),
        )
        return Scene((GROUND, box), MU)

    def series(self, time: float, **_: float) -> tuple[float]:
        """Return the distance at a time [m]."""
        time = min(time, STOP)
        return (SPEED * time - 0.5 * MU * G * time**2,)

    def measure(self, trial: Trial, **case: float) -> float:
        """Return the distance after twice the time in which it should stop [m]."""
        run = trial.start(self.scene(**case))
        for time in run.steps(self.duration):
            trial.record(time, along(case, run.motion("box").position))
        return trial.series[-1][1]

    def laws(self, **case: float) -> dict[str, float]:
        """Return the distances under a pyramid and a box along the world's axes, at 45 degrees."""
        diagonal = case["heading"] == 45.0
        return {"pyramid": 2.0**0.5, "box": 0.5**0.5} if diagonal else {}


PROBLEM = Stopping()
