"""A box on a ramp: from which slope it slides."""

from math import hypot

from roboaccord_bench.ramp import Threshold
from roboaccord_bench.scene import G, direction

MU = 0.5


class Sliding(Threshold):
    """Threshold of sliding on a ramp, by the distance after 0.4 s.

    The mean speed counts rather than the last one, which contacts that hop make uncertain.
    """

    figure = "least slope (tangent) on which a box keeps accelerating, at mu 0.5"
    source = "mu: Coulomb's law on an inclined plane"
    advice = "Choose a cone: a pyramid lets a box slide too early, and friction by axes holds it."
    size, mu, slope, duration, answer = (0.4, 0.4, 0.1), MU, 0.8, 0.4, MU

    def series(self, time: float, **_: float) -> tuple[float]:
        """Return the distance on the first slope [m]."""
        return (0.5 * G * (self.slope - MU) / hypot(1.0, self.slope) * time**2,)

    def laws(self, **case: float) -> dict[str, float]:
        """Return the thresholds under a pyramid and friction by axes, over mu."""
        x, y, _ = direction(**case)
        return {"pyramid": 1.0 / (x + y), "box": 1.0 / max(x, y)} if y else {}


PROBLEM = Sliding()
