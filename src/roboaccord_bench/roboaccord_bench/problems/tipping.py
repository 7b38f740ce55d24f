"""A box on a ramp: from which slope it tips over its lower edge."""

from math import atan, cos, hypot, sin, sqrt

import numpy as np
from scipy.special import ellipj

from roboaccord_bench.ramp import Threshold
from roboaccord_bench.scene import G, Motion, direction

WIDTH, HEIGHT = 0.2, 0.4  # m
PENDULUM = sqrt(1.5 * G / hypot(WIDTH, HEIGHT))  # rate of the box about its edge [1/s]


class Tipping(Threshold):
    """Threshold of tipping on a ramp, by the spin after 0.3 s.

    Friction is more than enough in all directions, also under a pyramid. The engine itself finds
    the contacts of a box on a box. In soft contacts the box leans, and tips earlier.
    """

    figure = "least slope (tangent) on which a box tips, 0.2 m wide and 0.4 m high, at mu 1"
    source = "width over height: the weight points past the lower edge"
    answer = WIDTH / HEIGHT
    columns = ("spin [rad/s]",)
    advice = "Let a box touch by its faces: spheres at its corners make it narrower."
    size, mu, slope, duration = (WIDTH, 2.0 * WIDTH, HEIGHT), 1.0, 0.6, 0.3

    def series(self, time: float, **_: float) -> tuple[float]:
        """Return the spin on the first slope [rad/s]: of a pendulum let go beside its top."""
        beside = atan(self.slope) - atan(WIDTH / HEIGHT)
        sn, _, dn, _ = ellipj(PENDULUM * time, cos(beside / 2.0) ** 2)
        return (PENDULUM * sin(beside) * float(sn / dn),)

    def look(self, motion: Motion, **case: float) -> tuple[float]:
        """Return the spin about the lower edge [rad/s]."""
        return (float(motion.spin @ np.cross((0.0, 0.0, 1.0), direction(**case))),)


PROBLEM = Tipping()
