"""Results of the Python API as the commands print them: as text, and in HTML for notebooks.

A result of the front door (`roboaccord.run`, `crosscheck`, `compare`) is printed by the function of
the command that shows it, which PRINTERS names by the result's class; so both say the same
(test_door). Other packages add theirs as entry points `show.CLASS` of `roboaccord.functions`.
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

# characters of a line: as in the code; any from the 80 on, for which tables are made, would do
WIDTH = 100
FORM = '<pre style="line-height: 1.2; font-family: monospace">{code}</pre>'
PRINTERS = {"Run": "run:shown_of", "Report": "levels:shown_of", "Comparison": "bags:shown_of"}
"""Function of this room, module:function, by the class that it prints.

It is imported when it is used: an installation without all extras lacks some.
"""


def html_of(result: object) -> str:
    """Return a result of the front door as HTML, for `_repr_html_`."""
    return _printed(result).export_html(inline_styles=True, code_format=FORM)


def text_of(result: object) -> str:
    """Return a result of the front door as text, for `print`."""
    return _printed(result).export_text().rstrip()


def _printed(result: object) -> Console:
    """Return a console that has recorded the printed result."""
    screen = Console(record=True, file=io.StringIO(), width=WIDTH, markup=False, highlight=False)
    for item in shown_of(result):
        screen.print(visible(item) if isinstance(item, str) else item, soft_wrap=True)
    return screen


def shown_of(result: Any) -> Sequence[RenderableType]:
    """Return what the command prints of a result; its `repr` where no command prints it."""
    # Another package prints the result, or the report of a log by the class of its check.
    for kind in (type(result), type(getattr(result, "step", None))):
        entry = f"show.{kind.__name__}"
        if entry in entries("functions"):
            return list[RenderableType](load("functions", entry)(result))
    name = type(result).__name__
    if name in PRINTERS:
        module, _, function = PRINTERS[name].partition(":")
        shown = getattr(import_module(f"{__package__}.{module}"), function)(result)
        return list[RenderableType](shown)
    match name:
        case "BagRun":
            words = f"{result.robot} in {result.engine} {result.engine_version}".strip()
            return [words, *shown_of(result.trajectory)]
        case "Trajectory":
            time = f"{result.time[0]:g} to {result.time[-1]:g}"
            return figure_lines(
                {
                    "samples": (str(len(result)), ""),
                    "time": (time, "s"),
                    "joints": (", ".join(result.joints), ""),
                    "events": (str(len(result.events)), ""),
                }
            )
    return [repr(result)]
