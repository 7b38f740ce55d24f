"""A sphere without gravity hits the ground obliquely, once; no integrator has a part in it."""

from collections.abc import Sequence
from math import sqrt

from roboaccord_bench.problem import HEADINGS, Problem, Row, along
from roboaccord_bench.scene import GROUND, ZERO, Motion, Scene, direction, sphere

RADIUS, MU, START = 0.05, 0.3, 0.01  # m, 1, time until it touches [s]
SPEED, FALL = 2.8, 3.0  # along the ground and into it [m/s]
SPINS = 0.0, -56.0  # it rolls off; with this backspin it slides throughout [rad/s]


def lost(slip: float, e: float, mu: float = MU) -> float:
    """Return the impulse over the mass that a slip [m/s] makes [m/s]."""
    return min(mu * (1.0 + e) * FALL, 2.0 / 7.0 * slip)


class Impact(Problem):
    """Speed that friction takes in one oblique impact of a sphere."""

    figure = "speed along the ground that an oblique impact takes from a sphere without gravity"
    unit = "m/s"
    source = "mu (1 + e) v, at most 2/7 of the slip: Coulomb's law integrated over the impact"
    body = "ball"
    cases = (
        *({**heading, "spin": spin, "e": 0.0} for heading in HEADINGS for spin in SPINS),
        *({**HEADINGS[-1], "spin": spin, "e": 0.5} for spin in SPINS),
    )
    columns = ("speed along the ground [m/s]",)
    duration = 0.1
    advice = "Turn the world by 45 degrees: what changes is the engine's law, not nature's."

    def exact(self, **case: float) -> float:
        """Return the impulse of friction over the mass, which ends with the slip [m/s]."""
        return lost(SPEED - case["spin"] * RADIUS, case["e"])

    def scene(self, **case: float) -> Scene:
        """Return a sphere above the ground, whose spin and velocity lie in one plane."""
        x, y, _ = direction(case["heading"]).tolist()
        spin = -case["spin"] * y, case["spin"] * x, 0.0
        ball = sphere(self.body, RADIUS, START * FALL, (SPEED * x, SPEED * y, -FALL), spin)
        return Scene((GROUND, ball), MU, case["e"], ZERO)

    def series(self, time: float, **case: float) -> tuple[float]:
        """Return the speed along the ground at a time [m/s]."""
        return (SPEED - (self.exact(**case) if time > START else 0.0),)

    def hit(self, **_: float) -> float:
        """Return when it touches the ground [s]."""
        return START

    def look(self, motion: Motion, **case: float) -> tuple[float]:
        """Return the speed along the ground [m/s]."""
        return (along(case["heading"], motion.velocity),)

    def read(self, rows: Sequence[Row], **_: float) -> float:
        """Return the speed lost [m/s]."""
        return SPEED - rows[-1][1]

    def laws(self, **case: float) -> dict[str, float]:
        """Return the ratios under friction by axes, and under a pyramid at 45 degrees."""
        x, y, _ = direction(case["heading"])
        slip, e, exact = SPEED - case["spin"] * RADIUS, case["e"], self.exact(**case)
        losses = {"box": sum(part * lost(slip * part, e) for part in (x, y))}
        if case["heading"] == 45.0:
            losses["pyramid"] = lost(slip, e, MU / sqrt(2.0))
        return {law: loss / exact for law, loss in losses.items() if abs(loss - exact) > 1e-9}


PROBLEM = Impact()
