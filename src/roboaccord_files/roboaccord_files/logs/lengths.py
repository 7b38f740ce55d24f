"""Choose how long the windows of a log are: as short as the noise of its positions allows.

A window is a run of k steps between samples (windows.py). Efforts move a joint the farther the
longer they act, while the noise of the positions stays. So the share of noise, `Windows.share`,
which is noise over the effect of the efforts on the positions within a window, falls with the
length. The shortest windows with a small enough share are chosen.

MIN_STEPS, MIN_WINDOWS, QUIET_NOISE and NOISE_POWER may be tuned; they move verdicts. `make
own-logs` measures what is then found (docs/own_log.md).
"""

from __future__ import annotations

import numpy as np

from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.problem import MAX_NOISE
from roboaccord_files.logs.smooth import Smooth
from roboaccord_files.logs.windows import FIRST_SAMPLES, Windows

# Steps of the shortest window. Its 7 samples less 2 for the initial state leave 5 residuals a
# joint. With 3 and 12 no verdict on six logs of own_logs.py changes.
MIN_STEPS = 6
# Windows that the longest choice must leave: ten in each half, by which the other is checked, so
# that the scatter in a half is known to a quarter (1 / sqrt(2 (10 - 1))).
MIN_WINDOWS = 20
# Share of noise below which windows are quiet. Noise makes inertia seem smaller by about its
# square: 0.01 % of the inertia here, which is 0.2 % of an error of 5 %.
QUIET_NOISE = 0.01
# Windows that a quiet choice must leave, so that their scatter is known to a tenth.
QUIET_WINDOWS = 60
# The share of noise falls at least with this power of the windows' length: a constant effort moves
# a joint by the square of the time. A little more than 2 gives short steps towards the length.
NOISE_POWER = 2.2
# Smallest and largest factor by which windows are made longer at once, as the power is a rough one.
MIN_FACTOR, MAX_FACTOR = 1.2, 4.0


def choose_windows(log: Log, body: LogBody) -> Windows:
    """Return the shortest windows with little noise, or the longest ones that may be chosen.

    Little noise is a share of QUIET_NOISE, with QUIET_WINDOWS windows or more. Where no such
    windows are quiet, it is MAX_NOISE: with more the log is not judged.

    Args:
        log: the samples.
        body: the robot as its file has it.
    """
    smooth = Smooth.of(log)
    lengths = np.array([stretch.stop - stretch.start - 1 for stretch in log.segments])  # in steps
    # The longest windows: MIN_WINDOWS of them, or a quarter as many of twice the length.
    sizes = np.arange(MIN_STEPS, max(MIN_STEPS, lengths.sum() // MIN_WINDOWS) + 1)
    enough = (lengths // (2 * sizes[:, None])).sum(axis=1) >= MIN_WINDOWS // 4
    longest = int(sizes[enough].max(initial=MIN_STEPS))
    longest_quiet = min(int(lengths.sum()) // QUIET_WINDOWS, longest)
    windows = _shortest_windows(log, body, smooth, QUIET_NOISE, longest_quiet)
    if (windows.share <= QUIET_NOISE).all():
        return windows
    return _shortest_windows(log, body, smooth, MAX_NOISE, longest)


def _shortest_windows(
    log: Log, body: LogBody, smooth: Smooth, max_share: float, max_steps: int
) -> Windows:
    """Return the shortest windows whose share of noise is small enough, or the longest ones.

    The length is raised step by step, by what NOISE_POWER promises.

    Args:
        log, body: as of `choose_windows`.
        smooth: motion through the log.
        max_share: largest share of noise of a joint.
        max_steps: largest number of steps of a window.
    """
    steps = MIN_STEPS
    while True:
        # The first look is at few of them, which is fast; one that would end the search is checked.
        windows = Windows(log, body, steps, smooth, FIRST_SAMPLES)
        is_longest = steps >= max_steps
        if not windows.is_complete and (is_longest or (windows.share <= max_share).all()):
            windows = Windows(log, body, steps, smooth)
        if is_longest or (windows.share <= max_share).all():
            return windows
        factor = float(windows.share.max() / max_share) ** (1.0 / NOISE_POWER)
        factor = min(max(factor, MIN_FACTOR), MAX_FACTOR)
        steps = min(int(factor * steps) + 1, max_steps)
