"""Compass (pattern) search of a gait, interleaved with control.

Compass search [Kolda, Lewis, Torczon 2003]: try a step along each direction, go where the score
falls, and halve the steps when no direction helps. It is a generator, so that a control tick does
a bounded part of it; it draws no random numbers.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from snake.search.ideal import Gait, IdealModel
from snake.search.optimise import FREQUENCY, WAVES, Task, bounds_of, overlap, score

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
        start: where to begin; the wave the other way round is tried as well.
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
