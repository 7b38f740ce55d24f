"""Differences between runs: settings, figures, when and where motions diverge, and signals.

APART may be tuned: the distance from which motions have diverged, if no tolerance is given. Fields
may be added to the classes; their names stay, for they are keys of `--json`
(test_scripts_read_what_they_read_before). Deviations and the verdict are computed in
bag/compare.py, tables for the terminal in cli/bags.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np

from roboaccord.bag import compare as by_signal
from roboaccord.bag.compare import Pair, SignalComparison, common_grid
from roboaccord.bag.folder import last_runs
from roboaccord.bag.resampling import SLACK
from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Verdict
from roboaccord.contract.results import LEFT_OUT, Drawn, Json, Quantity, Word, by_fields
from roboaccord.contract.state import Array
from roboaccord.report.overlay import TIME, Overlay, Panel, Trace, over_time, overview
from roboaccord.report.settings import SettingChange, changes_of, labels_of, read_runs
from roboaccord.report.signals import RunSignals
from roboaccord.run.metrics import UNITS, GeneralFigures, metrics_of
from roboaccord.run.runner import Run

APART = 1e-3  # m, rad: distance from which motions have diverged; as HORIZON of crosscheck/noise


@dataclass(frozen=True)
class FigureChange:
    """Figure of each run as `accord run` reports it; NaN for a run without it."""

    name: Word
    unit: Word
    values: Annotated[Sequence[float], Quantity("")]


@dataclass(frozen=True)
class Parting:
    """When and where the motion of a run diverges from the first one's.

    Args:
        run: index of the run, from 0.
        kind: "link" for origins of links, or "joint".
        unit: m; rad for joints that turn.
        threshold: distance from which they have diverged.
        time: of the first sample beyond it; None where there is none.
        where: link or joint with the largest distance then; "" for none.
        largest, largest_at, largest_where: largest distance, its time, and its link or joint.
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
        figures: of each run.
        partings: of each other run from the first, by links and by joints.
        judged: whether there is a verdict: a tolerance was given, or the scenario is the same, so
            that one run is the reference of the others.
        signals: deviations of all signals from the first run's, with their verdict.
        data: the runs.
    """

    runs: Sequence[Path]
    changes: Sequence[SettingChange]
    figures: Sequence[FigureChange]
    partings: Sequence[Parting]
    judged: bool
    signals: SignalComparison = field(metadata=LEFT_OUT)
    data: Sequence[RunSignals] = field(metadata=LEFT_OUT)

    @property
    def verdict(self) -> Verdict | None:
        """Whether all signals are within the tolerance; None where they are not judged."""
        return self.signals.verdict if self.judged else None

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Deviations of each other run's signals from the first one's."""
        return self.signals.pairs

    def to_json(self) -> Mapping[str, Json]:
        """Return verdict and pairs of the signals, which scripts read, and the differences."""
        return {**self.signals.to_json(), **by_fields(self)}

    def overlay(self) -> Overlay:
        """Return path, distance from the first run, and speed, the runs overlaid."""
        panels = [panel for panel in overview(self.data) if panel.equal]
        if near := [p for p in self.partings if p.kind == "link"] or self.partings:
            kind, unit = near[0].kind, near[0].unit
            traces = [
                Trace("distance", p.run, *_farthest(self.data[0], self.data[p.run], kind)[:2])
                for p in near
            ]
            label = f"largest distance of a {kind} [{unit}]"
            times = [p.time for p in near if p.time is not None]
            mark = min(times, default=None)
            panels.append(Panel(f"distance from {self.labels[0]}", TIME, label, traces, mark=mark))
        panels += over_time(self.data, ["com.speed"])
        return Overlay(panels, self.labels)

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
        runs: recorded, or their run folders or bags.
        signals, start, stop, tolerance: as of `bag.compare.compare`; motions have diverged where
            their distance exceeds the tolerance, or 1 mm or 1 mrad if it is not given.

    Raises:
        AccordError: if there is no such run, or two runs have nothing in common.
    """
    read = read_runs(runs or last_runs(2))
    first, *others = read
    if not others:
        raise AccordError("compare takes two runs or more, or none for the last two under runs/")
    bags = [(run.path, run.run) for run in read]
    signal_comparison = by_signal.compare(
        bags[0], bags[1:], signals=signals, start=start, stop=stop, tolerance=tolerance
    )
    changes = changes_of(read)
    threshold = APART if tolerance is None else tolerance
    window = -math.inf if start is None else start, math.inf if stop is None else stop
    pairs = [(n, kind) for n in range(1, len(read)) for kind in ("link", "joint")]
    divergences = (_part(first, read[n], kind, n, threshold, window) for n, kind in pairs)
    partings = [parting for parting in divergences if parting]
    same = {change.key for change in changes} <= {"engine", "transport", "physics_step"}
    paths, judged = [run.path for run in read], tolerance is not None or same
    return Comparison(paths, changes, _figures(read), partings, judged, signal_comparison, read)


def _figures(runs: Sequence[RunSignals]) -> list[FigureChange]:
    figures = []
    for run in runs:
        general = GeneralFigures()
        general.add(run.motion)
        of_run = metrics_of(run.setup, run.motion) if run.setup else general.figures(())
        figures.append(of_run)
    return [
        FigureChange(name, UNITS.get(name, ""), [of_run.get(name, math.nan) for of_run in figures])
        for name in dict.fromkeys(name for of_run in figures for name in of_run)
    ]


def _part(
    first: RunSignals,
    other: RunSignals,
    kind: str,
    number: int,
    threshold: float,
    window: tuple[float, float],
) -> Parting | None:
    """Return when and where two motions diverge; None without common links or joints."""
    time, distance, places = _farthest(first, other, kind)
    inside = (time >= window[0] - SLACK) & (time <= window[1] + SLACK)
    places = [place for place, keep in zip(places, inside, strict=True) if keep]
    time, distance = time[inside], distance[inside]
    if not len(time):
        return None
    beyond, worst = np.flatnonzero(distance > threshold), int(distance.argmax())
    index = int(beyond[0]) if len(beyond) else None
    return Parting(
        run=number,
        kind=kind,
        unit="m" if kind == "link" else first[f"{places[worst]}.q"].unit,
        threshold=threshold,
        time=None if index is None else float(time[index]),
        where="" if index is None else places[index],
        largest=float(distance[worst]),
        largest_at=float(time[worst]),
        largest_where=places[worst],
    )


def _farthest(first: RunSignals, other: RunSignals, kind: str) -> tuple[Array, Array, list[str]]:
    """Return times (m,) [s], the largest distances then (m,), and its links or joints.

    Positions are interpolated linearly between samples.
    """
    (names, one), (others, two) = (_places(run, kind) for run in (first, other))
    common = [name for name in names if name in others]
    times = first.motion.time, other.motion.time
    grid, _, _ = common_grid(*times, max(t[0] for t in times), min(t[-1] for t in times))
    if not common or not len(grid):
        return np.zeros(0), np.zeros(0), []
    a = one[:, [names.index(name) for name in common]]
    b = two[:, [others.index(name) for name in common]]
    gap = np.linalg.norm(_at(grid, times[1], b) - _at(grid, times[0], a), axis=2)
    worst = gap.argmax(axis=1)
    return grid, gap[np.arange(len(grid)), worst], [common[i] for i in worst.tolist()]


def _places(run: RunSignals, kind: str) -> tuple[list[str], Array]:
    """Return names of n links or joints, and their positions (k, n, 3) or angles (k, n, 1)."""
    if kind == "joint":
        return [*run.motion.joints], run.motion.q[:, :, None]
    return ([link.name for link in run.tree.links], run.links) if run.tree else ([], np.zeros(0))


def _at(grid: Array, time: Array, values: Array) -> Array:
    """Return values (k, n, d) at other times (m, n, d)."""
    flat = values.reshape(len(values), -1)
    columns = [np.interp(grid, time, column) for column in flat.T]
    return np.array(columns).T.reshape(len(grid), *values.shape[1:])
