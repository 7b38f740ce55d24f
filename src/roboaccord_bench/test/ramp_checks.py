"""What the tests of ramps and walls share: statics by a linear program, and runs at one step."""

from __future__ import annotations

from dataclasses import replace

from roboaccord_bench.found import load_engine
from roboaccord_bench.problem import Problem, Trial
from roboaccord_bench.scene import Scene
from scipy.optimize import linprog


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


def figure(
    problem: Problem, engine: str, setting: str = "expert", step: float = 1e-3, **case: float
) -> float:
    """Return the figure of a problem in an engine."""
    (found,), _ = Trial(load_engine(engine), setting, step).measure(problem, case)
    return found


def with_mu(problem: Problem, mu: float) -> Problem:
    """Return a problem whose scene has another coefficient of friction."""

    class Other(type(problem)):  # type: ignore[misc]
        def scene(self, **case: float) -> Scene:
            return replace(super().scene(**case), mu=mu)

    return Other()
