"""Static figures of results: the signals of runs, and what the pages have, without a browser.

To draw another result, add a case to `_overlay` or `_drawing`; another package adds the entry point
`plot.CLASS` of `roboaccord.functions` instead. STYLES and ROW may be changed. Figures are those of
the pages (figures.py, plots.py): what is to look different on both is changed there, and
`_page_figure` must know the kinds of curves that they use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from roboaccord.bag.reader import BagRun
from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.plugins import entries, load
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.report import Report
from roboaccord.report import figures
from roboaccord.report.comparison import Comparison
from roboaccord.report.drawing import SIZE, legend, save, styled
from roboaccord.report.overlay import Overlay, plot
from roboaccord.report.plots import dots_figure
from roboaccord.run.runner import Run
from roboaccord.run.sweep import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = {"dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (8, 3))}
ROW = 2.2  # inches


def plot_of(result: object, what: Sequence[str], out: str | PurePath | None = None) -> Figure:
    """Draw a result; see `contract.results.Shown.plot`.

    Raises:
        AccordError: for what has no figure, or none of that name.
    """
    if overlay := _overlay(result, what):
        figure = overlay.figure()
        if out:
            overlay.write(Path(out), figure=figure)
        return figure
    drawing = _drawing(result, what)
    rows = len(drawing)
    with styled((SIZE[0], max(SIZE[1], ROW * rows))) as figure:
        for axes, draw in zip(figure.subplots(rows, squeeze=False)[:, 0], drawing, strict=True):
            draw(axes)
        if any(len(axes.get_legend_handles_labels()[0]) > 1 for axes in figure.axes):
            legend(figure.axes[0])
        if out:
            save(figure, Path(out))
    return figure


Draw = Callable[["Axes"], None]


def _overlay(result: object, what: Sequence[str]) -> Overlay | None:
    """Return the signals of runs; None of another result."""
    match result:
        case Run():
            return plot([result.request.bag], what)
        case BagRun():
            return plot([result], what)
        case Trajectory():
            return plot([BagRun(trajectory=result)], what)
        case Comparison():
            return plot(result.data, what) if what else result.overlay()
    return None


def _drawing(result: object, what: Sequence[str]) -> list[Draw]:
    """Return what draws each of a figure's axes."""
    match result:
        case Report():
            found = figures.figures_of(result)
            for name in what:
                check_known("unknown figure ", name, found)
            first = "convergence" if "convergence" in found else "path"
            return [_page_figure(found[name]) for name in what or (first,)]
        case Study():
            return [_page_figure(dots_figure(result))]
    if (own := f"plot.{type(result).__name__}") in entries("functions"):  # of a package beside
        return [_page_figure(load("functions", own)(result))]
    raise AccordError(f"{type(result).__name__} has no figure")


def _page_figure(plotly: Mapping[str, Any]) -> Draw:
    """Return what draws a flat figure of a page, of curves and dots."""

    def draw(axes: Axes) -> None:
        for curve in plotly["data"]:
            x = curve["x"] if "x" in curve else [curve["name"]] * len(curve["y"])
            own, marker = curve.get("line", {}), curve.get("marker", {})
            lines = "lines" in curve.get("mode", "")
            axes.errorbar(
                x, np.array(curve["y"]) if isinstance(curve["y"][0], str) else _floats(curve["y"]),
                yerr=_floats(curve["error_y"]["array"]) if "error_y" in curve else None,
                linestyle=STYLES.get(own.get("dash", ""), "-") if lines else "none",
                marker="" if lines else "o", color=marker.get("color", own.get("color")),
                linewidth=own.get("width", 1.5), alpha=curve.get("opacity", 1.0),
                label=curve.get("name") if curve.get("showlegend", True) else None,
            )  # fmt: skip
        for name in "xy":
            form = plotly["layout"].get(f"{name}axis", {})
            axes.set(**{f"{name}label": form.get("title", {}).get("text", "")})
            if form.get("type") == "log":
                axes.set(**{f"{name}scale": "log"})
            if "scaleanchor" in form:
                axes.set_aspect("equal", adjustable="datalim")

    return draw


def _floats(values: Sequence[float | None]) -> Any:
    return np.array(values, dtype=float)
