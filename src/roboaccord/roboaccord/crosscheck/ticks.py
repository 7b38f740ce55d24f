"""Control periods (ticks) of a run: predictions of their ends, and differences of states.

The numbers of a state stand in 2 n + 12 columns of six groups: positions and rates of the n joints,
and position, orientation, linear and angular velocity of the base. Columns and groups are fixed:
every level indexes by them, and `difference`, `vector`, `groups` and `names` must agree.
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
TIME_ROUND_OFF = 1e-9  # s: stamps in bags are whole nanoseconds
ROUND_OFF = 1e-12  # of a coordinate, relative to the largest or to 1: sums of a few hundred terms
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
    starts, held = run.at(ticks), run.at(ticks + 1)
    step = simulator.physics_step
    lasting = [round(run.period(i) + more * step, 9) for i in ticks.tolist()]
    if not late:
        return simulator.predict(starts, (held, lasting))
    early, before = late * step, replace(held, effort=starts.effort)
    rest = [round(period - early, 9) for period in lasting]
    return simulator.predict(starts, (before, [early] * len(ticks)), (held, rest))


def difference(one: RobotState | Trajectory, other: RobotState | Trajectory) -> Array:
    """Return the difference of two states (2 n + 12,), or of k pairs of samples (k, 2 n + 12)."""
    back = one.orientation * np.array([-1.0, -1.0, -1.0, 1.0])
    turned = quaternion_vector(quaternion_product(other.orientation.T, back.T).T)
    straight, twist = other.position - one.position, other.twist - one.twist
    parts = [other.q - one.q, other.qd - one.qd, straight, turned, twist]
    return np.concatenate(parts, axis=-1)


def vector(run: Trajectory) -> Array:
    """Return the numbers of a run's states, in the columns of `difference` (k, 2 n + 12)."""
    angles = np.full((len(run), 3), np.pi)  # the largest that the orientation can differ by
    return np.column_stack([run.q, run.qd, run.position, angles, run.twist])


def groups(n: int) -> list[Index]:
    """Return the columns of each of the six groups."""
    ends = [0, n, 2 * n, *(2 * n + 3 * i for i in range(1, 5))]
    return [np.arange(a, b) for a, b in pairwise(ends)]


def by_group(sizes: Array) -> Array:
    """Return the largest value of each group (k, 6)."""
    n = (sizes.shape[1] - 12) // 2
    return np.column_stack([sizes[:, g].max(axis=1, initial=0.0) for g in groups(n)])


def names(joints: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the names of the columns: a quantity, and its joint or link."""
    of_joints = [(what, joint) for what in ("position", "rate") for joint in joints]
    return [*of_joints, *((f"{what} along {a}", "base_link") for what in BASE for a in "xyz")]


def evenly(count: int, most: int) -> Index:
    """Return indices spread evenly over `count` items, at most `most` of them."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).astype(np.int64))


def worst_and_even(sizes: Array, most: int) -> Index:
    """Return sorted indices of the largest sizes (k,), half of `most`, and of others evenly."""
    return np.unique([*descending(sizes)[: most // 2], *evenly(len(sizes), most).tolist()])
