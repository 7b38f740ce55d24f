"""Static figures of results, drawn by Matplotlib, for `plot()` and `figure()` of the Python API.

`plot_of` has two ways. Runs and comparisons are drawn as plots of signals over time (`_overlay`). A
report of a cross-check has figures made for Plotly, which draws them on its page (`_page_figures`);
of these, `draw_page` draws curves, dots and vertical lines by Matplotlib. Another result is a case
in one of these functions; other packages add the entry point `plot.CLASS` of
`roboaccord.functions`. `arrays_of` returns what is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from roboaccord.bag.reader import BagRun
from roboaccord.contract import AccordError, Array, Trajectory, check_known
from roboaccord.contract.plugins import entries, load
from roboaccord.crosscheck.report import Report
from roboaccord.report import figures
from roboaccord.report.comparison import Comparison
from roboaccord.report.drawing import SIZE, draw_page, legend, save, styled
from roboaccord.report.overlay import Overlay, plot
from roboaccord.run.runner import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

    In a comparison, the label of the run is behind the name. Names that are equal get a prime.
    """
    if overlay := _overlay(result, what):
        labels = [f", {label}" * (len(overlay.runs) > 1) for label in overlay.runs]
        traces = [trace for panel in overlay.panels for trace in panel.traces]
        curves = [(trace.signal + labels[trace.run], trace.x, trace.y) for trace in traces]
    else:
        drawn = [curve for page in _page_figures(result, what) for curve in page["data"]]
        curves = [(curve["name"], curve.get("x", [""]), curve["y"]) for curve in drawn]
    arrays = dict[str, Array]()
    for name, x, y in curves:
        while name in arrays:
            name += "'"
        # Of bars and dots x may be a name.
        arrays[name] = np.array([range(len(y)) if isinstance(x[0], str) else x, y], dtype=float)
    return arrays


def _overlay(result: object, what: Sequence[str]) -> Overlay | None:
    """Return the plot of signals of a run or a comparison; None for another result."""
    match result:
        case Run() | BagRun():
            return plot([result], what)
        case Trajectory():
            count = 0 if result.bodies is None else result.bodies.shape[1]
            names = tuple(f"body_{i + 1}" for i in range(count))
            return plot([BagRun(trajectory=result, bodies=names)], what)
        case Comparison():
            return plot(result.data, what) if what else result.overlay()
    return None


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
