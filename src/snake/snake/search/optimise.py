"""Optimisation of a gait for speed or cost of transport on a given ground.

Candidates are evaluated by the ideally tracked gait. Differential evolution [Storn, Price 1997]
searches the box, Nelder and Mead's simplex polishes what it finds. Limits enter as exact
penalties: beyond a limit the objective grows faster than anything can be gained there.

Compass (pattern) search of a gait, interleaved with control.

Compass search [Kolda, Lewis, Torczon 2003]: try a step along each direction, go where the score
falls, and halve the steps when no direction helps. It is a generator, so that a control tick does
a bounded part of it; it draws no random numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace

import numpy as np
from roboaccord.contract import AccordError, Array, Trajectory
from roboaccord.run import work_of
from roboaccord.scenario import Setup, load_scenario

from snake.model.parameters import SnakeParameters
from snake.search.ideal import Figures, Gait, IdealModel
from snake.simulators.metrics import body_motion

DEFAULT_GAIT = Gait(amplitude=0.4, frequency=1.0, waves=1.5)
AMPLITUDE = (0.05, 0.97)  # rad, and part of the joint limit: tracking needs some room
FREQUENCY = 0.2  # Hz: least
WAVES = (0.5, 3.0)
EFFORT_MARGIN = 0.05  # what tracking may need beyond the ideal effort
POPULATION = 32  # a power of 2: SciPy rounds Sobol's points up to one
GENERATIONS = 18
POLISH = 120  # evaluations
SEARCH_TOLERANCE = 1e-3  # of the steady state, while searching
WEIGHT = 20.0  # of the penalties; gains are about 3 for the whole of a limit


@dataclass(frozen=True, kw_only=True)
class Task:
    """Specify an optimisation.

    Args:
        objective: `speed`, or `cost` of transport.
        max_effort: largest effort of a joint in the steady state [N m].
        max_frequency: [Hz].
        min_speed: what a cheap gait must reach at least [m/s].
        seed: of the search.
    """

    objective: str
    max_effort: float
    max_frequency: float = 3.0
    min_speed: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.objective not in ("speed", "cost"):
            raise AccordError(f"unknown objective {self.objective}; available: cost, speed")
        if not 0 < self.max_effort < math.inf:
            raise AccordError("the largest effort must be positive and finite")
        if not FREQUENCY < self.max_frequency < math.inf:
            raise AccordError(f"the largest frequency must be above {FREQUENCY:g} Hz and finite")
        if not math.isfinite(self.min_speed):
            raise AccordError("the least speed must be a finite number")


@dataclass(frozen=True, kw_only=True)
class Optimum:
    """Hold the result of an optimisation.

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
    found = differential_evolution(
        objective, box, popsize=POPULATION // len(box), maxiter=GENERATIONS, tol=1e-6, init="sobol",
        polish=False, seed=task.seed,
    )  # fmt: skip
    polished = minimize(
        objective, found.x, method="Nelder-Mead", bounds=box,
        options={"maxfev": POLISH, "xatol": 1e-4, "fatol": 1e-4,
                 "initial_simplex": simplex(found.x, box)},
    )  # fmt: skip
    gait = rounded(gait_of(polished.x if polished.fun < found.fun else found.x))
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


def bounds_of(parameters: SnakeParameters, task: Task) -> list[tuple[float, float]]:
    """Return the box of the search; both directions of the wave are in it."""
    reach = task.max_frequency - FREQUENCY
    return [(AMPLITUDE[0], AMPLITUDE[1] * parameters.joint_limit), (-reach, reach), WAVES]


def score(figures: Figures, task: Task) -> float:
    """Return what is minimised: minus the speed, or the cost of transport, and the penalties."""
    value = -figures.speed if task.objective == "speed" else min(figures.cost_of_transport, 1e3)
    return value + WEIGHT * excess(figures, task)


def excess(figures: Figures, task: Task) -> float:
    """Return by which part figures go beyond the limits; only forward speeds count."""
    effort = figures.peak_effort * (1.0 + EFFORT_MARGIN) / task.max_effort - 1.0
    lack = task.min_speed - figures.speed if task.objective == "cost" else 0.0
    return max(0.0, effort) + max(0.0, lack)


def overlap(model: IdealModel, gait: Gait) -> float:
    """Return a penalty for links that would run into each other, which no engine notices here."""
    p = model.parameters
    apart = math.hypot(p.link_length, p.link_width)
    return WEIGHT * max(0.0, 1.0 - model.clearance(gait) / apart)


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
    found = {}
    for name, (value, (low, high)) in limits.items():
        for bound in (low, high):
            if abs(value - bound) < 0.01 * (high - low):
                found[name] = bound
    return found


