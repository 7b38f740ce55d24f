"""Control periods (ticks) of a run: predictions of their ends, and differences of states.

Tick i leads from sample i of a run to sample i + 1. The numbers of a state stand in 2 n + 12
columns of six groups: positions and rates of the n joints, and position, orientation, linear and
angular velocity of the base. `difference`, `vector`, `groups` and `names` agree on them, and every
level indexes by them.
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
TIME_ROUND_OFF = 1e-9  # s: round-off of times, since stamps in bags are whole nanoseconds
ROUND_OFF = 1e-12  # of a coordinate, relative to its largest value or 1: sums of some hundred terms
BASE = ("position", "orientation", "linear velocity", "angular velocity")


def predicted(
    simulator: Simulator, run: Trajectory, ticks: Index, late: int = 0, more: int = 0
) -> tuple[Trajectory, NDArray[np.bool_]]:
    """Return the states in which a simulator ends ticks of a run.

    Args:
        simulator: starts from each recorded state.
        run: recorded.
        ticks: indices of the ticks to predict (k,).
        late: physics steps at the start of each tick under the efforts of the tick before.
        more: physics steps that are added to each tick.

    Returns:
        the k ends, and in which ticks a joint of a twin came near its stop (k,).
    """
    starts, ends = run.at(ticks), run.at(ticks + 1)
    step = simulator.physics_step
    durations = [round(run.period(i) + more * step, 9) for i in ticks.tolist()]
    if not late:
        return simulator.predict(starts, (ends, durations))
    early, before = late * step, replace(ends, effort=starts.effort)
    remaining = [round(period - early, 9) for period in durations]
    return simulator.predict(starts, (before, [early] * len(ticks)), (ends, remaining))


def difference(one: RobotState | Trajectory, other: RobotState | Trajectory) -> Array:
    """Return the difference `other` less `one` of states, by column.

    The difference of orientations is a rotation vector [rad].

    Args:
        one, other: states, or runs of k samples.

    Returns:
        (2 n + 12,), or (k, 2 n + 12) for runs.
    """
    inverse = one.orientation * np.array([-1.0, -1.0, -1.0, 1.0])
    turned = quaternion_vector(quaternion_product(other.orientation.T, inverse.T).T)
    shift, twist = other.position - one.position, other.twist - one.twist
    parts = [other.q - one.q, other.qd - one.qd, shift, turned, twist]
    return np.concatenate(parts, axis=-1)


def vector(run: Trajectory) -> Array:
    """Return the numbers of a run's states, in the columns of `difference` (k, 2 n + 12).

    They scale round-off, so orientations are given by pi, their largest difference.
    """
    angles = np.full((len(run), 3), np.pi)  # the largest that the orientation can differ by
    return np.column_stack([run.q, run.qd, run.position, angles, run.twist])


def groups(n: int) -> list[Index]:
    """Return the columns of each of the six groups, for n joints."""
    ends = [0, n, 2 * n, *(2 * n + 3 * i for i in range(1, 5))]
    return [np.arange(a, b) for a, b in pairwise(ends)]


def by_group(sizes: Array) -> Array:
    """Return the largest value of each group (k, 6) of sizes (k, 2 n + 12)."""
    n = (sizes.shape[1] - 12) // 2
    return np.column_stack([sizes[:, g].max(axis=1, initial=0.0) for g in groups(n)])


def names(joints: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return a name for each column: a quantity, and its joint or link."""
    of_joints = [(what, joint) for what in ("position", "rate") for joint in joints]
    return [*of_joints, *((f"{what} along {a}", "base_link") for what in BASE for a in "xyz")]


def evenly(count: int, most: int) -> Index:
    """Return indices spread evenly over `count` items, at most `most` of them."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).astype(np.int64))


def worst_and_even(sizes: Array, most: int) -> Index:
    """Return sorted indices of the largest sizes (k,), half of `most`, and of others evenly."""
    return np.unique([*descending(sizes)[: most // 2], *evenly(len(sizes), most).tolist()])
