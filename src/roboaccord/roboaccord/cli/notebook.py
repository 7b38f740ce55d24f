"""Results of the Python API as commands print them: as text, and in HTML for notebooks.

Results may be added: a class in PRINTERS, or a case to `shown_of`; another package adds the entry
point `show.CLASS` of `roboaccord.functions`. WIDTH and FORM may be changed. The words must stay
those of the command, and are changed there: test_door compares both.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from rich.console import Console, RenderableType

from roboaccord.cli.console import figure_lines
from roboaccord.contract.errors import visible
from roboaccord.contract.plugins import entries, load

WIDTH = 100  # characters
FORM = '<pre style="line-height: 1.2; font-family: monospace">{code}</pre>'
PRINTERS = {"Run": "run:shown_of", "Report": "levels:shown_of", "Comparison": "bags:shown_of"}
"""Functions of this room by the class that they print; a light installation lacks some."""


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
    for kind in (type(result), type(getattr(result, "step", None))):
        if (name := f"show.{kind.__name__}") in entries("functions"):  # of another package
            return list[RenderableType](load("functions", name)(result))
    match type(result).__name__:
        case name if name in PRINTERS:
            module, _, function = PRINTERS[name].partition(":")
            shown = getattr(import_module(f"{__package__}.{module}"), function)(result)
            return list[RenderableType](shown)
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
