"""Waiting in a motion: times without motion, which films leave out.

STILL, SWAY, SPELL, REST and WORTH may be tuned; test_annotations tests motions on both sides of
them. `--uncut` shows everything.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract import Array, Index, Trajectory, fault_of

STILL = 0.05  # rad, or parts of the robot's size: actuated motion below it is none
SWAY = 0.2  # parts of the robot's size: the same for motion without actuators
SPELL = 1.0  # s in which motion is measured
REST = 0.4  # s of film without motion that are shown before and after motion
WORTH = 1.0  # s of motion that are worth leaving out


def moves(motion: Trajectory, points: Array, step: float) -> NDArray[np.bool_]:
    """Return the samples of a motion at which something moves (t,).

    A joint with a sound actuator or the base moves if it does by more than STILL within SPELL, any
    other point if it does by more than SWAY: a loose joint that swings less is waiting.

    Args:
        motion: at even steps.
        points: of the robot, at each sample (t, m, 3) [m].
        step: between samples [s].
    """
    size, q = float(np.ptp(points[0], axis=0).max()), motion.q.copy()
    for fault in map(fault_of, motion.events):
        if fault and fault.kind == "loose" and fault.joint in motion.joints:
            column, since = motion.joints.index(fault.joint), motion.time >= fault.time
            q[since, column] = q[since, column][:1]
    coordinates = [q, motion.position / max(size, STILL), 2.0 * motion.orientation]
    width = 2 * round(0.5 * SPELL / step) + 1
    actuated = _ranges(np.column_stack(coordinates), width) > STILL
    return np.asarray(
        actuated.any(axis=1) | (_ranges(points, width) > SWAY * size).any(axis=(1, 2))
    )


def _ranges(values: Array, width: int) -> Array:
    """Return the range of values (t, ...) among `width` samples around each."""
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    high = maximum_filter1d(values, width, axis=0)
    return np.asarray(high - minimum_filter1d(values, width, axis=0))


def shown(moving: NDArray[np.bool_], rest: int, shortest: int) -> Index:
    """Return the samples of a motion that are shown: all but long times in which nothing moves.

    Its end is always shown.

    Args:
        moving: samples at which something moves, or happens (t,).
        rest: number of samples without motion that are shown before and after it.
        shortest: number of samples that are worth leaving out.
    """
    from scipy.ndimage import binary_dilation, label

    if not moving.any():
        return np.arange(len(moving))
    keep = binary_dilation(moving | (np.arange(len(moving)) == len(moving) - 1), iterations=rest)
    gaps, _ = label(~keep)
    return np.flatnonzero(keep | (np.bincount(gaps)[gaps] < shortest))
