"""Control periods (ticks) of a run: predictions of their ends, and differences of states.

Tick i leads from sample i of a run to sample i + 1. The numbers of a state stand in 2 n + 12
columns of six groups: positions and rates of the n joints, and position, orientation, linear and
angular velocity of the base, with three columns each. `column_groups` and `column_names` define
this order, and every level indexes by it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from roboaccord.contract.state import Array, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.numerics.ranking import descending
from roboaccord.numerics.rotations import quaternion_product, quaternion_vector
from roboaccord.simulators.base import Simulator

Index = NDArray[np.int64]
Mask = NDArray[np.bool_]
TIME_ROUND_OFF = 1e-9  # s: round-off of times, since stamps in bags are whole nanoseconds
ROUND_OFF = 1e-12  # of a coordinate, relative to its largest value or 1: sums of some hundred terms
BASE = ("position", "orientation", "linear velocity", "angular velocity")


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


def state_difference(one: RobotState | Trajectory, other: RobotState | Trajectory) -> Array:
    """Return the difference `other` less `one` of states, by column.

    The difference of orientations is a rotation vector [rad].

    Args:
        one, other: states, or runs of k samples.

    Returns:
        (2 n + 12,), or (k, 2 n + 12) for runs.
    """
    inverse = one.orientation * np.array([-1.0, -1.0, -1.0, 1.0])
    rotation = quaternion_vector(quaternion_product(other.orientation.T, inverse.T).T)
    shift, twist = other.position - one.position, other.twist - one.twist
    groups = [other.q - one.q, other.qd - one.qd, shift, rotation, twist]
    return np.concatenate(groups, axis=-1)


def largest_magnitudes(run: Trajectory) -> Array:
    """Return the largest magnitude of each column over a run, which scales round-off (2 n + 12,).

    That of an orientation is pi, the largest rotation by which two orientations differ.
    """
    angles = np.full((len(run), 3), np.pi)
    states = np.column_stack([run.q, run.qd, run.position, angles, run.twist])
    return np.asarray(np.abs(states).max(axis=0, initial=0.0))


def column_groups(n: int) -> list[Index]:
    """Return the columns of each of the six groups, for n joints."""
    ends = [0, n, 2 * n, *(2 * n + 3 * i for i in range(1, 5))]
    return [np.arange(start, end) for start, end in pairwise(ends)]


def column_names(joints: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return a name for each column: a quantity, and its joint or link."""
    of_joints = [(what, joint) for what in ("position", "rate") for joint in joints]
    return [*of_joints, *((f"{what} along {a}", "base_link") for what in BASE for a in "xyz")]


def largest_by_group(sizes: Array) -> Array:
    """Return the largest value of each group (..., 6), of sizes by column (..., 2 n + 12)."""
    groups = column_groups((sizes.shape[-1] - 12) // 2)
    return np.stack([sizes[..., g].max(axis=-1, initial=0.0) for g in groups], axis=-1)


def scales_of_groups(run: Trajectory) -> Array:
    """Return the size of each group to which round-off is relative, at least 1 (6,)."""
    return np.maximum(largest_by_group(largest_magnitudes(run)), 1.0)


def repeat_by_group(values: Array, columns: int) -> Array:
    """Return the values of the six groups (6,), repeated for each of their columns (2 n + 12,)."""
    n = (columns - 12) // 2
    return np.repeat(values, [n, n, 3, 3, 3, 3])


def evenly_spaced(count: int, most: int) -> Index:
    """Return indices spread evenly over `count` items, at most `most` of them."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).astype(np.int64))


def worst_and_even(sizes: Array, most: int) -> Index:
    """Return sorted indices of the largest sizes (k,), half of `most`, and of others evenly."""
    return np.unique([*descending(sizes)[: most // 2], *evenly_spaced(len(sizes), most).tolist()])
