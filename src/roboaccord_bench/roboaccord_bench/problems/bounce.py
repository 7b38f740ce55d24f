"""A sphere falls on the ground and bounces, in whichever phase of a step it hits."""

from collections.abc import Sequence
from math import exp, sqrt

from roboaccord_bench.problem import Problem, Row
from roboaccord_bench.scene import GROUND, G, Motion, Scene, sphere

RADIUS = 0.05  # m
CONTACT = 0.1  # time allowed for the impact, which is no instant for a spring [s]
LEAST = 1e-6  # speed with which the exact series does not go on bouncing [m/s]


class Bounce(Problem):
    """Coefficient of restitution of a sphere that bounces."""

    figure = "speed with which a sphere leaves the ground over that with which it hits"
    unit = ""
    source = "e: Newton's law of impact"
    body = "ball"
    cases = tuple({"e": e, "height": height} for e in (0.0, 0.3, 0.7, 1.0) for height in (0.1, 0.5))
    columns = ("height [m]",)
    duration = 0.8
    advice = (
        "For a bounce take an engine with a restitution, and look at heights from which it hits "
        "slowly: some have a least speed."
    )

    def exact(self, **case: float) -> float:
        """Return the coefficient of the pair."""
        return case["e"]

    def scene(self, **case: float) -> Scene:
        """Return a sphere over the ground, at rest."""
        return Scene((GROUND, sphere(self.body, RADIUS, case["height"])), 0.0, case["e"])

    def series(self, time: float, **case: float) -> tuple[float]:
        """Return the height at a time [m]."""
        speed = sqrt(2.0 * G * case["height"])
        start = -speed / G
        while speed > LEAST and time > start + 2.0 * speed / G:
            start, speed = start + 2.0 * speed / G, case["e"] * speed
        return (max(speed * (time - start) - 0.5 * G * (time - start) ** 2, 0.0),)

    def hit(self, **case: float) -> float:
        """Return the time of the fall [s]."""
        return sqrt(2.0 * case["height"] / G)

    def span(self, **case: float) -> float:
        """Return the time of the fall and of the impact [s]."""
        return self.hit(**case) + CONTACT

    def look(self, motion: Motion, **_: float) -> tuple[float, float]:
        """Return the height [m], and the speed upwards [m/s]."""
        return motion.position[2] - RADIUS, motion.velocity[2]

    def read(self, rows: Sequence[Row], **_: float) -> float:
        """Return the ratio of the largest speeds up and down."""
        speeds = [speed for _, _, speed in rows]
        return max(speeds) / -min(speeds)

    def laws(self, **case: float) -> dict[str, float]:
        """Return what a critically damped spring that does not pull gives for any e."""
        return {"critically damped spring": exp(-2.0) / case["e"]} if case["e"] else {}


PROBLEM = Bounce()
