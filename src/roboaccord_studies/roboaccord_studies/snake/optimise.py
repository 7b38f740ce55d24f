"""Optimisation of a gait for speed or cost of transport on a given ground.

Candidates are evaluated by the ideally tracked gait. Differential evolution [Storn, Price 1997]
searches the box, Nelder and Mead's simplex polishes what it finds. Limits enter as exact
penalties: beyond a limit the objective grows faster than anything can be gained there. The
variables, their box and the limits are in `compass`.

POPULATION (a power of 2), GENERATIONS, POLISH and SEARCH_TOLERANCE may be tuned, time for how near
the optimum is: with others a seed gives another gait than docs/snake_optimise.md prints. No gait
drawn at random must be better (test_optimise).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from roboaccord.contract import AccordError, Array

from roboaccord_studies.snake.compass import (
    FREQUENCY,
    WAVES,
    Task,
    bounds_of,
    excess,
    overlap,
    score,
)
from roboaccord_studies.snake.ideal import Figures, Gait, IdealModel

POPULATION = 32  # a power of 2: SciPy rounds Sobol's points up to one
GENERATIONS = 18
POLISH = 120  # evaluations
SEARCH_TOLERANCE = 1e-3  # of the steady state, while searching


@dataclass(frozen=True, kw_only=True)
class Optimum:
    """The result of an optimisation.

    Args:
        gait: the best one.
        figures: its own.
        evaluations: how many gaits were evaluated.
        bounds: names of the parameters that are at their bounds, with the bound.
    """

    gait: Gait
    figures: Figures
    evaluations: int
    bounds: dict[str, float] = field(default_factory=dict)


def optimise(
    model: IdealModel, task: Task, on_evaluation: Callable[[int, int], None] | None = None
) -> Optimum:
    """Search for the best gait.

    Args:
        model: snake and ground.
        task: what is asked for.
        on_evaluation: called at each evaluation with its number, and how many there will be at
        most.

    Raises:
        AccordError: if no gait keeps within the limits.
    """
    # It takes a third of a second to import, and the adaptive controller does without.
    from scipy.optimize import differential_evolution, minimize

    total = POPULATION * (GENERATIONS + 1) + POLISH
    count = 0

    def objective(x: Array) -> float:
        nonlocal count
        count += 1
        if on_evaluation:
            on_evaluation(count, total)
        gait = gait_of(x)
        figures = model.evaluate(gait, SEARCH_TOLERANCE)
        return score(figures, task) + overlap(model, gait)

    box = bounds_of(model.parameters, task)
    optimum = differential_evolution(
        objective, box, popsize=POPULATION // len(box), maxiter=GENERATIONS, tol=1e-6, init="sobol",
        polish=False, seed=task.seed,
    )  # fmt: skip
    polished = minimize(
        objective, optimum.x, method="Nelder-Mead", bounds=box,
        options={"maxfev": POLISH, "xatol": 1e-4, "fatol": 1e-4,
                 "initial_simplex": simplex(optimum.x, box)},
    )  # fmt: skip
    gait = rounded(gait_of(polished.x if polished.fun < optimum.fun else optimum.x))
    figures = model.evaluate(gait)
    if excess(figures, task) > 0.01 or overlap(model, gait) > 0:
        raise AccordError(f"no gait keeps to {task.max_effort:g} N m and {task.min_speed:g} m/s")
    return Optimum(
        gait=gait, figures=figures, evaluations=count, bounds=at_bounds(gait, model, task)
    )


def gait_of(x: Array) -> Gait:
    """Return the gait of a point of the search.

    Its second coordinate is the frequency less its least value, with the sign of the frequency:
    the gap around 0 Hz is not a place to search.
    """
    amplitude, beyond, waves = (float(v) for v in x)
    return Gait(amplitude, beyond + math.copysign(FREQUENCY, beyond), waves)


def rounded(gait: Gait) -> Gait:
    """Return a gait with figures that can be typed again: 0.1 mrad, 1 mHz, 0.001 waves."""
    return Gait(round(gait.amplitude, 4), round(gait.frequency, 3), round(gait.waves, 3))


def simplex(x: Array, box: list[tuple[float, float]]) -> Array:
    """Return a start for Nelder and Mead: 3 % of the box along each axis, to the inside."""
    points = np.tile(x, (len(x) + 1, 1))
    for i, (low, high) in enumerate(box):
        step = 0.03 * (high - low)
        points[i + 1, i] += step if x[i] + step < high else -step
    return points


def at_bounds(gait: Gait, model: IdealModel, task: Task) -> dict[str, float]:
    """Return the parameters within 1 % of the box of its bounds, with the bound."""
    limits = {
        "amplitude": (gait.amplitude, bounds_of(model.parameters, task)[0]),
        "frequency": (abs(gait.frequency), (FREQUENCY, task.max_frequency)),
        "waves": (gait.waves, WAVES),
    }
    bounds = {}
    for name, (value, (low, high)) in limits.items():
        for bound in (low, high):
            if abs(value - bound) < 0.01 * (high - low):
                bounds[name] = bound
    return bounds
