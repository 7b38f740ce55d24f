"""Find joints of a log that a brake holds: they rest while efforts act on them.

A joint rests where it moves by no more than CREEP of its range, or by its noise, for LASTING. A
brake is compared with all other causes (problem.py), as if the windows in which it holds were not
there. Of a joint that rests in all the log, nothing would be left: a brake is named if the effort
that acts on it varies, and otherwise than the motion of the other joints needs.

The constants may be tuned; test_log_mistakes.py has an arm in MuJoCo whose brakes engage.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.outcome import Cause
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.fit import fitted
from roboaccord.crosscheck.causes.hypotheses import BRAKE

from roboaccord_files.logs.noise import noise_of
from roboaccord_files.logs.predicted import PredictedWindows
from roboaccord_files.logs.windows import RESTS

# s, and share of a joint's range: a sine of 0.3 Hz is so near its peak for 0.05 s.
LASTING, CREEP = 0.25, 1e-3
BRAKING = 0.1  # s; before it rests a joint is braked for less
# Ratio of rms efforts: what acts less what is needed, to both of them. A servo that holds a link
# leaves as much as the link's mass is off.
UNBALANCED = 0.5

Mask = NDArray[np.bool_]


def brakes(problem: PredictedWindows) -> Iterator[tuple[Cause, Mask]]:
    """Yield brakes with the time for which they hold [s], and the windows in which they do (w,).

    Joints that rest in all the log have a brake each; those that rest at times have one together.

    Args:
        problem: with the efforts, and what they mean.
    """
    log, windows, at_rest = problem.log, problem.windows, resting(problem)
    efforts = problem.efforts(fitted(problem).sizes)
    noise = noise_of(log, efforts[..., 0])
    # Efforts in each step (w, k, n), of windows in which a joint rests (w, n).
    acting = windows.applied(0, efforts)[..., 0]
    needed = windows.needed(problem.body).reshape(len(acting), -1, windows.joints)[:, 1::2]
    is_held = np.asarray(at_rest[windows.samples].any(axis=1), bool)
    at_times = list[int]()
    for j in range(windows.joints - len(log.driven), windows.joints):
        held = is_held[:, j]
        pair = np.stack([acting[held, :, j].ravel(), needed[held, :, j].ravel()])
        if held.all():  # the zero of its efforts is unknown
            pair -= pair.mean(axis=1, keepdims=True)
        if not is_unbalanced(pair, RESTS * noise[j]):
            continue
        if not held.all():
            at_times.append(j)
        elif not problem.reading.scaled:  # else its factor is unknown, too
            yield Cause(BRAKE, log.joints[j], float(np.ptp(log.time)), None, "s"), held
    if at_times:
        time = log.period * float(at_rest[:, at_times].any(axis=1).sum())
        where = ", ".join(log.joints[j] for j in at_times)
        yield Cause(BRAKE, where, time, None, "s"), np.asarray(is_held[:, at_times].any(axis=1))


def is_unbalanced(pair: Array, least: float) -> bool:
    """Return whether efforts that act on a resting joint are far from those that it needs.

    Args:
        pair: efforts that act, and that are needed (2, k).
        least: the smallest rms difference that counts.
    """
    if not pair.size:
        return False
    difference = float(np.sqrt(np.mean((pair[0] - pair[1]) ** 2)))
    return difference > max(UNBALANCED * float(np.sqrt(np.mean(pair**2))), least)


def resting(problem: PredictedWindows) -> Mask:
    """Return at which samples joints rest, or are about to (samples, n)."""
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    log, windows = problem.log, problem.windows
    lasting, braking = (int(span / log.period) + 1 for span in (LASTING, BRAKING))
    moved = maximum_filter1d(log.q, lasting, 0) - minimum_filter1d(log.q, lasting, 0)
    still = np.maximum(RESTS * windows.noise, CREEP * np.ptp(log.q, axis=0))
    rests = maximum_filter1d(moved <= still, lasting + 2 * braking, 0)
    return np.asarray(rests | windows.is_resting)
