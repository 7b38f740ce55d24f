"""What the tests of problems share: statics by a linear program, and runs of changed scenes."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from roboaccord_bench.bench import STEPS
from roboaccord_bench.found import load_engine
from roboaccord_bench.outcome import Outcome, judge
from roboaccord_bench.problem import Problem, Trial
from roboaccord_bench.scene import Body, Scene
from scipy.optimize import linprog

Change = Callable[[Scene], Scene]


def steepest(width: float, height: float, mu: float) -> float:
    """Return the steepest slope on which a box can be at rest, by statics.

    Normal forces n and friction t at its lower and upper edge, in units of the part of the weight
    that presses on the ramp, balance the weight and its moment about the centre.
    """
    x = width / 2.0  # of the lower edge; unknowns are n and t of both edges, and the slope
    balance = [
        [1.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 1.0, -1.0],
        [x, -x, -height / 2.0, -height / 2.0, 0.0],
    ]
    cones = [
        [-mu, 0.0, sign, 0.0, 0.0] if edge == 0 else [0.0, -mu, 0.0, sign, 0.0]
        for edge in (0, 1)
        for sign in (-1.0, 1.0)
    ]
    bounds = [(0.0, None)] * 2 + [(None, None)] * 3
    most = linprog([0, 0, 0, 0, -1.0], cones, [0.0] * 4, balance, [1.0, 0.0, 0.0], bounds)
    return float(most.x[-1])


@dataclass(frozen=True, kw_only=True)
class Heavy(Body):
    """A body whose moments of inertia are 1 % too large."""

    @property
    def inertia(self) -> np.ndarray:
        """Moments of inertia [kg m^2]."""
        return 1.01 * super().inertia


def with_inertia(scene: Scene) -> Scene:
    """Return a scene whose moving bodies are too hard to turn."""
    bodies = (Heavy(**vars(body)) if body.mass else body for body in scene.bodies)
    return replace(scene, bodies=tuple(bodies))


def set_to(**values: float) -> Change:
    """Return a change of a scene's coefficients."""
    return lambda scene: replace(scene, **values)  # type: ignore[arg-type]


def changed(problem: Problem, change: Change) -> Problem:
    """Return a problem whose engines get a changed scene."""

    class Changed(type(problem)):  # type: ignore[misc]
        def scene(self, **case: float) -> Scene:
            return change(super().scene(**case))

    return Changed()


def with_mu(problem: Problem, mu: float) -> Problem:
    """Return a problem whose scene has another coefficient of friction."""
    return changed(problem, set_to(mu=mu))


def figure(
    problem: Problem, engine: str, setting: str = "expert", step: float = 1e-3, **case: float
) -> float:
    """Return the figure of a problem in an engine."""
    (found,) = Trial(load_engine(engine), setting, step).measure(problem, case)
    return found


def outcome(
    problem: Problem,
    engine: str,
    setting: str = "expert",
    change: Change = lambda scene: scene,
    **case: float,
) -> Outcome:
    """Return the outcome of a problem in an engine that gets a changed scene."""
    trials = [Trial(load_engine(engine), setting, step) for step in STEPS]
    figures = [trial.measure(changed(problem, change), case) for trial in trials]
    laws = problem.laws(**case)
    return judge(figures, problem.exact(**case), scale=problem.scale, laws=laws)
