"""A page of plots or pictures, for results that are no cross-check: searches, landscapes."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roboaccord.report.page import render_page

if TYPE_CHECKING:
    from roboaccord.run.sweep import Study


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


@dataclass(frozen=True)
class Still:
    """Hold a static figure of a page.

    Args:
        path: of its file, SVG.
        title, caption: as of a `Plot`.
        data: file of the numbers it shows, if there is one.
    """

    path: Path
    title: str
    caption: str
    data: Path | None = None

    @property
    def source(self) -> str:
        """The picture itself, as an address that needs no other file."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.path.read_bytes()).decode()}"

    @property
    def files(self) -> list[Path]:
        """Picture and numbers."""
        return [self.path, *([self.data] if self.data else [])]


def render_plots(
    title: str, lead: str, plots: Sequence[Plot] | Sequence[Still], *, command: str,
    facts: Mapping[str, str], template: str = "plots.html", result: Study | None = None,
) -> str:  # fmt: skip
    """Return a page as HTML.

    Args:
        title: of the page.
        lead: a sentence under it; may be empty.
        plots: one below the other, all to turn and read off or all static.
        command: that makes the page again.
        facts: figures and versions, as a table.
        template: one that extends plots.html, if the page has tables before its plots.
        result: what these show.
    """
    return render_page(
        template,
        title=title,
        lead=lead,
        plots=plots,
        figures=[plot.figure for plot in plots if isinstance(plot, Plot)],
        command=command,
        facts=facts,
        result=result,
    )