STEPS = np.array([0.1, 0.8, 0.3])  # rad, Hz, waves: the first ones
HALVINGS = 4
TOLERANCE = 1e-2  # of the steady state of a candidate
# Amplitude against frequency as well: along the limit of effort one goes up as the other goes down.
DIRECTIONS = np.array(
    [[1, -1, 0], [-1, 1, 0], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
)


def compass_search(
    model: IdealModel, task: Task, start: Gait, chunk: int
) -> Generator[Gait, None, None]:
    """Yield the best gait so far, again and again, until there is none better near by.

    Args:
        model: snake and ground.
        task: what is asked for.
        start: where to begin; the wave in the opposite direction is tried as well.
        chunk: integration steps of the model between two yields.
    """
    best = start
    lowest = yield from _value(model, task, start, best, chunk)
    back = replace(start, frequency=-start.frequency)
    value = yield from _value(model, task, back, best, chunk)
    if value < lowest:
        best, lowest = back, value
    steps = STEPS.copy()
    for _ in range(HALVINGS):
        improved = True
        while improved:
            improved = False
            for direction in DIRECTIONS:
                trial = moved(best, direction * steps, model, task)
                if trial == best:
                    continue
                value = yield from _value(model, task, trial, best, chunk)
                if value < lowest:
                    best, lowest, improved = trial, value, True
        steps *= 0.5
    yield best


def moved(gait: Gait, by: np.ndarray, model: IdealModel, task: Task) -> Gait:
    """Return a gait changed by (amplitude, size of the frequency, waves), inside the bounds."""
    low, high = bounds_of(model.parameters, task)[0]
    size = min(max(abs(gait.frequency) + float(by[1]), FREQUENCY), task.max_frequency)
    return Gait(
        amplitude=min(max(gait.amplitude + float(by[0]), low), high),
        frequency=size if gait.frequency > 0 else -size,
        waves=min(max(gait.waves + float(by[2]), WAVES[0]), WAVES[1]),
    )


def _value(
    model: IdealModel, task: Task, gait: Gait, best: Gait, chunk: int
) -> Generator[Gait, None, float]:
    """Return the score of a gait, and yield the best one as long as that takes."""
    work = model.evaluating(gait, chunk, TOLERANCE)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return score(end.value, task) + overlap(model, gait)
        yield best


SETTLE = 3.0  # s: of start, in which the amplitude rises and the speed settles
MEASURE = 4.0  # s: at least, in whole periods


def setup_of(gait: Gait, *, joints: int, mu_along: float, mu_across: float) -> Setup:
    """Return the serpenoid's setup with a gait and a ground, as long as a measurement takes."""
    changes = [
        f"parameters.joints={joints}",
        serpenoid_of(gait.amplitude, gait.frequency, gait.waves),
        f"friction={{law: ellipse, mu_along: {mu_along!r}, mu_across: {mu_across!r}}}",
        f"duration={math.ceil(1e3 * sum(window(gait))) / 1e3!r}",
    ]
    return Setup.of(load_scenario("snake", "snake", "serpenoid", changes))


def serpenoid_of(amplitude: float, frequency: float, waves: float) -> str:
    """Return the change of a scenario to the serpenoid with a gait."""
    gait = f"amplitude: {amplitude!r}, frequency: {frequency!r}, waves: {waves!r}"
    return f"controller={{name: serpenoid, {gait}}}"


def window(gait: Gait) -> tuple[float, float]:
    """Return how long to wait and how long to measure [s], whole periods both."""
    period = 1.0 / abs(gait.frequency)
    return math.ceil(SETTLE / period) * period, math.ceil(MEASURE / period) * period


def steady_figures(setup: Setup, trajectory: Trajectory, start: float, length: float) -> Figures:
    """Return speed, peak effort and cost of transport over `length` [s] from `start` [s] on."""
    part = trajectory.window(start, start + length)
    centre, heading = body_motion(setup, part)
    mean = float(heading.mean())
    forward = float((centre[-1] - centre[0]) @ (np.cos(mean), np.sin(mean)))
    elapsed = float(part.time[-1] - part.time[0])
    weight = setup.parameters.mass * setup.parameters.gravity
    return Figures(
        speed=forward / elapsed if elapsed else 0.0,
        peak_effort=float(np.abs(part.effort[1:]).max()),
        cost_of_transport=work_of(part) / (weight * abs(forward)) if forward else math.inf,
    )
