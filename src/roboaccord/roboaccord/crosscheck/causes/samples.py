"""Recorded data with one suspected error of the recording or the drives undone.

To test whether a run or a log is explained by, say, efforts that act two samples late, the samples
are rewritten as they would be without that error, and the residuals are computed again (of runs, in
ticks.py). Errors with a size (a delay, a filter, an offset of an encoder) are functions in
RECORDED; errors without one (exchanged columns, signs, frames) are yielded by `exchanged` and
`framed`. The samples are a run's `Trajectory`, or another dataclass with the names `joints` and
arrays that have a column for each of them.

New errors are added to RECORDED or `exchanged`; the order of EXCHANGED_ARRAYS is that of names in
results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from roboaccord.contract import Array, Trajectory
from roboaccord.contract.outcome import Cause
from roboaccord.crosscheck.causes.hypotheses import FILTER, LIMIT, MOTOR, ZERO
from roboaccord.crosscheck.ticks import Index
from roboaccord.engines.deviations import EVERY
from roboaccord.numerics.rotations import quaternion_matrix

# A dataclass with names `joints` and arrays that have a column for each of them.
Samples = TypeVar("Samples", bound=Any)
# Arrays whose columns may have another sign or order, by the name of the error.
EXCHANGED_ARRAYS = {
    "effort": ("effort",),
    "rate": ("qd",),
    "state": ("q", "qd"),
    "axis": ("q", "qd", "effort"),
}
# Largest delay from which a fit begins [control periods, or ticks]: three samples of a queue. By
# choice: each is a fit more.
MOST_LATE = 3
# Delays from which fits begin [ticks].
DELAYS = tuple(float(ticks) for ticks in range(1, MOST_LATE + 1))
# Lags of a motor from which fits begin [ticks], each 4 times the last: within a factor of 2 of any
# from 0.25 to 64.
LAGS = (0.5, 2.0, 8.0, 32.0)
DECAYED = 36.0  # number of lags after which exp(-t / lag) is below round-off: exp(-36) = 2e-16
# Effort limits from which fits begin, relative to the largest effort: denser at the ends, where a
# limit acts on nearly all ticks or on few; any five like these would do.
LIMITS = (0.05, 0.2, 0.5, 0.8, 0.95)


def _shifted(run: Trajectory, ticks: int) -> Index:
    """Return the index of the sample some ticks after each (k,), within the run."""
    return np.clip(np.arange(len(run)) + ticks, 0, len(run) - 1)


def delayed(run: Trajectory, ticks: float, _: str = "") -> Trajectory:
    """Return a run whose efforts act later by a number of ticks, with interpolation."""
    whole_ticks, fraction = divmod(ticks, 1.0)
    later, earlier = (_shifted(run, -int(whole_ticks) - i) for i in (0, 1))
    effort = (1.0 - fraction) * run.effort[later] + fraction * run.effort[earlier]
    return replace(run, effort=effort)


def unlagged(run: Trajectory, ticks: float, _: str = "") -> Trajectory:
    """Return a run with rates (joints and base) moved earlier by a number of ticks.

    Rates that were recorded late then stand where they belong; they are interpolated between ticks.
    """
    whole_ticks, fraction = divmod(ticks, 1.0)
    earlier, later = (_shifted(run, int(whole_ticks) + i) for i in (0, 1))
    qd, twist = ((1.0 - fraction) * x[earlier] + fraction * x[later] for x in (run.qd, run.twist))
    return replace(run, qd=qd, twist=twist)


def without_offset(run: Trajectory, angle: float, where: str) -> Trajectory:
    """Return a run whose recorded positions of a joint are reduced by an encoder offset [rad]."""
    return replace(run, q=run.q - angle * (np.array(run.joints) == where))


def limited(samples: Samples, limit: float, where: str) -> Samples:
    """Return samples whose efforts of a joint are clipped to a limit [N m]."""
    limits = np.where(np.array(samples.joints) == where, max(limit, 0.0), np.inf)
    return replace(samples, effort=samples.effort.clip(-limits, limits))


def lagging(samples: Samples, lag: float, where: str) -> Samples:
    """Return samples whose efforts follow the commanded ones as a first-order lag [s].

    With command u over a period T and effort y at its beginning, the solution of lag dy/dt = u - y
    is u + (y - u) exp(-t / lag). The effort of a period is its mean,
    u + (y - u) (1 - exp(-T / lag)) lag / T.
    """
    period, efforts = float(np.median(np.diff(samples.time))), samples.effort
    lag = max(lag, 1e-9 * period)  # a lag of 0 would divide by 0
    decay = np.exp(-period / lag)  # share of a difference that a period leaves
    count = int(np.ceil(DECAYED * lag / period))  # periods until its effect is round-off
    length = 1 << (len(efforts) + count).bit_length()  # of both; fast to transform
    kernel = np.fft.rfft((1.0 - decay) * decay ** np.arange(count), length)
    means = efforts.copy()
    for j in np.flatnonzero([where in (joint, EVERY) for joint in samples.joints]):
        # Effort y at the starts of periods: convolution with the impulse response, from rest.
        rise = np.fft.irfft(kernel * np.fft.rfft(efforts[:, j] - efforts[0, j], length), length)
        begins = efforts[0, j] + np.r_[0.0, rise[: len(efforts) - 1]]
        # Mean over the period of u + (y - u) exp(-t / lag).
        means[:, j] += lag / period * (1.0 - decay) * (begins - efforts[:, j])
    return replace(samples, effort=means)


def unfiltered(samples: Samples, lag: float, where: str) -> Samples:
    """Return samples without the first-order low-pass filter [s] by which efforts were recorded.

    The filter records y with lag dy/dt = u - y, so the effort is u = y + lag dy/dt. The derivative
    is a central difference less its error, T^2 / 6 times the third derivative.
    """
    filtered = np.array([where in (joint, EVERY) for joint in samples.joints])
    period, time = float(np.median(np.diff(samples.time))), samples.time
    derivative = np.gradient(samples.effort, time, axis=0)
    third_derivative = np.gradient(np.gradient(derivative, time, axis=0), time, axis=0)
    derivative = derivative - period**2 / 6.0 * third_derivative  # of fourth order in the period
    return replace(samples, effort=samples.effort + lag * filtered * derivative)


# By quantity: the function (samples, size, joint) that undoes such an error.
RECORDED: Mapping[str, Callable[[Any, float, str], Any]] = {
    "delay": delayed,
    "lag": unlagged,
    ZERO: without_offset,
    LIMIT: limited,
    MOTOR: lagging,
    FILTER: unfiltered,
}


def starts(samples: Any) -> Iterator[tuple[str, str, list[float]]]:
    """Yield motor lags and effort limits with their joint, and sizes from which a fit begins."""
    period = float(np.median(np.diff(samples.time)))
    for joint in (*samples.joints, *([EVERY] if len(samples.joints) > 1 else [])):
        yield MOTOR, joint, [period * lag for lag in LAGS]
    for joint, largest in zip(samples.joints, np.abs(samples.effort).max(axis=0).tolist()):
        if largest:
            yield LIMIT, joint, [share * largest for share in LIMITS]


def exchanges(
    joints: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[Cause, list[str], Array]]:
    """Yield exchanged columns: error, names of the arrays, and the matrix that undoes it (n, n).

    The matrix changes the sign of one column or swaps two columns.
    """
    n = len(joints)
    for quantity, arrays in EXCHANGED_ARRAYS.items():
        chosen = [name for name in arrays if name in names]
        if not chosen:
            continue
        for i, joint in enumerate(joints):
            flip = np.eye(n)
            flip[i, i] = -1.0
            yield Cause(f"sign of {quantity}", joint), chosen, flip
        for i, j in combinations(range(n), 2):
            swap = np.eye(n)
            swap[[i, j]] = swap[[j, i]]
            yield Cause(f"order of {quantity}", f"{joints[i]}, {joints[j]}"), chosen, swap


def exchanged(samples: Samples, names: Sequence[str]) -> Iterator[tuple[Cause, Samples]]:
    """Yield each error of sign or order in the given arrays, and samples with it undone."""
    for cause, arrays, change in exchanges(samples.joints, names):
        yield cause, replace(samples, **{name: getattr(samples, name) @ change for name in arrays})


def framed(run: Trajectory) -> Iterator[tuple[Cause, Trajectory]]:
    """Yield errors of the base's frame, and a run with each undone; none if the base is at rest.

    Twists may be given in the base's own frame, and orientations may be inverted.
    """
    if np.ptp(run.position, axis=0).any() or np.ptp(run.orientation, axis=0).any():
        turns = [quaternion_matrix(orientation) for orientation in run.orientation]
        pairs = zip(run.twist, turns, strict=True)
        twists = np.array([np.concatenate([t[:3] @ turn, t[3:] @ turn]) for t, turn in pairs])
        yield Cause("frame", "base_link", axis="velocities"), replace(run, twist=twists)
        inverse = run.orientation * np.array([-1.0, -1.0, -1.0, 1.0])
        yield Cause("frame", "base_link", axis="orientation"), replace(run, orientation=inverse)
