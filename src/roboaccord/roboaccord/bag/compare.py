"""Comparison of recorded runs, signal by signal, at common time stamps or at those of both.

A run is the motion of a robot, read from a bag (a recording of ROS 2). A signal is one quantity of
it over time: position, rate or effort of a joint, a coordinate of the base or of a free body, or a
switch. `compare` compares each run with a reference run, the first one, and returns the deviations
of all signals and a verdict; `accord compare` prints them. `common_grid` chooses the times; where
only one of two runs has a sample, the signals of the other are interpolated (resampling.py), in a
way that depends on the signal: efforts and switches are constant between samples, rates are linear,
and positions and angles follow cubics. Orientations have three signals, of which the deviations are
the parts about x, y and z of the rotation between both: roll and yaw differ arbitrarily where the
pitch is near 90 degrees. The result does not depend on the order of two bags.

Keys of `--json` are names of fields and stay, and so do the default tolerances SAME_RUN_TOLERANCE
and GAZEBO_TOLERANCE, which docs state (test_compare).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from roboaccord.bag.columns import matching
from roboaccord.bag.reader import BagRun
from roboaccord.bag.resampling import SLACK, Mask, Resampling
from roboaccord.contract import AccordError, Array, Json, Quantity, by_fields, did_you_mean, to_json
from roboaccord.contract.outcome import Verdict
from roboaccord.contract.state import BODY_ORIENTATION, BODY_POSITION
from roboaccord.numerics.rotations import orientation_difference, quaternion_matrix, quaternion_rpy

# Default tolerance, in each signal's unit: at 1 m/s the resolution of a time stamp, 1 ns, makes a
# difference of 1e-9 m. Runs that are not the same differ by more.
SAME_RUN_TOLERANCE = 1e-9
# Default tolerance with a bag from Gazebo, whose steps and contacts differ: 5 cm, 3 degrees. Of the
# snake over 5 s, 65 mm and 58 mrad were measured (docs/tutorial_ros.md).
GAZEBO_TOLERANCE = 0.05
UNITS = "m and rad, m/s, rad/s, N m or N"  # of signals
TURNS = ("roll", "pitch", "yaw")  # of a base or body, compared as rotations about x, y and z
_CONSTANT_PREFIXES = ("effort/", "switch/")  # of signals that are constant between samples
_RATE_PREFIX = "qd/"  # of the rates of joints
_JOINT_PREFIXES = ("q/", _RATE_PREFIX, *_CONSTANT_PREFIXES)  # of signals of no base or body


@dataclass(frozen=True, slots=True)
class Deviation:
    """Deviation of a signal from that of the reference, over the compared times."""

    rms: Annotated[float, Quantity("", "root mean square of the differences", form=".3g")]
    max: Annotated[float, Quantity("", f"largest of the differences, in {UNITS}", form=".3g")]
    at: Annotated[float, Quantity("s", "time of the largest", form=".6g")]


@dataclass(frozen=True, slots=True)
class Pair:
    """Comparison of one bag with the reference.

    Args:
        bag: path of the other bag, as it was given.
        duration: length of the compared time [s].
        signals: deviations by name of the signal.
        interpolated: number of compared time stamps at which only one bag has a sample.
        stamps_left: number of time stamps that are left out, because one bag has a sample at every
            time stamp of the other, and only these are compared.
        left_out: by signal, number of compared times at which one bag has no sample and its value
            cannot be interpolated.
        skipped: signals that only one bag has, or whose values are never known in both.
    """

    bag: str
    duration: Annotated[float, Quantity("s", "length of the overlap")]
    signals: Mapping[str, Deviation]
    interpolated: int = 0
    stamps_left: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()

    def to_json(self) -> Mapping[str, Json]:
        """Return the fields by name; without those optional ones that are empty or 0."""
        optional = ("interpolated", "stamps_left", "left_out", "skipped")
        return {k: v for k, v in by_fields(self).items() if v or k not in optional}


@dataclass(frozen=True, slots=True)
class SignalComparison:
    """Comparison of bags with a reference.

    Args:
        pairs: comparison of each bag with the reference.
        tolerance: largest difference of any signal, in its unit, that passes.
        why: reason for a default tolerance; "" where the tolerance was given.
    """

    pairs: tuple[Pair, ...]
    tolerance: float
    why: str = ""

    @property
    def verdict(self) -> Verdict:
        """`pass` if all signals of all pairs are within the tolerance, else `fail`."""
        largest = max(signal.max for pair in self.pairs for signal in pair.signals.values())
        return "pass" if largest <= self.tolerance else "fail"

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

    If one run has a sample at every time of the other, they are compared at the other's times, and
    otherwise at the times of both. At a time at which only one has a sample:

    - efforts and switches (0 and 1) are those of the next sample, because a sample has what was in
      force before it; they are left out if it is more than a control period away;
    - positions and angles of base and bodies are interpolated by cubics with the recorded rates at
      both ends, or linearly and on the shortest path where the rates do not fit;
    - rates are interpolated linearly, and left out between samples with a jump or with an event of
      either run.

    Args:
        first: path and run of the reference.
        others: paths and runs to compare.
        signals: names or glob patterns of `q/JOINT`, `qd/JOINT`, `effort/JOINT`, `base/x`,
            `base/y`, `base/z`, `base/roll`, `base/pitch`, `base/yaw`, the same of a free body as
            `BODY/x`, `switch/NAME`; all if empty. The deviations of roll, pitch and yaw are the
            components, in the world's axes, of the smallest rotation between both orientations.
        start, stop: limits of the compared time [s].
        tolerance: largest difference of any signal, in its unit, that passes. If None, 1e-9, which
            only recordings of the same run meet, or 0.05 where a bag is from Gazebo.

    Raises:
        AccordError: if a pattern matches nothing, or two bags have no signal or time in common.
    """
    if tolerance is not None and not tolerance >= 0.0:
        raise AccordError(f"the tolerance must be a number of at least 0, not {tolerance:g}")
    window = (-np.inf if start is None else start, np.inf if stop is None else stop)
    pairs = [_compare_pair(first, other, signals, window) for other in others]
    for pair in pairs:
        if not pair.signals:
            raise AccordError(f"nothing to compare: {pair.bag} and {first[0]} share no sample")
    if tolerance is not None:
        return SignalComparison(tuple(pairs), tolerance)
    if any(run.engine == "gz" for _, run in (first, *others)):
        reason = "the default with a bag from Gazebo, whose steps and contacts are its own"
        return SignalComparison(tuple(pairs), GAZEBO_TOLERANCE, reason)
    reason = "the default, which only recordings of the same run keep"
    return SignalComparison(tuple(pairs), SAME_RUN_TOLERANCE, reason)


