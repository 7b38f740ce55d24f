"""What the tests of impacts and bounces share: scenes with errors, and figures at step 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from roboaccord_bench.bench import STEPS
from roboaccord_bench.found import load_engine
from roboaccord_bench.outcome import Outcome, judge
from roboaccord_bench.problem import Problem, Trial
from roboaccord_bench.scene import Body, Scene

Change = Callable[[Scene], Scene]


@dataclass(frozen=True, kw_only=True)
class Heavy(Body):
    """A body whose moments of inertia are 1 % too large."""

    @property
    def inertia(self) -> np.ndarray:
        """Moments of inertia [kg m^2]."""
        return 1.01 * super().inertia


def set_to(**values: float) -> Change:
    """Return a change of a scene's coefficients."""
    return lambda scene: replace(scene, **values)  # type: ignore[arg-type]


def with_inertia(scene: Scene) -> Scene:
    """Return a scene whose moving bodies are too hard to turn."""
    bodies = (Heavy(**vars(body)) if body.mass else body for body in scene.bodies)
    return replace(scene, bodies=tuple(bodies))


def outcome(
    problem: Problem,
    engine: str,
    setting: str = "expert",
    change: Change = lambda scene: scene,
    **case: Any,
) -> Outcome:
    """Return the outcome of a problem in an engine that gets a changed scene."""

    class Changed(type(problem)):  # type: ignore[misc]
        def scene(self, **case: float) -> Scene:
            return change(super().scene(**case))

    trials = [Trial(load_engine(engine), setting, step) for step in STEPS]
    figures = [trial.measure(Changed(), case)[0] for trial in trials]
    laws = problem.laws(**case)
    return judge(figures, problem.exact(**case), scale=problem.scale, laws=laws)
