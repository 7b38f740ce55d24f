"""A page of interactive plots, for results that are no cross-check: searches, landscapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roboaccord.report.page import render_page


@dataclass(frozen=True)
class Plot:
    """Hold a plot of a page.

    Args:
        title: heading over it.
        caption: what is seen, in a sentence or two.
        figure: `data` and `layout` as Plotly has them, without colours of text and grid; flat, or
            with a `scene` in three dimensions.
        height: [pixels].
    """

    title: str
    caption: str
    figure: Mapping[str, Any]
    height: int = 560


def render_plots(
    title: str, lead: str, plots: Sequence[Plot], *, command: str, facts: Mapping[str, str],
    template: str = "plots.html", **values: Any,
) -> str:  # fmt: skip
    """Return a page as HTML.

    Args:
        title: of the page.
        lead: a sentence under it; may be empty.
        plots: one below the other.
        command: that makes the page again.
        facts: figures and versions, as a table.
        template: one that extends plots.html, if the page has tables before its plots.
        values: what these show.
    """
    return render_page(
        template,
        title=title,
        lead=lead,
        plots=plots,
        figures=[plot.figure for plot in plots],
        command=command,
        facts=facts,
        **values,
    )
