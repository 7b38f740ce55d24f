"""Comparison of recorded runs, signal by signal, at common time stamps or at those of both.

SAME_RUN and GAZEBO, default tolerances that docs and test_compare state, stay; `--tolerance`
overrides them. A signal may be added by a line of `signals_of`; whether it is held, a rate or a
turn follows from _HELD, _RATE and TURNS (resampling.py interpolates them). The order of two bags
must not matter. Names of the classes' fields are keys of `--json` and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import numpy as np

from roboaccord.bag.reader import BagRun
from roboaccord.bag.resampling import SLACK, Known, Resampling
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.outcome import Verdict
from roboaccord.contract.results import Json, Quantity, by_fields, to_json
from roboaccord.contract.state import Array
from roboaccord.numerics.rotations import quaternion_matrix, quaternion_rpy

SAME_RUN = 1e-9  # default tolerance: two recordings of the same run, up to round-off
GAZEBO = 0.05  # default with a bag from Gazebo, with its own steps and contacts: 5 cm, 3 degrees
UNITS = "m and rad, m/s, rad/s, N m or N"  # of signals
_PLACE = ("base/x", "base/y", "base/z")
TURNS = ("base/roll", "base/pitch", "base/yaw")
_HELD = ("effort/", "switch/")
_RATE = "qd/"


@dataclass(frozen=True, slots=True)
class Deviation:
    """Deviation of a signal from the reference's."""

    rms: Annotated[float, Quantity("", "root mean square of the differences", form=".3g")]
    max: Annotated[float, Quantity("", f"largest of the differences, in {UNITS}", form=".3g")]
    at: Annotated[float, Quantity("s", "time of the largest", form=".6g")]


@dataclass(frozen=True, slots=True)
class Pair:
    """Deviations of one bag from the reference.

    Args:
        bag: path of the other bag, as it was given.
        duration: of the comparison.
        signals: deviations by signal.
        interpolated: number of compared time stamps at which only one of both has a sample.
        stamps_left: number of time stamps left out, since one bag has all of the other's, too.
        left_out: by signal, number of times without a comparison: one of both has no sample there,
            and its value cannot be interpolated.
        skipped: signals that only one bag has, or that both never have at one time.
    """

    bag: str
    duration: Annotated[float, Quantity("s", "length of the overlap")]
    signals: Mapping[str, Deviation]
    interpolated: int = 0
    stamps_left: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()

    def to_json(self) -> Mapping[str, Json]:
        """Return the fields; those with a default only if they differ from it."""
        optional = ("interpolated", "stamps_left", "left_out", "skipped")
        return {k: v for k, v in by_fields(self).items() if v or k not in optional}


@dataclass(frozen=True, slots=True)
class SignalComparison:
    """Comparison of bags with a reference.

    Args:
        pairs: comparison of each bag with the reference.
        tolerance: largest difference of any signal, in its unit, that passes.
        why: reason for that tolerance; "" where it was given.
    """

    pairs: tuple[Pair, ...]
    tolerance: float
    why: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether all signals of all pairs are within the tolerance."""
        worst = max(signal.max for pair in self.pairs for signal in pair.signals.values())
        return "pass" if worst <= self.tolerance else "fail"

    def to_json(self) -> Mapping[str, Json]:
        """Return the verdict and the pairs."""
        return {"verdict": self.verdict, "pairs": to_json(self.pairs)}


def compare(
    first: tuple[Path, BagRun],
    others: Sequence[tuple[Path, BagRun]],
    *,
    signals: Sequence[str] = (),
    start: float | None = None,
    stop: float | None = None,
    tolerance: float | None = None,
) -> SignalComparison:
    """Compare runs with a reference over the time that both cover.

    If one of two runs has a sample at every time of the other, they are compared at the other's
    times, else at the times of both. At a time at which only one has a sample:

    - efforts and switches (0 and 1) are those of the next sample, which are in force until then;
      they are left out if it is more than a control period away;
    - positions and turns of the base are interpolated by cubics with the recorded rates at both
      ends, or linearly and on the shortest path where the rates do not fit;
    - rates are interpolated linearly, but left out between samples with a jump or with an event of
      either run.

    Args:
        first: path and run of the reference.
        others: paths and runs to compare.
        signals: names or glob patterns of `q/JOINT`, `qd/JOINT`, `effort/JOINT`, `base/x`,
            `base/y`, `base/z`, `base/roll`, `base/pitch`, `base/yaw`, `switch/NAME`; all if empty.
        start, stop: limits of the compared time [s].
        tolerance: largest difference of any signal, in its unit, that passes. If None, 1e-9, which
            only recordings of the same run meet, or 0.05 where a bag is from Gazebo.

    Raises:
        AccordError: if a pattern matches nothing, or two bags have no signal or time in common.
    """
    if tolerance is not None and not tolerance >= 0.0:
        raise AccordError(f"the tolerance must be a number of at least 0, not {tolerance:g}")
    window = (-np.inf if start is None else start, np.inf if stop is None else stop)
    pairs = [_compare_pair(*first, *other, signals, window) for other in others]
    for pair in pairs:
        if not pair.signals:
            raise AccordError(f"nothing to compare: {pair.bag} and {first[0]} share no sample")
    limit, why = SAME_RUN, "the default, which only recordings of the same run keep"
    if any(run.engine == "gz" for _, run in (first, *others)):
        limit = GAZEBO
        why = "the default with a bag from Gazebo, whose steps and contacts are its own"
    if tolerance is not None:
        limit, why = tolerance, ""
    return SignalComparison(tuple(pairs), limit, why)


def signals_of(run: BagRun) -> dict[str, Array]:
    """Return every signal of a run by name, sampled at the run's time stamps (k,)."""
    motion = run.trajectory
    columns = (("q", motion.q), ("qd", motion.qd), ("effort", motion.effort))
    signals = {
        f"{kind}/{joint}": values[:, i]
        for kind, values in columns
        for i, joint in enumerate(motion.joints)
    }
    if run.has_base:
        signals |= dict(zip(_PLACE, motion.position.T))
        signals |= dict(zip(TURNS, _angles(motion.orientation)))
    signals |= {f"switch/{name}": on.astype(float) for name, on in motion.switches.items()}
    return signals


