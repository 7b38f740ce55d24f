"""Results of the front door as commands print them: as text, and in HTML for notebooks."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console, RenderableType

from roboaccord.bag.reader import BagRun
from roboaccord.cli import bags, levels, parity, run, sweep
from roboaccord.cli.console import figure_lines
from roboaccord.contract.errors import visible
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.own_log import LogReport
from roboaccord.crosscheck.parity.result import Parity
from roboaccord.crosscheck.recorded import RecordedReport
from roboaccord.crosscheck.report import Report
from roboaccord.report.comparison import Comparison
from roboaccord.run.runner import Run
from roboaccord.run.sweep import Study

WIDTH = 100  # characters
FORM = '<pre style="line-height: 1.2; font-family: monospace">{code}</pre>'


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


def shown_of(result: object) -> Sequence[RenderableType]:
    """Return what the command prints of a result."""
    match result:
        case Run():
            return run.shown_of(result)
        case Report():
            return levels.shown_of(result)
        case RecordedReport():
            return [result.line()]
        case LogReport():
            return levels.log_lines(result)
        case Parity():
            return parity.shown_of(result)
        case Study():
            return sweep.tables_of(result)
        case Comparison():
            return bags.shown_of(result)
        case BagRun():
            words = f"{result.robot} in {result.engine} {result.engine_version}".strip()
            return [words, *shown_of(result.trajectory)]
        case Trajectory():
            rows = {
                "samples": (str(len(result)), ""),
                "time": (f"{result.time[0]:g} to {result.time[-1]:g}", "s"),
                "joints": (", ".join(result.joints), ""),
                "events": (str(len(result.events)), ""),
            }
            return figure_lines(rows)
    return [repr(result)]
