"""Results of the Python API as the commands print them: as text, and in HTML for notebooks.

`print(roboaccord.run(...))` and a cell of a notebook show what the command `accord run` prints. A
result of the Python API (`roboaccord.run`, `crosscheck`, `compare`) is printed by the function of
the command that shows it, which PRINTERS names by the result's class (test_door). Other packages
add theirs as entry points `show.CLASS` of `roboaccord.functions`.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from rich.console import Console, RenderableType

from roboaccord.cli.console import figure_lines
from roboaccord.contract import plugins, visible

# Characters of a line, as in the source code. Tables are made for 80, so that any width from there
# on would do.
WIDTH = 100
HTML_TEMPLATE = '<pre style="line-height: 1.2; font-family: monospace">{code}</pre>'
# Module of this folder whose function `shown_of` prints a class. It is imported when it is used, as
# an installation without all extras lacks the libraries of some.
PRINTERS = {"Run": "run", "Report": "levels", "Comparison": "comparison"}


def html_of(result: object) -> str:
    """Return a result of the front door as HTML, for `_repr_html_`."""
    return _printed(result).export_html(inline_styles=True, code_format=HTML_TEMPLATE)


def text_of(result: object) -> str:
    """Return a result of the front door as text, for `print`."""
    return _printed(result).export_text().rstrip()


def _printed(result: object) -> Console:
    """Return a console that has recorded the printed result."""
    # In a notebook a console would show each line at once, beside what is returned.
    options: dict[str, Any] = {"markup": False, "highlight": False, "force_jupyter": False}
    screen = Console(record=True, file=io.StringIO(), width=WIDTH, **options)
    for item in shown_of(result):
        screen.print(visible(item) if isinstance(item, str) else item, soft_wrap=True)
    return screen


def shown_of(result: Any) -> Sequence[RenderableType]:
    """Return what the command prints of a result; its `repr` where no command prints it."""
    # Another package prints the result, or the report of a log by the class of its check.
    for kind in (type(result), type(getattr(result, "step", None))):
        entry = f"show.{kind.__name__}"
        if entry in plugins.entries("functions"):
            return list[RenderableType](plugins.load("functions", entry)(result))
    name = type(result).__name__
    if name in PRINTERS:
        module = import_module(f"{__package__}.{PRINTERS[name]}")
        return list[RenderableType](module.shown_of(result))
    if name == "BagRun":
        title = f"{result.robot} in {result.engine} {result.engine_version}".strip()
        return [title, *shown_of(result.trajectory)]
    if name == "Trajectory":
        figures = {
            "samples": (str(len(result)), ""),
            "time": (f"{result.time[0]:g} to {result.time[-1]:g}", "s"),
            "joints": (", ".join(result.joints), ""),
            "events": (str(len(result.events)), ""),
        }
        return figure_lines(figures)
    return [repr(result)]
