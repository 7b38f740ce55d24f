"""Self-contained HTML pages of plots, pictures and tables.

`render_page` fills a template (Jinja) with values, and puts style sheet and Plotly into the page,
so that it loads no other file; what it is given is escaped (test_report). Afterwards the cells of
tables get the header of their column (`_with_heads`), for narrow screens: tables in templates must
have the form that the regular expressions below match. `render_plots` makes a page of `Plot`s or
`Still`s, whose fields other packages fill, and stay.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

# Largest number of characters in a cell whose text is not wrapped: a third of a line of 80.
SHORT = 24
# Parts of tables in HTML: table, row, header cell, cell, and any tag.
TABLE = re.compile(r'<div class="scroll"><table.*?</table>', re.DOTALL)
ROW, HEAD = re.compile(r"<tr>.*?</tr>", re.DOTALL), re.compile(r"<th>(.*?)</th>", re.DOTALL)
CELL, TAG = re.compile(r"<td( [^>]*)?>(.*?)</td>", re.DOTALL), re.compile(r"<[^>]*>")


def render_page(template: str, package: str = __package__, **values: Any) -> str:
    """Return the page that a template makes of values, as HTML.

    Args:
        template: file name of the template; it may extend one of those here.
        package: that contains the template.
        values: variables of the template.
    """
    import jinja2

    here = files(__package__)
    folders = {template: files(package)}  # templates that it extends are here

    def load(name: str) -> str:
        return folders.get(name, here).joinpath(name).read_text("utf-8")

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(load), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    plotly = files("plotly").joinpath("package_data/plotly.min.js").read_text("utf-8")
    page = environment.get_template(template).render(
        style=here.joinpath("report.css").read_text(encoding="utf-8"),
        licence=plotly[: plotly.index("*/") + 2],
        plotly=_packed(plotly),
        packed=lambda **data: _packed(json.dumps(data, separators=(",", ":"), allow_nan=False)),
        **values,
    )
    return TABLE.sub(lambda table: _with_heads(table[0]), page)


def _packed(text: str) -> str:
    """Return a text compressed, and as base64, which plotly.html unpacks: 2 MB instead of 5."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _with_heads(table: str) -> str:
    """Return a table with the header of its column in each cell, which narrow screens show there.

    Cells with short texts are marked, so that they are not wrapped.
    """
    heads = [TAG.sub("", head).strip() for head in HEAD.findall(table)]

    def with_heads_in_row(row: re.Match[str]) -> str:
        names = iter(heads)

        def with_head(cell: re.Match[str]) -> str:
            short = " data-short" if len(TAG.sub("", cell[2]).strip()) <= SHORT else ""
            return f'<td data-head="{next(names, "")}"{short}{cell[1] or ""}>{cell[2]}</td>'

        return CELL.sub(with_head, row[0])

    return ROW.sub(with_heads_in_row, table)


@dataclass(frozen=True)
class Plot:
    """An interactive plot on a page.

    Args:
        title: heading.
        caption: what the plot shows, in a sentence or two.
        figure: `data` and `layout` of Plotly, without colours of text and grid; in two dimensions,
            or in three with a `scene`.
        height: [pixels].
    """

    title: str
    caption: str
    figure: Mapping[str, Any]
    height: int = 560


@dataclass(frozen=True)
class Still:
    """A static figure on a page.

    Args:
        path: of the SVG file.
        title, caption: as for a `Plot`.
        data: file with the numbers shown, if there is one.
    """

    path: Path
    title: str
    caption: str
    data: Path | None = None

    @property
    def source(self) -> str:
        """The picture as a data URL, so that the page needs no other file."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.path.read_bytes()).decode()}"

    @property
    def files(self) -> list[Path]:
        """Files of the picture and of the numbers."""
        return [self.path, *([self.data] if self.data else [])]


def render_plots(
    title: str, lead: str, plots: Sequence[Plot | Still], *, command: str, facts: Mapping[str, str]
) -> str:
    """Return a page of plots, one below the other, as HTML.

    Args:
        title: of the page.
        lead: a sentence under it; may be empty.
        plots: all interactive or all static.
        command: shell command that makes the page again.
        facts: figures and versions, as a table.
    """
    figures = [plot.figure for plot in plots if isinstance(plot, Plot)]
    texts: dict[str, Any] = {"title": title, "lead": lead, "command": command, "facts": facts}
    return render_page("plots.html", plots=plots, figures=figures, **texts)