def _angles(orientation: Array) -> Array:
    """Return roll, pitch and yaw (3, k) of quaternions (k, 4)."""
    return np.array([quaternion_rpy(q) for q in orientation]).reshape(-1, 3).T


def _resampled(
    run: BagRun, signals: Mapping[str, Array], grid: Array, events: Sequence[float]
) -> Callable[[str], tuple[Array, Known]]:
    """Return a function of a signal's name: values at the times of a grid (m,), and where known.

    Args:
        run: recorded.
        signals: of the run, by name (k,).
        grid: times (m,) [s].
        events: times of the events of both runs [s].
    """
    motion, base = run.trajectory, dict[str, Array]()
    period = float(run.scenario.get("control_period") or np.inf)
    seen = Resampling(motion.time, grid, period, events)
    if run.has_base:
        axes, twist = quaternion_matrix(motion.orientation), motion.twist
        positions = seen.moving(motion.position, np.einsum("kij,kj->ki", axes, twist[:, :3]))
        angles = _angles(seen.turning(motion.orientation, twist[:, 3:]))
        base = dict(zip((*_PLACE, *TURNS), (*positions.T, *angles)))

    def at(name: str) -> tuple[Array, Known]:
        if name.startswith(_HELD):
            return seen.held(signals[name])
        if name.startswith(_RATE):
            return seen.rates(signals[name])
        values = base.get(name)
        if values is None:
            pair = (signals[kind + name.removeprefix("q/")] for kind in ("q/", _RATE))
            values = seen.moving(*(columns[:, None] for columns in pair))[:, 0]
        return values, np.ones(len(values), dtype=bool)

    return at


def _compare_pair(
    reference: Path,
    first: BagRun,
    other: Path,
    second: BagRun,
    patterns: Sequence[str],
    window: tuple[float, float],
) -> Pair:
    ours, theirs = signals_of(first), signals_of(second)
    if not (common := [name for name in ours if name in theirs]):
        raise AccordError(f"{reference} and {other} have no signal in common")
    chosen = _choose(common, patterns)
    time = first.trajectory.time
    times = second.trajectory.time
    begin, end = max(time[0], times[0], window[0]), min(time[-1], times[-1], window[1])
    grid, interpolated, rest = common_grid(time, times, begin, end)
    if not len(grid):
        bags = ((reference, time), (other, times))
        spans = " and ".join(f"{name} ({t[0]:g} to {t[-1]:g} s)" for name, t in bags)
        within = " within the limits given" if np.isfinite(window).any() else ""
        raise AccordError(f"{spans} have no time in common{within}")
    events = [event.time for run in (first, second) for event in run.trajectory.events]
    sides = [_resampled(first, ours, grid, events), _resampled(second, theirs, grid, events)]
    deviations, left_out = {}, {}
    for name in chosen:
        (a, a_known), (b, b_known) = (side(name) for side in sides)
        both = a_known & b_known
        if both.any():
            deviations[name] = _deviation(grid[both], (b - a)[both], name)
        if not both.all():
            left_out[name] = int((~both).sum())
    skipped = (set(ours) ^ set(theirs)) | (set(chosen) - set(deviations))
    return Pair(
        str(other), float(grid[-1] - grid[0]), deviations, interpolated, rest, left_out,
        tuple(sorted(skipped)),
    )  # fmt: skip


def _choose(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise AccordError(f"no signal matches {pattern}{did_you_mean(pattern, names)}")
    return [n for n in names if not patterns or any(fnmatchcase(n, p) for p in patterns)]


def _deviation(grid: Array, error: Array, name: str) -> Deviation:
    if not np.isfinite(error).all():
        bad = grid[int(np.flatnonzero(~np.isfinite(error))[0])]
        raise AccordError(f"{name} is not a finite number at t = {bad:g} s")
    if name in TURNS:  # an angle is the same after a whole turn
        error = error - 2.0 * np.pi * np.round(error / (2.0 * np.pi))
    worst = int(np.abs(error).argmax())
    largest = float(abs(error[worst]))
    rms = float(np.sqrt(np.mean(error**2)))
    return Deviation(rms, largest, float(grid[worst]))


def common_grid(one: Array, other: Array, start: float, stop: float) -> tuple[Array, int, int]:
    """Return the times at which to compare two recordings.

    If one has a sample at every time of the other, these are the other's times, and nothing is
    interpolated. Else they are the times of both.

    Returns:
        times (m,) [s]; how many of them only one recording has; how many times are left out.
    """
    inside = [t[(t >= start - SLACK) & (t <= stop + SLACK)] for t in (one, other)]
    times = np.union1d(*inside)
    times = times[np.diff(times, prepend=-np.inf) > SLACK]
    fewer, more = sorted(inside, key=len)
    alone = 2 * len(times) - len(fewer) - len(more)
    nested = len(fewer) and len(more) == len(times)
    return (fewer, 0, alone) if nested and alone else (times, alone, 0)
