"""Finds the times of a motion in which nothing moves, so that films can leave them out.

`is_moving` marks the samples at which something moves, by the range of each coordinate in a window
around the sample. `shown_samples` keeps these samples, a short rest around them, and short gaps;
what remains is cut. `accord view --uncut` cuts nothing.

STILL_RANGE, STILL_SWAY, RANGE_WINDOW, SHOWN_REST and MIN_GAP may be tuned; test_annotations tests
motions on both sides of them.
"""

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract import Array, Index, Trajectory, fault_of

# Joint angles [rad], positions over the robot's size, and orientation [rad]: a smaller range within
# RANGE_WINDOW counts as standing still. 0.05 rad are 3 degrees, which is hardly seen in a picture.
STILL_RANGE = 0.05
# Fraction of the robot's size: the same bound for points of the robot. It is larger, so that a
# loose joint that only swings counts as standing still. It is a pendulum of a third of the size
# that swings by 17 degrees to either side.
STILL_SWAY = 0.2
# s; window in which the range of a motion is measured. By choice: STILL_RANGE within it is a motion
# of 3 degrees a second.
RANGE_WINDOW = 1.0
# s of film; still time that is shown before and after motion. By eye: shorter ones look like a cut.
SHOWN_REST = 0.4
# s of motion; shorter gaps are not left out. By choice: a cut disturbs more than it saves then.
MIN_GAP = 1.0
# Turn per change of a quaternion [rad]: its vector part changes by half of a small angle.
ANGLE_PER_QUATERNION = 2.0


def is_moving(motion: Trajectory, points: Array, step: float) -> NDArray[np.bool_]:
    """Return whether something moves, for each sample of a motion (t,).

    Something moves if, within RANGE_WINDOW, a joint whose actuator works, the base or a free body
    moves by more than STILL_RANGE, or any point of the robot by more than STILL_SWAY of its size.

    Args:
        motion: trajectory whose samples are evenly spaced in time.
        points: positions of points of the robot at each sample (t, m, 3) [m].
        step: time between samples [s].
    """
    size = float(np.ptp(points[0], axis=0).max())
    q = motion.q.copy()
    # A joint whose actuator has come loose keeps its value from then on, so it does not count; its
    # motion still counts by the points.
    for fault in map(fault_of, motion.events):
        if fault and fault.kind == "loose" and fault.joint in motion.joints:
            column, since = motion.joints.index(fault.joint), motion.time >= fault.time
            q[since, column] = q[since, column][:1]
    # Each coordinate in units in which STILL_RANGE is a small motion.
    position = motion.position / max(size, STILL_RANGE)
    coordinates = [q, position, ANGLE_PER_QUATERNION * motion.orientation]
    for body in () if motion.bodies is None else motion.bodies.swapaxes(0, 1):
        coordinates += [body[:, :3] / max(size, STILL_RANGE), ANGLE_PER_QUATERNION * body[:, 3:7]]
    is_driven = (ranges(np.column_stack(coordinates), step) > STILL_RANGE).any(axis=1)
    return np.asarray(is_driven | (ranges(points, step) > STILL_SWAY * size).any(axis=(1, 2)))


def ranges(values: Array, step: float) -> Array:
    """Return the largest less the smallest value (t, ...) in a window around each sample.

    Args:
        values: at each sample (t, ...).
        step: time between samples [s].
    """
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    # The window is an odd number of samples, centred on each.
    width = 2 * round(0.5 * RANGE_WINDOW / step) + 1
    high = maximum_filter1d(values, width, axis=0)
    return np.asarray(high - minimum_filter1d(values, width, axis=0))


def shown_samples(moving: NDArray[np.bool_], rest: int, shortest: int) -> Index:
    """Return the indices of the samples that are shown: all but long times without motion.

    The last sample is always shown; if nothing moves at all, every sample is.

    Args:
        moving: whether something moves, or an event happens, at each sample (t,).
        rest: number of still samples that are shown before and after a motion.
        shortest: number of samples from which on a still time is left out.
    """
    from scipy.ndimage import binary_dilation, label

    if not moving.any():
        return np.arange(len(moving))
    keep = binary_dilation(moving | (np.arange(len(moving)) == len(moving) - 1), iterations=rest)
    # Number the gaps between what is kept, and keep those that are too short as well.
    gaps, _ = label(~keep)
    return np.flatnonzero(keep | (np.bincount(gaps)[gaps] < shortest))
