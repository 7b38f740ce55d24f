"""Static figures of results, drawn by Matplotlib, for `plot()` and `figure()` of the Python API.

Runs and comparisons are drawn as plots of signals (`_overlay`), a report by the figures of its page
(`_figures`), of which `draw_page` draws curves, dots and vertical lines. Another result is a case
in one of these functions; other packages add the entry point `plot.CLASS` of
`roboaccord.functions`.
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

ROW_HEIGHT = 2.2  # height of each figure where there are several [inches]: half of SIZE


def plot_of(result: object, what: Sequence[str], out: str | PurePath | None = None) -> Figure:
    """Draw a result, and write it to `out` if that is given; see `contract.results.Shown.plot`.

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
    """Return the plot of a run or a comparison; None for another result."""
    match result:
        case Run() | BagRun():
            return plot([result], what)
        case Trajectory():
            return plot([BagRun(trajectory=result)], what)
        case Comparison():
            return plot(result.data, what) if what else result.overlay()
    return None


def _figures(result: object, what: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the named figures of a result's page, as Plotly has them."""
    if isinstance(result, Report):
        by_id = figures.figures_of(result)
        for figure in what:
            check_known("unknown figure ", figure, by_id)
        default = "convergence" if "convergence" in by_id else "path"
        return [by_id[figure] for figure in what or (default,)]
    name = f"plot.{type(result).__name__}"
    if name in entries("functions"):  # another package draws it
        return [load("functions", name)(result)]
    raise AccordError(f"{type(result).__name__} has no figure")


def _drawn(pages: Sequence[Mapping[str, Any]]) -> Figure:
    """Return the figures of a page, drawn one below the other."""
    with styled((SIZE[0], max(SIZE[1], ROW_HEIGHT * len(pages)))) as figure:
        for axes, page in zip(figure.subplots(len(pages), squeeze=False)[:, 0], pages, strict=True):
            draw_page(axes, page)
        if any(len(axes.get_legend_handles_labels()[0]) > 1 for axes in figure.axes):
            legend(figure.axes[0])
    return figure
