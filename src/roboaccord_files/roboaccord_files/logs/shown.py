"""What `accord crosscheck LOG` prints: what was read, what differs, and the verdict.

Lines and their words may be changed; docs/own_log.md has some of them. The numbers must be those of
result.py, and nothing is judged here. `show(result)` prints the same.
"""

from __future__ import annotations

import numpy as np
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.console import figure_lines
from roboaccord.cli.levels import VERDICTS
from roboaccord.contract.outcome import Cause
from roboaccord.crosscheck.causes.hypotheses import SPEED_LIMIT
from roboaccord.crosscheck.report import Report
from roboaccord.engines.deviations import EVERY
from roboaccord.report.cause_words import with_interval

from roboaccord_files.excitation.identified import Identified
from roboaccord_files.logs.efforts import Taken

SHOWN = 3  # names of parameters that a motion does not show


def effort_line(taken: Taken) -> str:
    """Return what the efforts were taken for, and how much better that is than the next."""
    text = f"{'stated' if taken.stated else 'taken for'}: {taken.name}"
    if taken.also:
        text += f", with {'; '.join(map(with_interval, taken.also))}"
    if taken.factors:
        factors = ", ".join(map(_factor, taken.factors))
        text += f": factors {factors}, if the file's masses are right"
    if taken.following:
        text += f"; {taken.following} leaves {taken.times:.3g} times as much"
    return text


def motion_line(motion: Identified) -> str:
    """Return how many base parameters a motion shows, and which not."""
    many = motion.base - len(motion.unseen)
    text = f"shows {many} of {motion.base} base parameters, condition {motion.condition:.3g}"
    if motion.unseen:
        more = len(motion.unseen) - SHOWN
        names = ", ".join(motion.unseen[:SHOWN]) + (f" and {more} more" if more > 0 else "")
        text += f"; not {names}: accord excite FILE finds a motion that does"
    return text


def _factor(cause: Cause) -> str:
    low, high = cause.interval or (np.nan, np.nan)
    return f"{cause.where} {cause.size:.4g} [{low:.4g}, {high:.4g}]"


def log_lines(report: Report) -> list[RenderableType]:
    """Return what was read of a log, what differs, and the verdict."""
    check = report.step
    explanation = check.explanation
    figures = {"efforts": (effort_line(check.taken), "")} if check.taken else {}
    figures["columns"] = (", ".join(f"{k} = {v}" for k, v in check.columns.items()), "")
    for i, note in enumerate(check.notes):
        figures["log" if i == 0 else " " * i] = (note, "")
    noise = f"noise {100 * check.noise:.2g} % of the effect of the efforts"
    many = f"{noise} over {check.window} steps"
    figures["windows"] = (many, "")
    if check.share == check.share:
        parts = (
            f"{100 * check.share:.3g} % of that effect, {100 * check.left:.3g} % after the causes"
        )
        figures["residuals"] = (parts, "")
    if check.motion:
        figures["motion"] = (motion_line(check.motion), "")
    if check.scheme:
        figures["scheme"] = (check.scheme, "")
    for i, cause in enumerate(explanation.causes):
        text = with_interval(cause)
        if cause.quantity == SPEED_LIMIT:
            text += f" in {check.capped[cause.where]:.0%} of the samples".replace("%", " %")
        figures["cause" if i == 0 else f"cause {i + 1}"] = (text, "")
    for cause in explanation.causes:
        if (cause.quantity, cause.where) == ("gear", EVERY):  # one cause with two names
            rest = 100.0 * (1.0 / (1.0 + (cause.size or 0.0)) - 1.0)
            figures["or"] = (f"all masses, inertias and frictions of the file {rest:+.4g} %", "")
    for i, causes in enumerate(explanation.instead):
        figures[f"or {i + 1}"] = ("; ".join(map(with_interval, causes)), "")
    finding = report.finding
    verdict = Text(report.verdict or "none", VERDICTS[report.verdict])
    why = "" if explanation.causes or not finding.reason else f": {finding.reason}"
    return [*figure_lines(figures), Text.assemble("verdict: ", verdict, why)]
