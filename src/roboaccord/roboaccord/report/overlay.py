"""Plots of signals in which several runs are overlaid: PNG or SVG by Matplotlib, pages by Plotly.

`plot` chooses signals and puts them into panels, one for each kind of signal; an `Overlay` of
panels draws itself. Each panel is first made as a Plotly figure (`_page`); `draw_page` draws the
same figure with Matplotlib, and the suffix of the file decides which one is written. What
`overview` shows is also described in docs/cli.md. A new signal is added in signals.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from roboaccord.bag.reader import BagRun
from roboaccord.contract import AccordError, Array, did_you_mean
from roboaccord.report import curves
from roboaccord.report.curves import BLUE, DASHES, GREEN, RED, SOFT, axis, plain, stride
from roboaccord.report.curves import Figure as Page
from roboaccord.report.drawing import draw_page, save, styled
from roboaccord.report.plots import Plot, render_plots
from roboaccord.report.settings import labels_of, read_runs
from roboaccord.report.signals import RunSignals, Signal
from roboaccord.run import Run, made_with, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIME = "time [s]"  # title of the time axis
SIX_COLOURS = (BLUE, RED, GREEN, "#ee7733", "#8e7cc3", "#c264b8")  # of up to six curves
LEGEND_ROWS = 12  # largest number of names in a column of a legend: as many as a panel is high
PANEL_HEIGHT, PANEL_WIDTH = 2.6, 8.4  # of a panel [inches]: 250 x 806 pixels, three on a screen


@dataclass(frozen=True)
class Trace:
    """A curve.

    Args:
        signal: name of the signal.
        run: index of the run.
        x, y: coordinates of the points (k,).
    """

    signal: str
    run: int
    x: Array
    y: Array


@dataclass(frozen=True)
class Panel:
    """Curves with common axes.

    Args:
        title: above the panel.
        xlabel, ylabel: titles of the axes, with units.
        traces: the curves.
        equal: whether both axes have the same scale.
        mark: time [s] at which a line is drawn; None for no line.
    """

    title: str
    xlabel: str
    ylabel: str
    traces: Sequence[Trace]
    equal: bool = False
    mark: float | None = None

    @property
    def signals(self) -> list[str]:
        """Names of the signals, without repetition."""
        return [*dict.fromkeys(trace.signal for trace in self.traces)]


@dataclass(frozen=True)
class Overlay:
    """Panels of signals of several runs.

    Args:
        panels: one for each kind of signal.
        runs: labels of the runs, in the order to which `Trace.run` refers.
    """

    panels: Sequence[Panel]
    runs: Sequence[str]

    def figure(self) -> Figure:
        """Draw the panels with Matplotlib, one below the other."""
        with styled((PANEL_WIDTH, PANEL_HEIGHT * len(self.panels) + 0.3)) as figure:
            rows = figure.subplots(nrows=len(self.panels), squeeze=False)[:, 0]
            if len(self.runs) == 1:
                figure.suptitle(self.runs[0])
            for axes, panel in zip(rows, self.panels, strict=True):
                draw_page(axes, self._page(panel, all_samples=True))
                axes.set(title=panel.title)
                count = len(axes.get_legend_handles_labels()[0])
                if count > 1 or len(self.runs) > 1:  # a single curve is named by the title
                    beside_axes: Any = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.02)}
                    columns = 1 + (count - 1) // LEGEND_ROWS
                    axes.legend(**beside_axes, ncols=columns, fontsize="small")
        return figure

    def pages(self) -> list[Page]:
        """Return the panels as figures of Plotly."""
        return [self._page(panel) for panel in self.panels]

    def write(self, path: Path | str, command: str = "") -> Path:
        """Write a .png, .svg or .html file, and return its path; a page needs no network.

        Args:
            path: of the file; an older one is overwritten.
            command: shell command that makes the page again, printed on it.

        Raises:
            AccordError: for another suffix, or a file that cannot be written.
        """
        path = Path(path)
        if path.suffix == ".html":
            plots = [Plot(p.title, "", f) for p, f in zip(self.panels, self.pages(), strict=True)]
            title, facts = ", ".join(self.runs), made_with("plotly")
            write_text(path, render_plots(title, "", plots, command=command, facts=facts))
        elif path.suffix in (".png", ".svg"):
            with styled():
                save(self.figure(), path)
        else:
            raise AccordError(f"{path.name} must end in .png, .svg or .html")
        return path

    def _colour(self, panel: Panel, trace: Trace) -> str:
        """Return the colour of a curve: by its signal, or by its run where there is one signal."""
        names, index, count = panel.signals, trace.run, len(self.runs)
        if len(names) > 1:
            index, count = names.index(trace.signal), len(names)
        if count <= len(SIX_COLOURS):
            return SIX_COLOURS[index]
        from matplotlib import colormaps
        from matplotlib.colors import to_hex

        return to_hex(colormaps["viridis"](0.92 * index / (count - 1)))

    def _page(self, panel: Panel, *, all_samples: bool = False) -> Page:
        """Return a panel as a Plotly figure, with all samples or as many as a screen shows.

        With several signals and runs, colours stand for signals and dashes for runs; the legend
        names the signals by the curves of the first run, and the runs by grey curves.
        """
        has_one_signal, has_several_runs = len(panel.signals) == 1, len(self.runs) > 1
        data = list[Any]()
        for trace in panel.traces:
            run = self.runs[trace.run]
            name, in_legend = trace.signal, has_one_signal or trace.run == 0
            if has_several_runs and has_one_signal:
                name = run
            elif not in_legend:
                name = f"{trace.signal}, {run}"
            step = 1 if all_samples else stride(len(trace.x))
            x, y = trace.x[::step], trace.y[::step]
            curve = _line(name, self._colour(panel, trace), trace.run)
            points = {"x": x, "y": y} if all_samples else {"x": plain(x), "y": plain(y)}
            data.append({**curve, "showlegend": in_legend, **points})
        if has_several_runs and not has_one_signal:
            for i, label in enumerate(self.runs):
                data.append({**_line(label, SOFT, i), "x": [None], "y": [None]})
        yaxis = axis(panel.ylabel) | ({"scaleanchor": "x"} if panel.equal else {})
        layout: Page = {"xaxis": axis(panel.xlabel), "yaxis": yaxis, "showlegend": True}
        if panel.mark is not None:
            line: Page = {"type": "line", "x0": panel.mark, "x1": panel.mark}
            line |= {"yref": "paper", "y0": 0, "y1": 1}  # over the height of the panel
            line |= {"line": {"dash": "dot", "color": SOFT}, "name": f"part at {panel.mark:.4g} s"}
            layout["shapes"] = [line]
        return {"data": data, "layout": layout}


def _line(name: str, colour: str, run: int) -> Page:
    """Return a curve without points, dashed by the index of its run."""
    style: Page = {"color": colour, "dash": DASHES[run % len(DASHES)]}
    return {"type": "scatter", "mode": "lines", "name": name, "line": style}


def plot(
    runs: Sequence[Path | str | BagRun | Run | RunSignals],
    signals: Sequence[str] = (),
    *,
    xy: bool = False,
) -> Overlay:
    """Return a plot of signals of several runs; by default of path, joints and speed.

    Args:
        runs: run folders or bags.
        signals: names or glob patterns, see `RunSignals`; each kind has a panel.
        xy: plot the second of two signals against the first.

    Raises:
        AccordError: for a path that is not a run, unknown signals, or `xy` without two signals at
            the same times.
    """
    run_signals = read_runs(runs)
    names = dict.fromkeys(name for run in run_signals for name in run)
    chosen = list[str]()
    for pattern in signals:
        matches = {name for run in run_signals for name in run.choose(pattern)}
        if not matches:
            hint = did_you_mean(pattern, [*names], "", "--list names all signals")
            raise AccordError(f"no run and no signal {pattern}{hint}")
        chosen += [name for name in names if name in matches and name not in chosen]
    if xy:
        if len(chosen) != 2:
            raise AccordError(f"--xy plots one signal against another: name two, not {len(chosen)}")
        panels = [against(run_signals, chosen[0], chosen[1])]
    else:
        panels = over_time(run_signals, chosen) if chosen else overview(run_signals)
    return Overlay(panels, labels_of(run_signals))


def against(runs: Sequence[RunSignals], x: str, y: str) -> Panel:
    """Return a panel of signal y against signal x.

    Raises:
        AccordError: if no run has both at the same times.
    """
    pairs = {i: (run[x], run[y]) for i, run in enumerate(runs) if x in run and y in run}
    if not pairs or any(len(xs.time) != len(ys.time) for xs, ys in pairs.values()):
        raise AccordError(f"{x} and {y} are not known at the same times")
    title = f"{y} against {x}"
    traces = [Trace(title, i, xs.values, ys.values) for i, (xs, ys) in pairs.items()]
    first_x, first_y = next(iter(pairs.values()))
    return Panel(title, first_x.axis, first_y.axis, traces, first_x.unit == first_y.unit == "m")


def over_time(runs: Sequence[RunSignals], names: Sequence[str]) -> list[Panel]:
    """Return panels over time, one for all signals of the same kind and unit."""
    # Index of the run and signal, by kind and unit.
    by_kind: dict[tuple[str, str], list[tuple[int, Signal]]] = {}
    for name in names:
        for i, run in enumerate(runs):
            if name in run:
                signal = run[name]
                by_kind.setdefault((signal.kind, signal.unit), []).append((i, signal))
    panels = []
    for (kind, unit), signals in by_kind.items():
        first = signals[0][1]
        has_one_axis = all(signal.axis == first.axis for _, signal in signals)
        has_one_name = all(signal.name == first.name for _, signal in signals)
        label = first.axis if has_one_axis else f"{kind} [{unit}]"
        title = first.name if has_one_name else label.partition(" [")[0]
        traces = [Trace(signal.name, i, signal.time, signal.values) for i, signal in signals]
        panels.append(Panel(title, TIME, label, traces))
    return panels


def overview(runs: Sequence[RunSignals]) -> list[Panel]:
    """Return panels that give an overview: the path in its plane, some joints, and the speed."""
    panels = []
    # The path of the centre of mass or of the base, in the plane of its two largest extents.
    points = [point for point in ("com", "base") if all(f"{point}/x" in run for run in runs)]
    if points:
        names = [f"{points[0]}/{axis}" for axis in "xyz"]
        spans = [max(float(np.ptp(run[name].values)) for run in runs) for name in names]
        first, second = sorted(np.argsort([-span for span in spans], kind="stable")[:2].tolist())
        panels.append(against(runs, names[first], names[second]))
    joints = runs[0].motion.joints
    panels += over_time(runs, [f"q/{joints[i]}" for i in curves.drawn_joints(len(joints))])
    return panels + over_time(runs, ["com/speed"])
