"""Comparison of recorded runs, signal by signal, at time stamps of both, or at all of either.

SAME_RUN and GAZEBO, default tolerances that docs and test_compare state, stay; `--tolerance`
overrides them. JUMP, FLAT, BEND and LEAST decide where a signal is interpolated and may be tuned
(test_resample tries them). A signal may be added by a line of `signals_of`; whether it is held, a
rate or a turn follows from _HELD, _RATE and TURNS. The order of two bags must not matter.

One run is read at the times of the other: what is held, what moves, and what jumps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from roboaccord.bag.reader import BagRun
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.outcome import Verdict
from roboaccord.contract.results import Json, Quantity, by_fields, to_json
from roboaccord.contract.state import Array
from roboaccord.numerics.rotations import quaternion_matrix, quaternion_product, quaternion_rpy

SAME_RUN = 1e-9  # default tolerance: two recordings of the same run, up to round-off
GAZEBO = 0.05  # with a bag from Gazebo, whose steps and contacts are its own: 5 cm, 3 degrees
UNITS = "m and rad, m/s, rad/s, N m or N"  # of signals
_PLACE = ("base/x", "base/y", "base/z")
TURNS = ("base/roll", "base/pitch", "base/yaw")
_HELD = ("effort/", "switch/")
_RATE = "qd/"
SLACK = 1e-9  # s; the resolution of a time stamp
JUMP = 3.0  # times as steep as the intervals beside: more than any rate that is sampled finely
FLAT = 1e-6  # of the largest rate: smaller changes are not jumps
BEND = 0.125  # of a rate's change in an interval: by how much its mean may miss the chord's
LEAST = 1e-4  # of the largest rate: a miss that is none
Known = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Deviation:
    """Hold how far a signal is from the reference's."""

    rms: Annotated[float, Quantity("", "root mean square of the differences", form=".3g")]
    max: Annotated[float, Quantity("", f"largest of the differences, in {UNITS}", form=".3g")]
    at: Annotated[float, Quantity("s", "time of the largest", form=".6g")]


@dataclass(frozen=True, slots=True)
class Pair:
    """Hold the deviations of one bag from the reference.

    Args:
        bag: the other bag, as it was given.
        duration: compared.
        signals: deviations by signal.
        interpolated: number of time stamps compared at which only one of the two has a sample.
        stamps_left: number of those left out, because the one has all of the other's too.
        left_out: by signal, of how many times nothing was compared, because one of the two has no
            sample there, and its value cannot be interpolated.
        skipped: signals that only one of the two bags has, or that the two never know at once.
    """

    bag: str
    duration: Annotated[float, Quantity("s", "length of the overlap")]
    signals: Mapping[str, Deviation]
    interpolated: int = 0
    stamps_left: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()

    def to_json(self) -> Mapping[str, Json]:
        """Return the fields, those that have a default only if something was."""
        optional = ("interpolated", "stamps_left", "left_out", "skipped")
        return {k: v for k, v in by_fields(self).items() if v or k not in optional}


