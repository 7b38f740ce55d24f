"""A sphere slides on the ground until it rolls."""

from collections.abc import Sequence

import numpy as np
from roboaccord.contract import AccordError

from roboaccord_bench.problem import Problem, Row
from roboaccord_bench.scene import GROUND, G, Motion, Scene, direction, sphere, vector

SPEED, MU, RADIUS = 2.0, 0.2, 0.1  # m/s, 1, m
ROLLS = 2.0 * SPEED / (7.0 * MU * G)  # s


class Rolling(Problem):
    """Time until a sliding sphere rolls."""

    figure = "time until a sphere rolls that slides with 2 m/s at mu 0.2"
    unit = "s"
    source = "2 v / (7 mu g): friction slows the sphere and turns it, I = 2/5 m R^2"
    body = "sphere"
    answer = ROLLS
    columns = ("slip [m/s]",)
    duration = 2.0 * ROLLS
    advice = "Choose a cone, and look whether damping of free bodies is on."

    def scene(self, **case: float) -> Scene:
        """Return a sphere that slides towards the heading."""
        velocity = vector(SPEED * direction(**case))
        return Scene((GROUND, sphere(self.body, RADIUS, 0.0, velocity)), MU)

    def series(self, time: float, **_: float) -> tuple[float]:
        """Return the speed of the sphere's lowest point [m/s]."""
        return (max(SPEED - 3.5 * MU * G * time, 0.0),)

    def look(self, motion: Motion, **_: float) -> tuple[float]:
        """Return the speed of the sphere's lowest point [m/s]."""
        slip = motion.velocity + np.cross(motion.spin, (0.0, 0.0, -RADIUS))
        return (float(np.linalg.norm(slip[:2])),)

    def read(self, rows: Sequence[Row], **_: float) -> float:
        """Return where a line through the slips below a half of the first is zero [s].

        It leaves out those below a twentieth, so that it depends neither on where the last step of
        sliding falls nor on a slip that is left.
        """
        times, slips = np.array(rows).T
        if slips[-1] > 0.05 * SPEED:
            raise AccordError(f"it still slips by {slips[-1]:.2g} m/s after {times[-1]:.3g} s")
        late = (slips < 0.5 * SPEED) & (slips > 0.05 * SPEED)
        return float(np.polyfit(slips[late], times[late], 1)[1])

    def laws(self, **case: float) -> dict[str, float]:
        """Return the times under a pyramid and friction by axes, over the exact one."""
        x, y, _ = direction(**case)
        return {"pyramid": x + y, "box": max(x, y)} if y else {}


PROBLEM = Rolling()