def signals_of(run: BagRun) -> dict[str, Array]:
    """Return every signal of a run by name, sampled at the run's time stamps (k,)."""
    motion = run.trajectory
    signals = dict[str, Array]()
    for kind, values in (("q", motion.q), ("qd", motion.qd), ("effort", motion.effort)):
        for joint, column in zip(motion.joints, values.T, strict=True):
            signals[f"{kind}/{joint}"] = column
    for frame, rows in _frames(run).items():
        signals |= _pose_signals(frame, rows[:, BODY_POSITION], rows[:, BODY_ORIENTATION])
    signals |= {f"switch/{name}": on.astype(float) for name, on in motion.switches.items()}
    return signals


def is_turn(signal: str) -> bool:
    """Return whether a signal is an angle of the base or a body."""
    return signal.rpartition("/")[2] in TURNS and not signal.startswith(_JOINT_PREFIXES)


def _frames(run: BagRun) -> dict[str, Array]:
    """Return the motions (k, 13) of the base, if it was recorded, and of the bodies by name."""
    motion = run.trajectory
    base = np.column_stack([motion.position, motion.orientation, motion.twist])
    frames = {"base": base} if run.has_base else {}
    bodies = () if motion.bodies is None else motion.bodies.swapaxes(0, 1)
    return {**frames, **dict(zip(run.bodies, bodies, strict=True))}


def _pose_signals(frame: str, position: Array, orientation: Array) -> dict[str, Array]:
    """Return coordinates, roll, pitch and yaw of a base or body by name (k,)."""
    angles = np.array([quaternion_rpy(q) for q in orientation]).reshape(-1, 3)
    names = [f"{frame}/{name}" for name in (*"xyz", *TURNS)]
    return dict(zip(names, (*position.T, *angles.T), strict=True))


def _on_grid(
    run: BagRun, signals: Mapping[str, Array], grid: Array, events: Sequence[float]
) -> dict[str, tuple[Array, Mask]]:
    """Return the values of each signal of a run on a grid (m,), and where they are known (m,).

    Those of an angle of the base or a body are its orientations (m, 4).

    Args:
        run: recorded run.
        signals: its signals by name (k,).
        grid: times (m,) [s].
        events: times of the events of both runs [s].
    """
    motion = run.trajectory
    period = float(run.scenario.get("control_period") or np.inf)
    resampling = Resampling(motion.time, grid, period, events)
    always = np.ones(len(grid), dtype=bool)
    resampled = dict[str, tuple[Array, Mask]]()
    for name, values in signals.items():
        if name.startswith(_CONSTANT_PREFIXES):
            resampled[name] = resampling.piecewise_constant(values)
        elif name.startswith(_RATE_PREFIX):
            resampled[name] = resampling.linear_rates(values)
        elif name.startswith("q/"):
            rates = signals[_RATE_PREFIX + name.removeprefix("q/")]
            resampled[name] = resampling.cubic(values[:, None], rates[:, None])[:, 0], always
    for frame, rows in _frames(run).items():
        position, orientation, velocity, spin = np.split(rows, (3, 7, 10), axis=1)
        rotations = quaternion_matrix(orientation)  # (k, 3, 3), base or body to world
        velocity = np.einsum("kij,kj->ki", rotations, velocity)  # in the world's axes
        positions = resampling.cubic(position, velocity)
        turned = resampling.orientations(orientation, spin)
        resampled |= {f"{frame}/{x}": (positions[:, i], always) for i, x in enumerate("xyz")}
        resampled |= {f"{frame}/{turn}": (turned, always) for turn in TURNS}
    return resampled


