"""Static figures of results: signals of runs, and the figures of pages without a browser.

To draw another result, add a case to `_overlay` or `_figures`; another package adds the entry point
`plot.CLASS` of `roboaccord.functions` instead. ROW may be changed. Figures are those of the pages
(figures.py, plots.py) and are changed there, for both; `draw_page` must know the kinds of curves
that they use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from roboaccord.bag.reader import BagRun
from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.plugins import entries, load
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.report import Report
from roboaccord.report import figures
from roboaccord.report.comparison import Comparison
from roboaccord.report.drawing import SIZE, draw_page, legend, save, styled
from roboaccord.report.overlay import Overlay, plot
from roboaccord.run.runner import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW = 2.2  # height of each of several figures [inches]


def plot_of(result: object, what: Sequence[str], out: str | PurePath | None = None) -> Figure:
    """Draw a result; see `contract.results.Shown.plot`.

    Raises:
        AccordError: for a result without a figure, or an unknown name.
    """
    overlay = _overlay(result, what)
    figure = overlay.figure() if overlay else _drawn(_figures(result, what))
    if out:
        with styled():
            save(figure, Path(out))
    return figure


def _overlay(result: object, what: Sequence[str]) -> Overlay | None:
    """Return the signals of runs; None for another result."""
    match result:
        case Run() | BagRun():
            return plot([result], what)
        case Trajectory():
            return plot([BagRun(trajectory=result)], what)
        case Comparison():
            return plot(result.data, what) if what else result.overlay()
    return None


def _figures(result: object, what: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return figures of a result's page, of curves and dots in a plane."""
    match result:
        case Report():
            by_id = figures.figures_of(result)
            for figure in what:
                check_known("unknown figure ", figure, by_id)
            first = "convergence" if "convergence" in by_id else "path"
            return [by_id[figure] for figure in what or (first,)]
    name = f"plot.{type(result).__name__}"
    if name in entries("functions"):  # of another package
        return [load("functions", name)(result)]
    raise AccordError(f"{type(result).__name__} has no figure")


def _drawn(pages: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw figures of a page one below the other."""
    with styled((SIZE[0], max(SIZE[1], ROW * len(pages)))) as figure:
        for axes, page in zip(figure.subplots(len(pages), squeeze=False)[:, 0], pages, strict=True):
            draw_page(axes, page)
        if any(len(axes.get_legend_handles_labels()[0]) > 1 for axes in figure.axes):
            legend(figure.axes[0])
    return figure
