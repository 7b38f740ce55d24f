"""Recorded samples, of a run or a log, as they would be if something were not otherwise.

A way in which data may be wrong is added as a function to RECORDED (it has a size) or to
`exchanged`. ORDERS is the order in which names are given. The samples are a dataclass with `joints`
and a column of each array for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from roboaccord.contract.outcome import Cause
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.causes.hypotheses import FILTER, LIMIT, MOTOR, ZERO
from roboaccord.crosscheck.ticks import Index
from roboaccord.engines.deviations import EVERY
from roboaccord.numerics.rotations import quaternion_matrix

Samples = TypeVar("Samples", bound=Any)  # a dataclass with joints and columns by their order
ORDERS = {
    "effort": ("effort",), "rate": ("qd",), "state": ("q", "qd"), "axis": ("q", "qd", "effort"),
}  # fmt: skip
"""What may have another sign or order: columns by name."""
MOST_LATE = 3  # ticks
WHOLE = tuple(float(ticks) for ticks in range(1, MOST_LATE + 1))
LAGS = (0.5, 2.0, 8.0, 32.0)  # periods: of a motor, from which a fit begins
GONE = 36.0  # lags after which round-off is all that is left of what has been
PARTS = (0.05, 0.2, 0.5, 0.8, 0.95)  # of the largest effort: limits, likewise


def _clipped(run: Trajectory, later: int) -> Index:
    """Return the numbers of samples so many ticks later, as far as there are such."""
    return np.clip(np.arange(len(run)) + later, 0, len(run) - 1)


def delayed(run: Trajectory, ticks: float, _: str = "") -> Trajectory:
    """Return a run whose efforts act later by so many ticks, or by a part of one."""
    whole, part = divmod(ticks, 1.0)
    early, late = (_clipped(run, -int(whole) - i) for i in (0, 1))
    return replace(run, effort=(1.0 - part) * run.effort[early] + part * run.effort[late])


def unlagged(run: Trajectory, ticks: float, _: str = "") -> Trajectory:
    """Return a run whose rates were recorded so many ticks late, or a part of one, without that."""
    whole, part = divmod(ticks, 1.0)
    now, then = (_clipped(run, int(whole) + i) for i in (0, 1))
    qd, twist = ((1.0 - part) * x[now] + part * x[then] for x in (run.qd, run.twist))
    return replace(run, qd=qd, twist=twist)


def turned(run: Trajectory, angle: float, where: str) -> Trajectory:
    """Return a run whose positions of a joint are smaller by an angle [rad]."""
    return replace(run, q=run.q - angle * (np.array(run.joints) == where))


def limited(samples: Samples, limit: float, where: str) -> Samples:
    """Return samples whose efforts of a joint are clipped to a limit [N m]."""
    most = np.where(np.array(samples.joints) == where, max(limit, 0.0), np.inf)
    return replace(samples, effort=samples.effort.clip(-most, most))


def lagging(samples: Samples, lag: float, where: str) -> Samples:
    """Return samples whose efforts follow what is asked by a lag of first order [s].

    The effort of a period is the mean of u + (y - u) exp(-t / lag), y being what it begins with.
    """
    period, efforts = float(np.median(np.diff(samples.time))), samples.effort
    lag = max(lag, 1e-9 * period)
    kept = np.exp(-period / lag)
    gone = int(np.ceil(GONE * lag / period))  # periods after which nothing is left of an effort
    kernel, rise = (1.0 - kept) * kept ** np.arange(gone), efforts - efforts[0]
    ends = [np.convolve(column, kernel)[: len(rise)] for column in rise.T]
    begins = efforts[0] + np.vstack([np.zeros(rise.shape[1]), np.transpose(ends)[:-1]])
    found = efforts + lag / period * (1.0 - kept) * (begins - efforts)
    own = np.array([where in (joint, EVERY) for joint in samples.joints])
    return replace(samples, effort=np.where(own, found, efforts))


def unfiltered(samples: Samples, lag: float, where: str) -> Samples:
    """Return samples whose efforts were recorded by a filter of first order [s], without that."""
    filtered = np.array([where in (joint, EVERY) for joint in samples.joints])
    period, time = float(np.median(np.diff(samples.time))), samples.time
    change = np.gradient(samples.effort, time, axis=0)
    bend = np.gradient(np.gradient(change, time, axis=0), time, axis=0)
    change = change - period**2 / 6.0 * bend  # of fourth order
    return replace(samples, effort=samples.effort + lag * filtered * change)


RECORDED: Mapping[str, Callable[[Any, float, str], Any]] = {
    "delay": delayed, "lag": unlagged, ZERO: turned, LIMIT: limited, MOTOR: lagging,
    FILTER: unfiltered,
}  # fmt: skip
"""By quantity: return the samples without an error of a size at a joint."""


def starts(samples: Any) -> Iterator[tuple[str, str, list[float]]]:
    """Yield what efforts of motors may do, and where: from which sizes a fit begins."""
    period = float(np.median(np.diff(samples.time)))
    for joint in (*samples.joints, *([EVERY] if len(samples.joints) > 1 else [])):
        yield MOTOR, joint, [period * lag for lag in LAGS]
    for joint, most in zip(samples.joints, np.abs(samples.effort).max(axis=0).tolist()):
        if most:
            yield LIMIT, joint, [part * most for part in PARTS]


def exchanges(
    joints: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[Cause, list[str], Array]]:
    """Yield signs and orders of columns: the error, which columns, and what undoes it (n, n)."""
    n = len(joints)
    for quantity, columns in ORDERS.items():
        chosen = [each for each in columns if each in names]
        for at in [*combinations(range(n), 1), *combinations(range(n), 2)] if chosen else []:
            change = np.eye(n)
            change[[*at]] = change[[*at[::-1]]] if len(at) == 2 else -change[[*at]]
            kind = "order" if len(at) == 2 else "sign"
            yield Cause(f"{kind} of {quantity}", ", ".join(joints[i] for i in at)), chosen, change


def exchanged(samples: Samples, names: Sequence[str]) -> Iterator[tuple[Cause, Samples]]:
    """Yield samples with signs and orders of columns undone; of those columns that there are."""
    for cause, own, change in exchanges(samples.joints, names):
        undone = {each: getattr(samples, each) @ change for each in own}
        yield cause, replace(samples, **undone)


def framed(run: Trajectory) -> Iterator[tuple[Cause, Trajectory]]:
    """Yield a run in other frames of the base, where it moves."""
    if np.ptp(run.position, axis=0).any() or np.ptp(run.orientation, axis=0).any():
        turns = [quaternion_matrix(orientation) for orientation in run.orientation]
        pairs = zip(run.twist, turns, strict=True)
        own = np.array([np.concatenate([t[:3] @ r, t[3:] @ r]) for t, r in pairs])
        yield Cause("frame", "base_link", axis="velocities"), replace(run, twist=own)
        inverse = run.orientation * np.array([-1.0, -1.0, -1.0, 1.0])
        yield Cause("frame", "base_link", axis="orientation"), replace(run, orientation=inverse)