def _compare_pair(
    reference: tuple[Path, BagRun],
    other: tuple[Path, BagRun],
    patterns: Sequence[str],
    window: tuple[float, float],
) -> Pair:
    """Compare two runs.

    Args:
        reference: path and run of the reference.
        other: path and run that is compared with it.
        patterns: names or patterns of signals; all if empty.
        window: first and last time to compare [s].
    """
    (first_path, first), (second_path, second) = reference, other
    first_signals, second_signals = signals_of(first), signals_of(second)
    common = [name for name in first_signals if name in second_signals]
    if not common:
        raise AccordError(f"{first_path} and {second_path} have no signal in common")
    names = _choose(common, patterns)
    grid = common_grid(first.trajectory.time, second.trajectory.time, *window)
    times = grid.times
    if not len(times):
        within = " within the limits given" if np.isfinite(window).any() else ""
        spans = f"{_span(*reference)} and {_span(*other)}"
        raise AccordError(f"{spans} have no time in common{within}")
    # Values of both at these times; a signal is compared where both are known.
    events = [event.time for run in (first, second) for event in run.trajectory.events]
    first_on_grid = _on_grid(first, first_signals, times, events)
    second_on_grid = _on_grid(second, second_signals, times, events)
    deviations, left_out = {}, {}
    for name in names:
        first_values, first_is_known = first_on_grid[name]
        second_values, second_is_known = second_on_grid[name]
        is_known = first_is_known & second_is_known
        if is_known.any():
            differences = _difference(name, first_values, second_values)[is_known]
            deviations[name] = _deviation(times[is_known], differences, name)
        if not is_known.all():
            left_out[name] = int((~is_known).sum())
    in_one_only = set(first_signals) ^ set(second_signals)
    return Pair(
        bag=str(second_path),
        duration=float(times[-1] - times[0]),
        signals=deviations,
        interpolated=grid.interpolated,
        stamps_left=grid.stamps_left,
        left_out=left_out,
        skipped=tuple(sorted(in_one_only | (set(names) - set(deviations)))),
    )


def _choose(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Return the names that match any of the patterns; all names without patterns."""
    chosen = {pattern: matching(names, pattern) for pattern in patterns}
    for pattern, matches in chosen.items():
        if not matches:
            raise AccordError(f"no signal matches {pattern}{did_you_mean(pattern, names)}")
    return [n for n in names if not patterns or any(n in matches for matches in chosen.values())]


def _difference(name: str, first: Array, second: Array) -> Array:
    """Return the differences (m,) of a signal: for an angle, its part of the rotations between."""
    if is_turn(name):
        return orientation_difference(first, second)[:, TURNS.index(name.rpartition("/")[2])]
    return second - first


def _deviation(grid: Array, differences: Array, name: str) -> Deviation:
    """Return the deviation of a signal from its differences (m,) at the times of a grid (m,)."""
    is_finite = np.isfinite(differences)
    if not is_finite.all():
        raise AccordError(f"{name} is not a finite number at t = {grid[is_finite.argmin()]:g} s")
    worst = int(np.abs(differences).argmax())
    rms = float(np.sqrt(np.mean(differences**2)))
    return Deviation(rms, float(abs(differences[worst])), float(grid[worst]))


def _span(path: Path, run: BagRun) -> str:
    """Return the path of a run, with its first and last time."""
    times = run.trajectory.time
    return f"{path} ({times[0]:g} to {times[-1]:g} s)"


class CommonGrid(NamedTuple):
    """The times at which two recordings are compared.

    Args:
        times: (m,) [s].
        interpolated: number of times at which only one recording has a sample.
        stamps_left: number of time stamps that are left out.
    """

    times: Array
    interpolated: int
    stamps_left: int


def common_grid(
    first: Array, second: Array, start: float = -np.inf, stop: float = np.inf
) -> CommonGrid:
    """Return the times at which to compare two recordings: all that both cover.

    If one has a sample at every time of the other, these are the other's times, and nothing is
    interpolated. Otherwise they are the times of both.

    Args:
        first, second: times of the samples of each recording (k,) [s].
        start, stop: further limits of the compared time [s].
    """
    start = max(start, first[0], second[0]) - SLACK
    stop = min(stop, first[-1], second[-1]) + SLACK
    within = [times[(times >= start) & (times <= stop)] for times in (first, second)]
    union = np.union1d(*within)
    union = union[np.diff(union, prepend=-np.inf) > SLACK]  # equal times once
    fewer, more = sorted(within, key=len)
    only_in_one = 2 * len(union) - len(fewer) - len(more)
    one_has_all = len(fewer) and len(more) == len(union)
    if one_has_all and only_in_one:
        return CommonGrid(fewer, 0, only_in_one)
    return CommonGrid(union, only_in_one, 0)