@dataclass(frozen=True, slots=True)
class SignalComparison:
    """Hold the pairs of bags that were compared.

    Args:
        pairs: of each bag with the reference.
        tolerance: largest difference of any signal in its own unit that passes.
        why: it is that; "" where it was given.
    """

    pairs: tuple[Pair, ...]
    tolerance: float
    why: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether all signals of all pairs are within the tolerance."""
        worst = max(found.max for pair in self.pairs for found in pair.signals.values())
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

    Where one of two has a sample at every time of the other, it is at these times. Else it is at
    the times of both. At one that only one of the two has a sample of, the other's efforts and
    switches, which count as 0 and 1, are those of its next sample: that is in force until then. If
    that is more than a control period away, they are left out. Positions and turns of the base are
    interpolated by cubics that have the recorded rates at both ends; linearly, and on the shortest
    path, where the rates do not fit. Rates are interpolated linearly, but left out between samples
    with an event of either run between them, or a jump.

    Args:
        first: the reference, with its bag's name.
        others: runs to compare, likewise.
        signals: names or glob patterns out of `q/JOINT`, `qd/JOINT`, `effort/JOINT`, `base/x`,
            `base/y`, `base/z`, `base/roll`, `base/pitch`, `base/yaw`, `switch/NAME`; all where
            empty.
        start, stop: limits of the time compared [s].
        tolerance: largest difference of any signal in its own unit that passes. Where None, 1e-9,
            which only recordings of the same run keep, or 0.05 where a bag is from Gazebo.

    Raises:
        AccordError: if a pattern matches nothing, or two bags have no
            signal or no time in common.
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
    found = {
        f"{kind}/{joint}": values[:, i]
        for kind, values in columns
        for i, joint in enumerate(motion.joints)
    }
    if run.has_base:
        found |= dict(zip(_PLACE, motion.position.T))
        found |= dict(zip(TURNS, _angles(motion.orientation)))
    found |= {f"switch/{name}": on.astype(float) for name, on in motion.switches.items()}
    return found


def _angles(orientation: Array) -> Array:
    """Return roll, pitch and yaw (3, k) of quaternions (k, 4)."""
    return np.array([quaternion_rpy(q) for q in orientation]).reshape(-1, 3).T


def _seen(
    run: BagRun, signals: Mapping[str, Array], grid: Array, events: Sequence[float]
) -> Callable[[str], tuple[Array, Known]]:
    """Return what gives a signal of a run at the times of a grid (m,), and where it is known.

    Args:
        run: as it was recorded.
        signals: of it, by name (k,).
        grid: times (m,) [s].
        events: times of the events of both runs [s].
    """
    motion, base = run.trajectory, dict[str, Array]()
    period = float(run.scenario.get("control_period") or np.inf)
    seen = Resampling(motion.time, grid, period, events)
    if run.has_base:
        axes, twist = quaternion_matrix(motion.orientation), motion.twist
        place = seen.moving(motion.position, np.einsum("kij,kj->ki", axes, twist[:, :3]))
        angles = _angles(seen.turning(motion.orientation, twist[:, 3:]))
        base = dict(zip((*_PLACE, *TURNS), (*place.T, *angles)))

    def at(name: str) -> tuple[Array, Known]:
        if name.startswith(_HELD):
            return seen.held(signals[name])
        if name.startswith(_RATE):
            return seen.rates(signals[name])
        found = base.get(name)
        if found is None:
            pair = (signals[kind + name.removeprefix("q/")] for kind in ("q/", _RATE))
            found = seen.moving(*(values[:, None] for values in pair))[:, 0]
        return found, np.ones(len(found), dtype=bool)

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
    sides = [_seen(first, ours, grid, events), _seen(second, theirs, grid, events)]
    deviations, left_out = {}, {}
    for name in chosen:
        (a, known), (b, also) = (side(name) for side in sides)
        known = known & also
        if known.any():
            deviations[name] = _deviation(grid[known], (b - a)[known], name)
        if not known.all():
            left_out[name] = int((~known).sum())
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
    """Return the times at which to compare [s]; how many only one has, of these and of the rest.

    Where one has a sample at every time of the other they are the other's: nothing need be
    interpolated. Else they are the times of both, equal ones once.
    """
    inside = [t[(t >= start - SLACK) & (t <= stop + SLACK)] for t in (one, other)]
    times = np.union1d(*inside)
    times = times[np.diff(times, prepend=-np.inf) > SLACK]
    fewer, more = sorted(inside, key=len)
    alone = 2 * len(times) - len(fewer) - len(more)
    nested = len(fewer) and len(more) == len(times)
    return (fewer, 0, alone) if nested and alone else (times, alone, 0)


class Resampling:
    """See a recording at the times of a grid, all of which it covers.

    Args:
        times: of the recording (k,) [s].
        grid: where it is wanted (m,) [s].
        period: for how long before its sample a value is held at most [s]: the control period,
            where a recording may have left out ticks.
        events: times at which something hit, gripped or came to its stop [s].
    """

    def __init__(self, times: Array, grid: Array, period: float, events: Sequence[float]) -> None:
        self._times = times
        self._at = np.minimum(np.searchsorted(times, grid - SLACK), len(times) - 1)
        self._exact = np.abs(times[self._at] - grid) <= SLACK
        self._before = np.where(self._exact, self._at, np.maximum(self._at - 1, 0))
        size = np.where(self._exact, 1.0, times[self._at] - times[self._before])
        self._size = size[:, None]
        self._part = np.where(self._exact, 1.0, (grid - times[self._before]) / size)
        self._ruled = self._exact | (times[self._at] - grid < period - SLACK)
        self._struck = np.zeros(len(times) + 2, dtype=bool)
        for event in events:  # one at a sample is in the intervals before and after it
            first, last = np.searchsorted(times, [event - SLACK, event + SLACK])
            self._struck[first : last + 1] = True

    def held(self, values: Array) -> tuple[Array, Known]:
        """Return values that belong to the interval that ends at their sample, and where known."""
        return values[self._at], self._ruled

    def moving(self, values: Array, rates: Array) -> Array:
        """Return values (m, n) of (k, n): by a cubic where the rates (k, n) fit, else linearly."""
        bulge, fits = self._bulge(values, rates)
        return self._linear(values) + np.where(fits, bulge, 0.0)

    def rates(self, values: Array) -> tuple[Array, Known]:
        """Return rates (k,) interpolated linearly, and where known: not next to a jump."""
        jumps = self._struck[: len(values)] | find_jumps(self._times, values)
        return self._linear(values[:, None])[:, 0], self._exact | ~jumps[self._at]

    def turning(self, orientation: Array, spin: Array) -> Array:
        """Return quaternions (m, 4) between samples (k, 4), on the shortest path.

        By a cubic where the angular velocities in the body's axes (k, 3) fit, else at a uniform
        rate (slerp).
        """
        same = np.einsum("ij,ij->i", orientation[1:], orientation[:-1]) >= 0.0
        orientation = orientation * np.cumprod(np.append(1.0, np.where(same, 1.0, -1.0)))[:, None]
        one, other = orientation[self._before], orientation[self._at]
        half = np.arctan2(np.linalg.norm(one - other, axis=1), np.linalg.norm(one + other, axis=1))
        part = self._part[:, None]
        angle = 2.0 * half[:, None]
        flat = angle < 1e-6  # below which chord and arc are the same to round-off
        sine = np.where(flat, 1.0, np.sin(angle))
        left = np.where(flat, 1.0 - part, np.sin((1.0 - part) * angle) / sine)
        right = np.where(flat, part, np.sin(part * angle) / sine)
        level = np.where(self._exact[:, None], other, left * one + right * other)
        turned = 0.5 * quaternion_product(orientation.T, np.vstack([spin.T, 0.0 * spin[:, 0]])).T
        bulge, fits = self._bulge(orientation, turned)
        cubic = self._linear(orientation) + bulge
        return np.where(fits, cubic / np.linalg.norm(cubic, axis=1, keepdims=True), level)

    def _linear(self, values: Array) -> Array:
        """Return values (m, n) of (k, n) on the straight lines between samples."""
        before, after = values[self._before], values[self._at]
        part = self._part[:, None]
        return np.where(self._exact[:, None], after, (1.0 - part) * before + part * after)

    def _bulge(self, values: Array, rates: Array) -> tuple[Array, Known]:
        """Return what Hermite's cubic adds to a line (m, n), and where the rates fit (m, 1).

        They do not where they were not recorded, or something hit: then the mean of the rates at
        both ends is not that of the interval.
        """
        size, part = self._size, self._part[:, None]
        change = rates[self._at] - rates[self._before]
        mean = 0.5 * (rates[self._at] + rates[self._before])
        miss = mean - (values[self._at] - values[self._before]) / size
        bulge = part * (1.0 - part) * size * ((1.0 - 2.0 * part) * miss - 0.5 * change)
        most = BEND * _length(change) + LEAST * _length(rates).max(initial=0.0)
        return bulge, ~self._exact[:, None] & (_length(miss) <= most)


def _length(vectors: Array) -> Array:
    return np.asarray(np.linalg.norm(vectors, axis=1, keepdims=True))


def find_jumps(times: Array, values: Array) -> Known:
    """Return in which intervals a rate (k,) jumps (k,): that which ends at each sample.

    A jump is far steeper than the intervals on both of its sides, or at an end than the two beside;
    where a force begins to act, the interval after it is as steep.
    """
    change = np.abs(np.diff(values))
    slope = change / np.diff(times)
    padded = np.concatenate([slope[2:3], slope, slope[-3:-2]])
    beside = np.maximum(padded[:-2], padded[2:]) if len(slope) > 2 else np.full(len(slope), np.inf)
    large = change > FLAT * np.abs(values).max(initial=0.0)
    return np.append(False, large & (slope > JUMP * beside))
