"""Control periods (ticks) of a run: predictions of their ends, and samples of them.

Tick i leads from sample i of a run to sample i + 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract import Array, Trajectory
from roboaccord.numerics.ranking import descending
from roboaccord.simulators.base import Simulator

Index = NDArray[np.int64]  # indices of ticks or of samples
Mask = NDArray[np.bool_]  # which ticks or samples have some property
# Round-off of times [s]: stamps in bags are whole nanoseconds.
TIME_ROUND_OFF = 1e-9


def predict_ticks(
    simulator: Simulator, run: Trajectory, ticks: Index, late_steps: int = 0, extra_steps: int = 0
) -> tuple[Trajectory, Mask]:
    """Return the states in which a simulator ends ticks of a run.

    Args:
        simulator: starts from each recorded state.
        run: recorded.
        ticks: indices of the ticks to predict (k,).
        late_steps: physics steps at the start of each tick under the efforts of the tick before.
        extra_steps: physics steps that are added to each tick.

    Returns:
        the k ends, and in which ticks a joint of a twin came near its stop (k,).
    """
    starts, ends = run.at(ticks), run.at(ticks + 1)
    step = simulator.physics_step
    # Durations [s], rounded to whole nanoseconds.
    durations = [round(run.period(i) + extra_steps * step, 9) for i in ticks.tolist()]
    if not late_steps:
        return simulator.predict(starts, (ends, durations))
    # Two phases: under the efforts of the tick before, then under those of the tick itself.
    delay, old_efforts = late_steps * step, replace(ends, effort=starts.effort)
    remaining = [round(duration - delay, 9) for duration in durations]
    return simulator.predict(starts, (old_efforts, [delay] * len(ticks)), (ends, remaining))


def evenly_spaced(count: int, most: int) -> Index:
    """Return indices spread evenly over `count` items, at most `most` of them."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).astype(np.int64))


def worst_and_even(sizes: Array, most: int) -> Index:
    """Return sorted indices of sizes (k,): of the largest, half of `most`, and of others evenly."""
    return np.unique([*descending(sizes)[: most // 2], *evenly_spaced(len(sizes), most).tolist()])
