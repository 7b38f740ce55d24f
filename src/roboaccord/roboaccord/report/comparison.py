"""What changed between runs: settings, figures, when and where motions part, and signals.

APART may be tuned: from which distance motions have parted, if no tolerance is given. Fields may be
added to the classes; their names stay, for they are keys of `--json`
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
from roboaccord.bag.compare import SLACK, Pair, SignalComparison, common_grid
from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Verdict
from roboaccord.contract.results import LEFT_OUT, Drawn, Json, Quantity, Word, by_fields
from roboaccord.contract.state import Array
from roboaccord.report.overlay import TIME, Overlay, Panel, Trace, over_time, overview
from roboaccord.report.signals import (
    RunSignals,
    SettingChange,
    changes_of,
    labels_of,
    last_runs,
    read_runs,
)
from roboaccord.run.metrics import UNITS, GeneralFigures, metrics_of
from roboaccord.run.runner import Run

APART = 1e-3  # m, rad: distance from which motions have parted, where no tolerance is given


@dataclass(frozen=True)
class FigureChange:
    """Hold a figure of each run, NaN where it has none; as `accord run` reports it."""

    name: Word
    unit: Word
    values: Annotated[Sequence[float], Quantity("")]


@dataclass(frozen=True)
class Parting:
    """Hold when and where the motion of a run parts from the first one's.

    Args:
        run: number of the run, from 0.
        kind: "link" for origins of links, "joint".
        unit: m or, of joints, rad; of a sliding joint m.
        threshold: distance from which they have parted.
        time: of the first sample beyond it; None where there is none.
        where: the link or joint that is farthest apart then; "" for none.
        largest, largest_at, largest_where: distance, time and place of the largest.
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
    """Hold what changed from the first of several runs to the others.

    Args:
        runs: paths of the bags.
        changes: keys of the scenario that differ.
        figures: of each run.
        partings: of each other run from the first, by links and by joints.
        judged: whether the verdict is one: a tolerance was given, or the scenario is the same, so
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
        """Whether all signals are within the tolerance; None where nothing is to be judged."""
        return self.signals.verdict if self.judged else None

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Deviations of each other run's signals from the first one's."""
        return self.signals.pairs

    def to_json(self) -> Mapping[str, Json]:
        """Return verdict and pairs as of the signals, which scripts read, and what changed."""
        return {**self.signals.to_json(), **by_fields(self)}

    def overlay(self) -> Overlay:
        """Return path, distance from the first run, and speed, the runs overlaid."""
        every = overview(self.data)
        panels = [panel for panel in every if panel.equal]
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
    """Show what changed from the first run to the others; without any, of the last two under runs/.

    Args:
        runs: recorded, or their run folders or bags.
        signals, start, stop, tolerance: as of `bag.compare.compare`; motions have parted where
            they are farther apart than the tolerance, 1 mm or 1 mrad where it is not given.

    Raises:
        AccordError: if there is no such run, or two runs have nothing in common.
    """
    read = read_runs(runs or last_runs(2))
    first, *others = read
    if not others:
        raise AccordError("compare takes two runs or more, or none for the last two under runs/")
    bags = [(each.path, each.run) for each in read]
    found = by_signal.compare(
        bags[0], bags[1:], signals=signals, start=start, stop=stop, tolerance=tolerance
    )
    changes = changes_of(read)
    apart = APART if tolerance is None else tolerance
    window = -math.inf if start is None else start, math.inf if stop is None else stop
    pairs = [(n, kind) for n in range(1, len(read)) for kind in ("link", "joint")]
    found_apart = (_part(first, read[n], kind, n, apart, window) for n, kind in pairs)
    partings = [parting for parting in found_apart if parting]
    same = {change.key for change in changes} <= {"engine", "transport", "physics_step"}
    paths, judged = [each.path for each in read], tolerance is not None or same
    return Comparison(paths, changes, _figures(read), partings, judged, found, read)


def _figures(runs: Sequence[RunSignals]) -> list[FigureChange]:
    every = []
    for run in runs:
        general = GeneralFigures()
        general.add(run.motion)
        own = metrics_of(run.setup, run.motion) if run.setup else general.figures(())
        every.append(own)
    return [
        FigureChange(name, UNITS.get(name, ""), [each.get(name, math.nan) for each in every])
        for name in dict.fromkeys(name for each in every for name in each)
    ]


def _part(
    first: RunSignals,
    other: RunSignals,
    kind: str,
    number: int,
    threshold: float,
    window: tuple[float, float],
) -> Parting | None:
    """Return when and where two motions part; None where they have no links or joints in common."""
    time, distance, places = _farthest(first, other, kind)
    inside = (time >= window[0] - SLACK) & (time <= window[1] + SLACK)
    places = [place for place, keep in zip(places, inside, strict=True) if keep]
    time, distance = time[inside], distance[inside]
    if not len(time):
        return None
    beyond, worst = np.flatnonzero(distance > threshold), int(distance.argmax())
    at = int(beyond[0]) if len(beyond) else None
    return Parting(
        run=number,
        kind=kind,
        unit="m" if kind == "link" else first[f"{places[worst]}.q"].unit,
        threshold=threshold,
        time=None if at is None else float(time[at]),
        where="" if at is None else places[at],
        largest=float(distance[worst]),
        largest_at=float(time[worst]),
        largest_where=places[worst],
    )


def _farthest(first: RunSignals, other: RunSignals, kind: str) -> tuple[Array, Array, list[str]]:
    """Return times (m,), the largest distance then (m,), and the link or joint that has it.

    Between samples positions are interpolated linearly.
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
    """Return names of links or joints, and where they are (k, names, 3 or 1)."""
    if kind == "joint":
        return [*run.motion.joints], run.motion.q[:, :, None]
    return ([link.name for link in run.tree.links], run.links) if run.tree else ([], np.zeros(0))


def _at(grid: Array, time: Array, values: Array) -> Array:
    """Return values (k, n, d) at other times (m, n, d)."""
    flat = values.reshape(len(values), -1)
    found = [np.interp(grid, time, column) for column in flat.T]
    return np.array(found).T.reshape(len(grid), *values.shape[1:])
