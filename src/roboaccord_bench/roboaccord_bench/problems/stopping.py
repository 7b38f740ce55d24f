"""A box slides on the ground until friction stops it."""

from math import radians

from roboaccord_bench.problem import Problem
from roboaccord_bench.scene import GROUND, Body, G, Scene, direction, vector

SPEED, MU = 2.0, 0.5  # m/s, 1
STOP = SPEED / (MU * G)  # s


class Stopping(Problem):
    """Distance in which a sliding box stops, after twice the time in which it should."""

    figure = "distance in which a box stops that slides with 2 m/s at mu 0.5"
    unit = "m"
    source = "v^2 / (2 mu g): Coulomb's law and the work of a constant force"
    answer = SPEED**2 / (2.0 * MU * G)
    duration = 2.0 * STOP
    advice = "Choose a cone, not a pyramid or a box: they make friction depend on the direction."

    def scene(self, **case: float) -> Scene:
        """Return a box on the ground, which slides in the direction of its heading."""
        position, velocity = (0.0, 0.0, 0.05), vector(SPEED * direction(**case))
        yaw, size = radians(case["heading"]), (0.4, 0.4, 0.1)
        box = Body(name="box", size=size, mass=1.0, position=position, yaw=yaw, velocity=velocity)
        return Scene((GROUND, box), MU)

    def series(self, time: float, **_: float) -> tuple[float]:
        """Return the distance at a time [m]."""
        time = min(time, STOP)
        return (SPEED * time - 0.5 * MU * G * time**2,)

    def laws(self, **case: float) -> dict[str, float]:
        """Return the distances under a pyramid and a box along the world's axes, at 45 degrees."""
        diagonal = case["heading"] == 45.0
        return {"pyramid": 2.0**0.5, "box": 0.5**0.5} if diagonal else {}


PROBLEM = Stopping()
