"""Global optimisation of a gait for speed or cost of transport on a given ground.

`accord snake optimise` (cli/optimise.py) searches the wave of joint angles with which a snake is
fastest, or needs least work for its way. Gaits are evaluated by the model of ideal.py, in which the
joints follow the gait exactly. Differential evolution (Storn and Price, 1997) searches the whole
box of amplitude, frequency and number of waves; Nelder and Mead's simplex then improves the best
gait. Limits such as the largest effort enter as exact penalties: beyond a limit, the penalty grows
faster than the objective can improve. The bounds and penalties are those of compass.py.

POPULATION (a power of 2), GENERATIONS, POLISH and SEARCH_TOLERANCE may be tuned; with other values
a seed gives another gait than docs/snake_optimise.md prints.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from roboaccord.contract import AccordError, Array

from roboaccord_studies.snake import compass
from roboaccord_studies.snake.ideal import Figures, Gait, IdealModel

# A power of 2, to which SciPy would round up the number of Sobol's points; about ten for each of
# three unknowns (SciPy's default is 15).
POPULATION = 32
# Of differential evolution: 608 gaits in all, of milliseconds each. By choice, it bounds the time:
# POLISH goes on from there.
GENERATIONS = 18
POLISH = 120  # largest number of evaluations by the simplex; 40 for each unknown
# Relative change of the speed at which a gait of the search is steady; a tenth of
# compass.TOLERANCE, for the optimum is compared in three digits.
SEARCH_TOLERANCE = 1e-3
# Largest `compass.excess` of an optimum, as penalties let it exceed limits a bit. By choice, a
# fifth of the reserve for tracking (compass.EFFORT_MARGIN).
MAX_EXCESS = 0.01
SIMPLEX_STEP = 0.03  # size of the first simplex, as a part of the box: any small part would do
# Distance of a parameter from its bound, as a part of its range, below which it is named as at the
# bound. By choice: it only decides what is named.
NEAR_BOUND = 0.01


class Optimum(NamedTuple):
    """The result of an optimisation.

    Args:
        gait: the best gait.
        figures: of the best gait.
        evaluations: number of gaits that were evaluated.
        bounds: parameters that are at a bound, with the bound, by name.
    """

    gait: Gait
    figures: Figures
    evaluations: int
    bounds: dict[str, float]


def optimise(
    model: IdealModel, task: compass.Task, on_evaluation: Callable[[int, int], None] | None = None
) -> Optimum:
    """Search for the best gait.

    Args:
        model: snake and ground.
        task: objective and limits.
        on_evaluation: called at each evaluation with its number and the largest possible number.

    Raises:
        AccordError: if no gait keeps within the limits.
    """
    # Imported here because it takes a third of a second, and only this function needs it.
    from scipy.optimize import differential_evolution, minimize

    total = POPULATION * (GENERATIONS + 1) + POLISH
    count = 0

    def objective(x: Array) -> float:
        """Return the score of a point of the search (3,), and count it."""
        nonlocal count
        count += 1
        if on_evaluation:
            on_evaluation(count, total)
        gait = gait_of(x)
        figures = model.evaluate(gait, SEARCH_TOLERANCE)
        return compass.score(figures, task) + compass.overlap(model, gait)

    box = compass.bounds_of(model.parameters, task)
    optimum = differential_evolution(
        objective,
        box,
        popsize=POPULATION // len(box),
        maxiter=GENERATIONS,
        tol=1e-6,
        init="sobol",
        polish=False,
        seed=task.seed,
    )
    first = simplex(optimum.x, box)
    options = {"maxfev": POLISH, "xatol": 1e-4, "fatol": 1e-4, "initial_simplex": first}
    polished = minimize(objective, optimum.x, method="Nelder-Mead", bounds=box, options=options)
    gait = rounded(gait_of(polished.x if polished.fun < optimum.fun else optimum.x))
    figures = model.evaluate(gait)
    if compass.excess(figures, task) > MAX_EXCESS or compass.overlap(model, gait) > 0:
        raise AccordError(f"no gait keeps to {task.max_effort:g} N m and {task.min_speed:g} m/s")
    bounds = at_bounds(gait, model, task)
    return Optimum(gait=gait, figures=figures, evaluations=count, bounds=bounds)


def gait_of(x: Array) -> Gait:
    """Return the gait for a point of the search (3,).

    Its second coordinate is the frequency, shifted towards 0 by the lowest frequency: so the
    excluded frequencies around 0 Hz are no part of the box.
    """
    amplitude, beyond, waves = (float(v) for v in x)
    return Gait(amplitude, beyond + math.copysign(compass.FREQUENCY, beyond), waves)


def rounded(gait: Gait) -> Gait:
    """Return a gait rounded to 0.1 mrad, 1 mHz and 0.001 waves, so that it can be typed again."""
    return Gait(round(gait.amplitude, 4), round(gait.frequency, 3), round(gait.waves, 3))


def simplex(x: Array, box: list[tuple[float, float]]) -> Array:
    """Return the first simplex for Nelder and Mead (n + 1, n): x, and a step along each axis.

    A step is SIMPLEX_STEP of the box, inwards.
    """
    points = np.tile(x, (len(x) + 1, 1))
    for i, (low, high) in enumerate(box):
        step = SIMPLEX_STEP * (high - low)
        points[i + 1, i] += step if x[i] + step < high else -step
    return points


def at_bounds(gait: Gait, model: IdealModel, task: compass.Task) -> dict[str, float]:
    """Return the parameters that are at a bound (NEAR_BOUND), with the bound, by name."""
    limits = {
        "amplitude": (gait.amplitude, compass.bounds_of(model.parameters, task)[0]),
        "frequency": (abs(gait.frequency), (compass.FREQUENCY, task.max_frequency)),
        "waves": (gait.waves, compass.WAVES),
    }
    bounds = {}
    for name, (value, (low, high)) in limits.items():
        for bound in (low, high):
            if abs(value - bound) < NEAR_BOUND * (high - low):
                bounds[name] = bound
    return bounds
