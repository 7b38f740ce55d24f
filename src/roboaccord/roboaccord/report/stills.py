"""Static figures of results, drawn by Matplotlib, for `plot()` and `figure()` of the Python API.

`plot_of` has two ways. Runs and comparisons are drawn as plots of signals over time (`_overlay`). A
report of a cross-check has figures made for Plotly, which draws them on its page (`_page_figures`);
of these, `draw_page` draws curves, dots and vertical lines by Matplotlib. Another result is a case
in one of these functions; other packages add the entry point `plot.CLASS` of
`roboaccord.functions`. `arrays_of` returns what is drawn, and `frame_of` the table of a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from roboaccord.bag.reader import BagRun
from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.plugins import entries, load
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.report import Report
from roboaccord.report import figures
from roboaccord.report.comparison import Comparison
from roboaccord.report.drawing import SIZE, draw_page, legend, save, styled
from roboaccord.report.overlay import Overlay, plot
from roboaccord.report.signals import RunSignals
from roboaccord.run.runner import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

# How the names of signals begin that are computed from others.
COMPUTED = ("com.", "contact.", "energy.", "link:")
ROW_HEIGHT = 2.2  # height of each figure where there are several [inches]: half of SIZE


def plot_of(result: object, what: Sequence[str], out: str | PurePath | None = None) -> Figure:
    """Draw a result, and write it to a file if one is given.

    Args:
        result: run, comparison, report of a cross-check, or the result of another package.
        what: names of signals, or of a report's figures; some by default.
        out: file to write.

    Raises:
        AccordError: for a result without a figure, or an unknown name.
    """
    overlay = _overlay(result, what)
    figure = overlay.figure() if overlay else _drawn(_page_figures(result, what))
    if out:
        with styled():
            save(figure, Path(out))
    return figure


def arrays_of(result: object, what: Sequence[str]) -> dict[str, Array]:
    """Return the points of the curves that `plot_of` draws, x and y (2, k), by name.

    In a comparison the name has the label of the run behind it; equal names are numbered.
    """
    curves = list[tuple[str, Any, Any]]()
    if overlay := _overlay(result, what):
        for trace in (trace for panel in overlay.panels for trace in panel.traces):
            label = f", {overlay.runs[trace.run]}" if len(overlay.runs) > 1 else ""
            curves.append((trace.signal + label, trace.x, trace.y))
    else:
        for curve in (curve for page in _page_figures(result, what) for curve in page["data"]):
            x, y = curve.get("x", ()), curve["y"]
            has_numbers = len(x) and not isinstance(x[0], str)  # and no names, of bars or dots
            curves.append((curve["name"], x if has_numbers else range(len(y)), y))
    arrays = dict[str, Array]()
    for name, x, y in curves:
        count = sum(key == name or key.startswith(f"{name} #") for key in arrays)
        arrays[f"{name} #{count + 1}" if count else name] = np.array([x, y], dtype=float)
    return arrays


def frame_of(run: Run | BagRun | Trajectory, what: Sequence[str] = ()) -> DataFrame:
    """Return signals of a run as columns of a table, by the time [s]; see `Signals.to_pandas`."""
    try:
        from pandas import DataFrame, Index, Series
    except ImportError:
        raise AccordError("to_pandas needs pandas: pip install pandas") from None
    signals = RunSignals(_run_of(run))
    if what:  # refuses unknown names
        names = [t.signal for p in plot([signals], what).panels for t in p.traces]
    else:
        names = [name for name in signals if not name.startswith(COMPUTED)]
    chosen = [signals[name] for name in names]
    columns = {s.name: Series(s.values, Index(s.time, name="time")) for s in chosen}
    frame = DataFrame(columns)
    frame.attrs["units"] = {signal.name: signal.unit for signal in chosen}
    return frame


def _overlay(result: object, what: Sequence[str]) -> Overlay | None:
    """Return the plot of signals of a run or a comparison; None for another result."""
    match result:
        case Run() | BagRun() | Trajectory():
            return plot([_run_of(result)], what)
        case Comparison():
            return plot(result.data, what) if what else result.overlay()
    return None


def _run_of(result: Run | BagRun | Trajectory) -> Run | BagRun:
    """Return a run, also of a motion alone."""
    if not isinstance(result, Trajectory):
        return result
    count = 0 if result.bodies is None else result.bodies.shape[1]
    return BagRun(trajectory=result, bodies=tuple(f"body_{i + 1}" for i in range(count)))


def _page_figures(result: object, what: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the named figures of a result's page, as Plotly has them."""
    if isinstance(result, Report):
        by_name = figures.figures_of(result)
        for name in what:
            check_known("unknown figure ", name, by_name)
        default = "convergence" if "convergence" in by_name else "path"
        return [by_name[name] for name in what or (default,)]
    entry_point = f"plot.{type(result).__name__}"
    if entry_point in entries("functions"):  # another package draws it
        return [load("functions", entry_point)(result)]
    raise AccordError(f"{type(result).__name__} has no figure")


def _drawn(page_figures: Sequence[Mapping[str, Any]]) -> Figure:
    """Return Plotly's figures, drawn one below the other in a figure of Matplotlib."""
    width, height = SIZE
    with styled((width, max(height, ROW_HEIGHT * len(page_figures)))) as figure:
        rows = figure.subplots(len(page_figures), squeeze=False)[:, 0]
        for axes, page_figure in zip(rows, page_figures, strict=True):
            draw_page(axes, page_figure)
        if any(len(axes.get_legend_handles_labels()[0]) > 1 for axes in figure.axes):
            legend(figure.axes[0])
    return figure
