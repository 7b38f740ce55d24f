"""Two surfaces of different coefficients: which one their pair has.

Nature has no rule for it. Each engine has one, and no description says which.
"""

from dataclasses import replace

from roboaccord_bench.pairing import RULES, named_ratios
from roboaccord_bench.problem import Problem, Trial
from roboaccord_bench.problems import bounce, stopping
from roboaccord_bench.scene import G, Scene


class Slide(stopping.Stopping):
    """The box that stops, for as long as the least friction of all rules takes."""

    duration = 1.4


SLIDE, BOUNCE = Slide(), bounce.PROBLEM
START, FALL = {"heading": 0.0}, {"e": 0.0, "height": 0.5}  # their cases


class Pairs(Problem):
    """Coefficient of friction or of restitution of the pair of two surfaces."""

    figure = "coefficient of a pair, from where a box stops or from the bounce of a sphere"
    unit = ""
    source = "no law of nature: errors are relative to the mean, and show the engine's rule"
    cases = (
        {"mu": 0.2, "other": 0.8},
        {"e": 0.5, "other": 0.5},
        {"e": 0.8, "other": 0.0},
        {"e": 0.8, "other": 0.4},
    )
    columns = ("distance or height [m]",)
    duration = Slide.duration
    convention = True
    advice = "Give both surfaces the coefficient of the pair; under the product, its root."

    def exact(self, **case: float) -> float:
        """Return the mean."""
        return RULES["mean"](*case.values())

    def scene(self, **case: float) -> Scene:
        """Return the scene of the box that stops or of the bounce, with a surface for each body."""
        scene = SLIDE.scene(**START) if "mu" in case else BOUNCE.scene(**FALL)
        key = "mu" if "mu" in case else "restitution"
        pairs = zip(scene.bodies, case.values(), strict=True)
        bodies = (replace(body, **{key: value}) for body, value in pairs)  # type: ignore[arg-type]
        return replace(scene, bodies=tuple(bodies))

    def series(self, time: float, **case: float) -> tuple[float]:
        """Return the distance or height under the mean, which is the box's own mu [m]."""
        if "mu" in case:
            return SLIDE.series(time)
        return BOUNCE.series(time, **{**FALL, "e": self.exact(**case)})

    def measure(self, trial: Trial, scene: Scene, **case: float) -> list[float]:
        """Return the coefficient that explains the motion."""
        if "mu" not in case:
            return BOUNCE.measure(trial, scene, **FALL)
        distances = SLIDE.measure(trial, scene, **START)
        return [stopping.SPEED**2 / (2.0 * G * distance) for distance in distances]

    def laws(self, **case: float) -> dict[str, float]:
        """Return what the rules give, over the mean."""
        return named_ratios(*case.values())


PROBLEM = Pairs()
