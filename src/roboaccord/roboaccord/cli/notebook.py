"""Results of the front door as commands print them: as text, and in HTML for notebooks."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from rich.console import Console, RenderableType

from roboaccord.cli.console import figure_lines
from roboaccord.contract.errors import visible

WIDTH = 100  # characters
FORM = '<pre style="line-height: 1.2; font-family: monospace">{code}</pre>'
PRINTERS = {
    "Run": "roboaccord.cli.run:shown_of",
    "Report": "roboaccord.cli.levels:shown_of",
    "LogReport": "roboaccord.cli.levels:log_lines",
    "Parity": "roboaccord.cli.parity:shown_of",
    "Study": "roboaccord.cli.sweep:tables_of",
    "Comparison": "roboaccord.cli.bags:shown_of",
}
"""What prints a result of the core, by its class; others name it themselves, by `shown_by`."""


def html_of(result: object) -> str:
    """Return a result of the front door as HTML, for `_repr_html_`."""
    return _printed(result).export_html(inline_styles=True, code_format=FORM)


def text_of(result: object) -> str:
    """Return a result of the front door as text, for `print`."""
    return _printed(result).export_text().rstrip()


def _printed(result: object) -> Console:
    screen = Console(record=True, file=io.StringIO(), width=WIDTH, markup=False, highlight=False)
    for item in shown_of(result):
        screen.print(visible(item) if isinstance(item, str) else item, soft_wrap=True)
    return screen


def shown_of(result: Any) -> Sequence[RenderableType]:
    """Return what the command prints of a result."""
    match type(result).__name__:
        case name if place := getattr(result, "shown_by", "") or PRINTERS.get(name):
            module, _, function = place.partition(":")
            return list[RenderableType](getattr(import_module(module), function)(result))
        case "RecordedReport":
            return [result.line()]
        case "BagRun":
            words = f"{result.robot} in {result.engine} {result.engine_version}".strip()
            return [words, *shown_of(result.trajectory)]
        case "Trajectory":
            rows = {
                "samples": (str(len(result)), ""),
                "time": (f"{result.time[0]:g} to {result.time[-1]:g}", "s"),
                "joints": (", ".join(result.joints), ""),
                "events": (str(len(result.events)), ""),
            }
            return figure_lines(rows)
    return [repr(result)]
