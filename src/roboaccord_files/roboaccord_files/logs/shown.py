"""What `accord crosscheck LOG` prints: what was read, what differs, and the verdict.

Lines and their words may be changed; docs/own_log.md has some of them. The numbers must be those of
result.py, and nothing is judged here. `show(result)` prints the same.
"""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.console import figure_lines
from roboaccord.cli.levels import VERDICTS
from roboaccord.report.cause_words import with_interval

from roboaccord_files.logs.result import LogReport


def log_lines(report: LogReport) -> list[RenderableType]:
    """Return what was read of a log, what differs, and the verdict."""
    figures = {"columns": (", ".join(f"{k} = {v}" for k, v in report.columns.items()), "")}
    for i, note in enumerate(report.notes):
        figures["log" if i == 0 else " " * i] = (note, "")
    noise = f"noise {100 * report.noise:.2g} % of the effect of the efforts"
    many = f"{noise} over {report.window} steps"
    figures["windows"] = (many, "")
    if report.share == report.share:
        parts = (
            f"{100 * report.share:.3g} % of that effect, {100 * report.left:.3g} % after the causes"
        )
        figures["residuals"] = (parts, "")
    if report.scheme:
        figures["scheme"] = (report.scheme, "")
    for i, cause in enumerate(report.causes):
        figures["cause" if i == 0 else f"cause {i + 1}"] = (with_interval(cause), "")
    for i, causes in enumerate(report.instead):
        figures[f"or {i + 1}"] = ("; ".join(map(with_interval, causes)), "")
    (finding,) = report.levels.one_step.values()
    verdict = Text(report.verdict or "none", VERDICTS[report.verdict])
    why = "" if report.causes or not finding.reason else f": {finding.reason}"
    return [*figure_lines(figures), Text.assemble("verdict: ", verdict, why)]
