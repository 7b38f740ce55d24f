"""Choose how long the windows of a log are: as short as the noise of its positions allows.

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
# Share of the effect of the efforts: windows are so long that there is less noise, while
# QUIET_WINDOWS remain, of which the scatter is known to a tenth. Noise makes inertia seem smaller
# by about its square: by 0.01 % of all, 0.2 % of an error of 5 %.
QUIET_NOISE, QUIET_WINDOWS = 0.01, 60
# The share of noise falls at least with this power of the windows' length: a constant effort moves
# a joint by the square of the time. A little more than 2 gives short steps towards the length.
NOISE_POWER = 2.2


def choose_windows(log: Log, body: LogBody) -> Windows:
    """Return the shortest windows with little noise, or the longest ones.

    Little is QUIET_NOISE while there are QUIET_WINDOWS, else MAX_NOISE.

    Longer windows have relatively less noise, since an effort moves a joint ever farther. The
    length is raised step by step, by what NOISE_POWER promises.
    """
    lengths = np.array([stretch.stop - stretch.start - 1 for stretch in log.segments])
    # The longest windows: MIN_WINDOWS of them, or a quarter as many of twice the length.
    sizes = np.arange(MIN_STEPS, max(MIN_STEPS, lengths.sum() // MIN_WINDOWS) + 1)
    enough = (lengths // (2 * sizes[:, None])).sum(axis=1) >= MIN_WINDOWS // 4
    longest = int(sizes[enough].max(initial=MIN_STEPS))
    smooth = Smooth.of(log)
    longest_quiet = min(int(lengths.sum()) // QUIET_WINDOWS, longest)
    for asked, most in ((QUIET_NOISE, longest_quiet), (MAX_NOISE, longest)):
        size = MIN_STEPS
        while True:
            # The first look is at few of them, which is fast.
            windows = Windows(log, body, size, smooth, FIRST_SAMPLES)
            if (windows.share <= asked).all() or size >= most:
                windows = windows if windows.is_complete else Windows(log, body, size, smooth)
                if (windows.share <= asked).all():
                    return windows
                if size >= most:
                    break
            # Between 1.2 and 4 times as long, for the promise is a rough one.
            factor = min(max(float(windows.share.max() / asked) ** (1.0 / NOISE_POWER), 1.2), 4.0)
            size = min(int(factor * size) + 1, most)
    return windows
