"""Search of a better gait in small portions, which a controller can do while it runs.

The adaptive controller of the snake (adaptive.py) searches its gait by it after the ground has
changed. In a compass search (Kolda, Lewis and Torczon, 2003) a step is tried along each of several
directions; it is taken if the score falls, and when no direction helps the steps are halved. Here
the search is a generator, so that each control tick does a limited part of it. It uses no random
numbers, so that runs repeat exactly. The score is minus the speed, or the cost of transport, plus
penalties for exceeded limits.

The bounds, limits and penalties are also those of `accord snake optimise`; other values give other
gaits than docs/snake_optimise.md. STEPS, HALVINGS and TOLERANCE may be tuned. A new objective needs
a branch in `score` and a name that Task accepts.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from roboaccord.contract import AccordError, check_known
from snake.model.parameters import SnakeParameters

from roboaccord_studies.snake.ideal import Figures, Gait, IdealModel

# Smallest [rad]; largest as a part of the joint limit, for the tracking, which leaves 3 % for
# overshoot.
AMPLITUDE = (0.05, 0.97)
FREQUENCY = 0.2  # Hz: lowest, in either direction of the wave; slower waves have periods beyond 5 s
# Smallest and largest number on the body: below half a wave it swings as a whole, above three a
# wave has seven links.
WAVES = (0.5, 3.0)
# Relative effort that tracking may need beyond the ideal effort, by the errors of the loops.
EFFORT_MARGIN = 0.05
PENALTY_WEIGHT = 20.0  # of the penalties; by exceeding a limit twofold a gait gains at most about 3
# First steps of amplitude [rad], frequency [Hz] and waves: a tenth to a quarter of each range.
STEPS = np.array([0.1, 0.8, 0.3])
HALVINGS = 4  # of the steps, before the search ends: to a sixteenth, 6 mrad, 0.05 Hz and 0.02 waves
# Relative change of the speed at which a candidate counts as steady: candidates that differ by less
# are alike.
TOLERANCE = 1e-2
# Directions of a step: signs of the changes of amplitude, frequency and waves. The first two change
# amplitude and frequency in opposite ways, along the limit of the effort.
DIRECTIONS = np.array(
    [[1, -1, 0], [-1, 1, 0], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
)


@dataclass(frozen=True, kw_only=True)
class Task:
    """What an optimisation is to reach.

    Args:
        objective: `speed` (highest), or `cost` (lowest cost of transport).
        max_effort: largest allowed effort of a joint in the steady state [N m].
        max_frequency: largest allowed frequency [Hz].
        min_speed: lowest allowed speed if the cost is minimised [m/s].
        seed: of the random numbers of `optimise`.
    """

    objective: str
    max_effort: float
    max_frequency: float = 3.0
    min_speed: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_known("unknown objective ", self.objective, ("speed", "cost"))
        if not 0 < self.max_effort < math.inf:
            raise AccordError("the largest effort must be positive and finite")
        if not FREQUENCY < self.max_frequency < math.inf:
            raise AccordError(f"the largest frequency must be above {FREQUENCY:g} Hz and finite")
        if not math.isfinite(self.min_speed):
            raise AccordError("the least speed must be a finite number")


def bounds_of(parameters: SnakeParameters, task: Task) -> list[tuple[float, float]]:
    """Return lower and upper bounds of amplitude [rad], shifted frequency [Hz] and waves.

    The frequency is shifted by FREQUENCY towards 0, so that the excluded frequencies around 0 Hz
    leave no gap between both directions of the wave (`optimise.gait_of`).
    """
    reach = task.max_frequency - FREQUENCY
    return [(AMPLITUDE[0], AMPLITUDE[1] * parameters.joint_limit), (-reach, reach), WAVES]


def score(figures: Figures, task: Task) -> float:
    """Return the number to be minimised: minus speed or cost of transport, plus penalties."""
    value = -figures.speed if task.objective == "speed" else min(figures.cost_of_transport, 1e3)
    return value + PENALTY_WEIGHT * excess(figures, task)


def excess(figures: Figures, task: Task) -> float:
    """Return by how much figures exceed the limits: relative effort plus lack of speed [m/s].

    A negative speed, which is backward, counts as a lack.
    """
    effort = figures.peak_effort * (1.0 + EFFORT_MARGIN) / task.max_effort - 1.0
    lack = task.min_speed - figures.speed if task.objective == "cost" else 0.0
    return max(0.0, effort) + max(0.0, lack)


def overlap(model: IdealModel, gait: Gait) -> float:
    """Return a penalty for links that would overlap, which the ideal model does not notice."""
    p = model.parameters
    diagonal = math.hypot(p.link_length, p.link_width)
    return PENALTY_WEIGHT * max(0.0, 1.0 - model.clearance(gait) / diagonal)


def compass_search(
    model: IdealModel, task: Task, start: Gait, chunk: int
) -> Generator[Gait, None, None]:
    """Yield the best gait so far, again and again, until no better gait is near.

    Args:
        model: snake and ground.
        task: objective and limits.
        start: gait to begin at; the wave in the opposite direction is tried as well.
        chunk: integration steps of the model between two yields.
    """
    best = start
    best_score = yield from _value(model, task, start, best, chunk)
    reversed_wave = replace(start, frequency=-start.frequency)
    trial_score = yield from _value(model, task, reversed_wave, best, chunk)
    if trial_score < best_score:
        best, best_score = reversed_wave, trial_score
    steps = STEPS.copy()
    for _ in range(HALVINGS):
        improved = True
        while improved:
            improved = False
            for direction in DIRECTIONS:
                trial = moved(best, direction * steps, model, task)
                if trial == best:
                    continue
                trial_score = yield from _value(model, task, trial, best, chunk)
                if trial_score < best_score:
                    best, best_score = trial, trial_score
                    improved = True
        steps *= 0.5
    yield best


def moved(gait: Gait, change: np.ndarray, model: IdealModel, task: Task) -> Gait:
    """Return a gait with changed amplitude, absolute frequency and waves, within the bounds.

    Args:
        gait: before the change.
        change: of amplitude, frequency and waves (3,) [rad, Hz, 1].
        model, task: define the bounds.
    """
    low, high = bounds_of(model.parameters, task)[0]
    frequency = min(max(abs(gait.frequency) + float(change[1]), FREQUENCY), task.max_frequency)
    return Gait(
        amplitude=min(max(gait.amplitude + float(change[0]), low), high),
        frequency=frequency if gait.frequency > 0 else -frequency,
        waves=min(max(gait.waves + float(change[2]), WAVES[0]), WAVES[1]),
    )


def _value(
    model: IdealModel, task: Task, gait: Gait, best: Gait, chunk: int
) -> Generator[Gait, None, float]:
    """Return the score of a gait; while it is evaluated, yield the best gait so far."""
    figures: Figures | None = None
    for figures in model.evaluating(gait, chunk, TOLERANCE):
        if figures is None:
            yield best
    assert figures
    return score(figures, task) + overlap(model, gait)
