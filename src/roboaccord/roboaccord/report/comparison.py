"""Differences between recorded runs: settings, figures, when motions part, and signals.

`compare` takes the first run as the reference of the others. Deviations of signals and the verdict
come from bag/compare.py; here the keys of the scenarios that differ are added, the figures of each
run, and `Parting`: when links or joints of two runs were first farther from each other than a
threshold. cli/comparison.py prints it all; `Comparison.overlay` draws it. Names of fields are
keys of `--json` and stay (test_scripts_read_what_they_read_before).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import numpy as np

from roboaccord.bag import compare as by_signal
from roboaccord.bag.compare import Pair, SignalComparison, common_grid
from roboaccord.bag.folder import last_runs
from roboaccord.bag.resampling import SLACK
from roboaccord.contract import BODY_POSITION, AccordError, Array
from roboaccord.contract.outcome import Verdict
from roboaccord.contract.results import LEFT_OUT, Drawn, Json, Quantity, Word, by_fields
from roboaccord.report.overlay import TIME, Overlay, Panel, Trace, over_time, overview
from roboaccord.report.settings import SettingChange, changes_of, labels_of, read_runs
from roboaccord.report.signals import RunSignals
from roboaccord.run.metrics import UNITS, GeneralFigures, metrics_of
from roboaccord.run.runner import Run

DEFAULT_THRESHOLD = 1e-3  # without a tolerance [m or rad]; as HORIZON of crosscheck/noise.py
Window = tuple[float, float]  # first and last time that are compared [s]


@dataclass(frozen=True)
class FigureChange:
    """A figure as `accord run` reports it, of several runs.

    Args:
        name: of the figure.
        unit: of its values; "" where it has none.
        values: in each run; NaN in a run without it.
    """

    name: Word
    unit: Word
    values: Annotated[Sequence[float], Quantity("")]


@dataclass(frozen=True)
class Parting:
    """When and where the motion of a run diverges from the first one's.

    Args:
        run: index of the run, from 0.
        kind: "link" for distances of the origins of links, and of free bodies; "joint" for
            differences of positions.
        unit: of the distances: m, or rad for joints that turn.
        threshold: distance above which the motions have parted.
        time: of the first sample above it; None where the motions do not part.
        where: link or joint with the largest distance at that time; "" where they do not part.
        largest: largest distance of the whole motion.
        largest_at: its time.
        largest_where: its link or joint.
    """

    run: int
    kind: Word
    unit: Word
    threshold: float
    time: Annotated[float, Quantity("s")] | None
    where: Word
    largest: float
    largest_at: Annotated[float, Quantity("s")]
    largest_where: Word


@dataclass(frozen=True)
class Comparison(Drawn):
    """Differences of several runs from the first one.

    Args:
        runs: paths of the bags.
        changes: keys of the scenario that differ.
        figures: of all runs, up to the end of the shortest one.
        partings: of each other run from the first, for links and for joints.
        judged: whether there is a verdict, because a tolerance was given or the scenarios are the
            same.
        signals: deviations of all signals from those of the first run, with the verdict on them.
        data: the signals of the runs.
        end: of the shortest run [s]; None where all end together.
    """

    runs: Sequence[Path]
    changes: Sequence[SettingChange]
    figures: Sequence[FigureChange]
    partings: Sequence[Parting]
    judged: bool
    signals: SignalComparison = field(metadata=LEFT_OUT)
    data: Sequence[RunSignals] = field(metadata=LEFT_OUT)
    end: float | None = field(default=None, metadata=LEFT_OUT)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on all signals, pass or fail; None where they are not judged."""
        return self.signals.verdict if self.judged else None

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Deviations of the signals of each other run from those of the first."""
        return self.signals.pairs

    def to_json(self) -> Mapping[str, Json]:
        """Return verdict and pairs of the signals, which scripts read, and the differences."""
        return {**self.signals.to_json(), **by_fields(self)}

    def overlay(self) -> Overlay:
        """Return panels of path, distance from the first run, and speed, for all runs."""
        panels = [panel for panel in overview(self.data) if panel.equal]
        partings = [parting for parting in self.partings if parting.kind == "link"] or self.partings
        if partings:
            panels.append(self._distance_panel(partings))
        panels += over_time(self.data, ["com/speed"])
        return Overlay(panels, self.labels)

    def _distance_panel(self, partings: Sequence[Parting]) -> Panel:
        """Return the panel of the distances of runs from the first one, of links or of joints."""
        kind, unit, traces = partings[0].kind, partings[0].unit, list[Trace]()
        for parting in partings:
            time, distance, _ = _farthest(self.data[0], self.data[parting.run], kind)
            traces.append(Trace("distance", parting.run, time, distance))
        label = f"largest distance of a {kind} [{unit}]"
        mark = min((p.time for p in partings if p.time is not None), default=None)
        up_to = "" if self.end is None else f", compared up to {max(t.x[-1] for t in traces):g} s"
        return Panel(f"distance from {self.labels[0]}{up_to}", TIME, label, traces, mark=mark)

    @property
    def labels(self) -> list[str]:
        """A label for each run."""
        return labels_of(self.data)


def compare(
    *runs: Path | str | Run | RunSignals,
    signals: Sequence[str] = (),
    start: float | None = None,
    stop: float | None = None,
    tolerance: float | None = None,
) -> Comparison:
    """Compare runs with the first one; without arguments, the last two runs under runs/.

    Args:
        runs: recorded runs, run folders or bags.
        signals: names or glob patterns of the signals to compare, such as `q/*`; by default all.
        start, stop: first and last time that are compared [s].
        tolerance: largest deviation that passes, in the unit of each signal; motions part where
            their distance exceeds it, by default 1 mm or 1 mrad.

    Returns:
        the comparison: `changes` of the settings, `figures`, `partings`, and the `verdict`, which
        is None where settings differ and no tolerance is given.

    Raises:
        AccordError: if there is no such run, or two runs have nothing in common.

    Example:
        >>> comparison = ra.compare(run, rough)
        >>> [(change.key, change.values) for change in comparison.changes]
        >>> comparison.partings[0].time  # [s]
    """
    signals = [signals] if isinstance(signals, str) else signals
    if wrong := [run for run in runs if not isinstance(run, str | Path | Run | RunSignals)]:
        form = "compare takes runs, their folders or bags, one by one"
        raise AccordError(f"{form}, and no {type(wrong[0]).__name__}")
    run_signals = read_runs(runs or last_runs(2))
    if len(run_signals) < 2:
        raise AccordError("compare takes two runs or more, or none for the last two under runs/")
    bags = [(run.path, run.run) for run in run_signals]
    signal_comparison = by_signal.compare(
        bags[0], bags[1:], signals=signals, start=start, stop=stop, tolerance=tolerance
    )
    robots = dict.fromkeys(run.run.robot for run in run_signals)
    if len(robots) > 1 and not signals:
        advice = "name signals that mean the same, such as --signals 'base/*'"
        raise AccordError(f"runs of different robots, {' and '.join(robots)}: {advice}")
    # When the motions part, by links and by joints.
    threshold = DEFAULT_THRESHOLD if tolerance is None else tolerance
    window = -math.inf if start is None else start, math.inf if stop is None else stop
    partings = []
    for number in range(1, len(run_signals)):
        for kind in ("link", "joint"):
            parting = _parting(run_signals, number, kind, threshold, window)
            if parting:
                partings.append(parting)
    # Keys that differ, and whether the scenarios are the same.
    changes = changes_of(run_signals)
    same_scenario = {c.key for c in changes} <= {"engine", "transport", "physics_step", "duration"}
    judged = tolerance is not None or same_scenario
    ends = sorted(float(run.motion.time[-1]) for run in run_signals)
    paths, figures = [run.path for run in run_signals], _figures(run_signals, ends[0])
    compared = Comparison(paths, changes, figures, partings, judged, signal_comparison, run_signals)
    return replace(compared, end=ends[0]) if ends[-1] > ends[0] + SLACK else compared


def _figures(runs: Sequence[RunSignals], end: float) -> list[FigureChange]:
    """Return all figures of the runs up to a time [s]; of an unknown robot only general ones."""
    by_run = list[Mapping[str, float]]()
    for run in runs:
        motion = run.motion.window(-math.inf, end + SLACK)
        general = GeneralFigures()
        general.add(motion)
        by_run.append(metrics_of(run.setup, motion) if run.setup else general.figures(()))
    changes = []
    for name in dict.fromkeys(name for figures in by_run for name in figures):
        values = [figures.get(name, math.nan) for figures in by_run]
        changes.append(FigureChange(name, UNITS.get(name, ""), values))
    return changes


def _parting(
    runs: Sequence[RunSignals], number: int, kind: str, threshold: float, window: Window
) -> Parting | None:
    """Return when and where the motion of a run parts from that of the first one.

    Args:
        runs: all runs.
        number: index of the run.
        kind: "link" or "joint".
        threshold: distance above which they have parted.
        window: first and last time that are compared [s].

    Returns:
        None without common links or joints, or common times.
    """
    start, stop = window
    time, distance, names = _farthest(runs[0], runs[number], kind)
    in_window = (time >= start - SLACK) & (time <= stop + SLACK)
    names = [name for name, inside in zip(names, in_window, strict=True) if inside]
    time, distance = time[in_window], distance[in_window]
    if not len(time):
        return None
    above, worst = np.flatnonzero(distance > threshold), int(distance.argmax())
    return Parting(
        run=number,
        kind=kind,
        unit="m" if kind == "link" else runs[0][f"q/{names[worst]}"].unit,
        threshold=threshold,
        time=float(time[above[0]]) if len(above) else None,
        where=names[above[0]] if len(above) else "",
        largest=float(distance[worst]),
        largest_at=float(time[worst]),
        largest_where=names[worst],
    )


def _farthest(first: RunSignals, other: RunSignals, kind: str) -> tuple[Array, Array, list[str]]:
    """Return times (m,) [s], the largest distance at each (m,), and its link or joint.

    Positions are interpolated linearly between samples. Without common links or joints, or common
    times, all are empty.
    """
    first_names, first_positions = _positions(first, kind)
    other_names, other_positions = _positions(other, kind)
    common = [name for name in first_names if name in other_names]
    times = first.motion.time, other.motion.time
    # Time stamps of both runs, as far as both last.
    grid = common_grid(*times).times
    if not common or not len(grid):
        return np.zeros(0), np.zeros(0), []
    first_common = first_positions[:, [first_names.index(name) for name in common]]
    other_common = other_positions[:, [other_names.index(name) for name in common]]
    first_on_grid = _interpolated(grid, times[0], first_common)
    other_on_grid = _interpolated(grid, times[1], other_common)
    distance = np.linalg.norm(other_on_grid - first_on_grid, axis=2)
    worst = distance.argmax(axis=1)
    return grid, distance[np.arange(len(grid)), worst], [common[i] for i in worst.tolist()]


def _positions(run: RunSignals, kind: str) -> tuple[list[str], Array]:
    """Return names and positions (k, n, 3) of links and bodies, or angles (k, n, 1) of joints."""
    if kind == "joint":
        return [*run.motion.joints], run.motion.q[:, :, None]
    names = [link.name for link in run.tree.links] if run.tree else []
    points = [run.links] if run.tree else []
    if run.motion.bodies is not None:
        names, points = [*names, *run.run.bodies], [*points, run.motion.bodies[:, :, BODY_POSITION]]
    return names, np.concatenate(points, axis=1) if points else np.zeros(0)


def _interpolated(grid: Array, time: Array, values: Array) -> Array:
    """Return values (k, n, d) interpolated linearly at the times of a grid (m, n, d)."""
    return np.apply_along_axis(lambda column: np.interp(grid, time, column), 0, values)
