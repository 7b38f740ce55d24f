"""Two surfaces of different coefficients: which one their pair has.

Nature has no rule for it. Each engine has one, and no description says which.
"""

from __future__ import annotations

from dataclasses import replace

from roboaccord_bench.pairing import RULES, equal_surfaces
from roboaccord_bench.problem import Case, Problem, Trial
from roboaccord_bench.problems import bounce, stopping
from roboaccord_bench.scene import G, Scene

HEIGHT = 0.5  # from which the sphere falls [m]


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
    duration = 1.4  # that friction of the product takes to stop the box
    convention = True
    advice = "Give both surfaces the coefficient of the pair; under the product, its root."

    def exact(self, **case: float) -> float:
        """Return the mean."""
        return RULES["mean"](*case.values())

    def scene(self, **case: float) -> Scene:
        """Return the scene of the box that stops or of the bounce, with a surface for each body."""
        scene, key = bounce.PROBLEM.scene(e=0.0, height=HEIGHT), "restitution"
        if "mu" in case:
            scene, key = stopping.PROBLEM.scene(heading=0.0), "mu"
        pairs = zip(scene.bodies, case.values(), strict=True)
        bodies = (replace(body, **{key: value}) for body, value in pairs)  # type: ignore[arg-type]
        return replace(scene, bodies=tuple(bodies))

    def series(self, time: float, **case: float) -> tuple[float]:
        """Return the distance or height under the mean, which is the box's own mu [m]."""
        if "mu" in case:
            return stopping.PROBLEM.series(time)
        return bounce.PROBLEM.series(time, e=self.exact(**case), height=HEIGHT)

    def measure(self, trial: Trial, **case: float) -> float | list[float]:
        """Return the coefficient that explains the motion."""
        scene = self.scene(**case)
        if "mu" not in case:
            return bounce.ratios(trial, scene, HEIGHT)
        run = trial.start(scene)
        for time in run.steps(self.duration):
            trial.record(time, run.motion("box").position[0])
        return stopping.SPEED**2 / (2.0 * G * trial.series[-1][1])

    def laws(self, **case: float) -> dict[str, float]:
        """Return what the rules give; those that give the same have one name."""
        names = dict[float, list[str]]()
        for name, rule in RULES.items():
            names.setdefault(round(rule(*case.values()), 9), []).append(name)
        return {", ".join(rules): pair / self.exact(**case) for pair, rules in names.items()}

    def settings(self, rule: str, pair: float, case: Case) -> Case:
        """Return the case of equal surfaces that give a pair in an engine with a rule."""
        return dict.fromkeys(case, equal_surfaces(rule, pair))


PROBLEM = Pairs()
