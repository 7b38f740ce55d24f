"""Columns in which states are compared: 2 n + 12 numbers of a robot with n joints, in six groups.

The groups are positions and rates of the joints, then position, orientation, linear and angular
velocity of the base, with three columns each. `column_groups` and `column_names` define this order,
and every level indexes by it.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from roboaccord.contract import Array, RobotState, Trajectory
from roboaccord.crosscheck.ticks import Index
from roboaccord.numerics.rotations import orientation_difference

# Groups of the base, with three columns each.
BASE = ("position", "orientation", "linear velocity", "angular velocity")
BASE_COLUMNS = 12  # of these groups


def state_difference(one: RobotState | Trajectory, other: RobotState | Trajectory) -> Array:
    """Return the difference `other` less `one` of states, by column.

    The difference of orientations is a rotation vector [rad].

    Args:
        one, other: states, or runs of k samples.

    Returns:
        (2 n + 12,), or (k, 2 n + 12) for runs.
    """
    rotation = orientation_difference(one.orientation, other.orientation)
    shift, twist = other.position - one.position, other.twist - one.twist
    return np.concatenate([other.q - one.q, other.qd - one.qd, shift, rotation, twist], axis=-1)


def column_sizes(run: Trajectory) -> Array:
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
    groups = column_groups((sizes.shape[-1] - BASE_COLUMNS) // 2)
    return np.stack([sizes[..., g].max(axis=-1, initial=0.0) for g in groups], axis=-1)


def scales_of_groups(run: Trajectory) -> Array:
    """Return the size of each group to which round-off is relative, at least 1 (6,)."""
    return np.maximum(largest_by_group(column_sizes(run)), 1.0)


def to_columns(values: Array, count: int) -> Array:
    """Return values of the six groups (6,), repeated for each of `count` columns (2 n + 12,)."""
    n = (count - BASE_COLUMNS) // 2
    return np.repeat(values, [n, n, 3, 3, 3, 3])
