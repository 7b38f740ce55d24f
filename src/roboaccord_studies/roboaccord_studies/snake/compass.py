"""Compass (pattern) search of a gait, interleaved with control.

Compass search [Kolda, Lewis, Torczon 2003]: try a step along each direction, go where the score
falls, and halve the steps when no direction helps. It is a generator, so that a control tick does
a bounded part of it; it draws no random numbers, so that runs repeat to the bit. The score is the
speed or the cost of transport, with penalties for what is beyond the limits.

AMPLITUDE, FREQUENCY, WAVES, EFFORT_MARGIN, WEIGHT, STEPS, HALVINGS and TOLERANCE may be tuned.
Other bounds give other gaits than docs/snake_optimise.md and `accord snake optimise`, which takes
the same ones; the margin of 5 % and the penalties are fixed by test_ideal. A new objective is a
branch in `score` and a name that Task accepts.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from roboaccord.contract import AccordError
from snake.model.parameters import SnakeParameters

from roboaccord_studies.snake.ideal import Figures, Gait, IdealModel

AMPLITUDE = (0.05, 0.97)  # rad, and part of the joint limit: tracking needs some room
FREQUENCY = 0.2  # Hz: least
WAVES = (0.5, 3.0)
EFFORT_MARGIN = 0.05  # what tracking may need beyond the ideal effort
WEIGHT = 20.0  # of the penalties; gains are about 3 for the whole of a limit
STEPS = np.array([0.1, 0.8, 0.3])  # rad, Hz, waves: the first ones
HALVINGS = 4  # of the steps, before the search ends
TOLERANCE = 1e-2  # of the steady state of a candidate
# Amplitude against frequency as well: along the limit of effort one goes up as the other goes down.
DIRECTIONS = np.array(
    [[1, -1, 0], [-1, 1, 0], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
)


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
    diagonal = math.hypot(p.link_length, p.link_width)
    return WEIGHT * max(0.0, 1.0 - model.clearance(gait) / diagonal)


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
    figures: Figures | None = None
    for figures in model.evaluating(gait, chunk, TOLERANCE):
        if figures is None:
            yield best
    assert figures
    return score(figures, task) + overlap(model, gait)
