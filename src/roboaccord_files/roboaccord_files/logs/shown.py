"""Write the lines that `accord crosscheck LOG` prints: what was read, what differs, the verdict.

The numbers come from the check of the log (result.py); nothing is computed or judged here. In a
notebook `show(result)` prints the same lines. docs/own_log.md quotes some of them.
"""

from __future__ import annotations

import numpy as np
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.console import figure_lines
from roboaccord.cli.levels import VERDICT_COLOURS
from roboaccord.contract.outcome import Cause
from roboaccord.crosscheck.causes.hypotheses import SPEED_LIMIT
from roboaccord.crosscheck.report import Report
from roboaccord.engines.deviations import EVERY
from roboaccord.report.cause_words import with_interval

from roboaccord_files.excitation.identified import Identified
from roboaccord_files.logs.efforts import ChosenReading

# Parameters that a motion does not show: so many are named, the others counted, so that it fits a
# line.
MAX_NAMED = 3


def effort_line(taken: ChosenReading) -> str:
    """Return the meaning that was chosen for the efforts, and how much worse the next one fits."""
    text = f"{'stated' if taken.stated else 'taken for'}: {taken.name}"
    if taken.implied:
        text += f", with {'; '.join(map(with_interval, taken.implied))}"
    if taken.factors:
        factors = ", ".join(map(_factor_with_interval, taken.factors))
        text += f": factors {factors}, if the file's masses are right"
    if taken.next_name:
        text += f"; {taken.next_name} leaves {taken.next_ratio:.3g} times as much"
    return text


def motion_line(motion: Identified) -> str:
    """Return how many base parameters a motion makes identifiable, and which it does not."""
    visible = motion.base - len(motion.unseen)
    text = f"shows {visible} of {motion.base} base parameters, condition {motion.condition:.3g}"
    if motion.unseen:
        more = len(motion.unseen) - MAX_NAMED
        names = ", ".join(motion.unseen[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
        text += f"; not {names}: accord excite FILE finds a motion that does"
    return text


def _factor_with_interval(cause: Cause) -> str:
    """Return the factor of a joint's efforts with its interval."""
    low, high = cause.interval or (np.nan, np.nan)
    return f"{cause.where} {cause.size:.4g} [{low:.4g}, {high:.4g}]"


def log_lines(report: Report) -> list[RenderableType]:
    """Return the lines of a report: what was read of the log, what differs, and the verdict.

    `figures` maps the label of each line to its text and unit. A label must be unique, so lines
    that continue a list have a number or blanks in place of its label.
    """
    check = report.step
    explanation = check.explanation
    # What was read.
    figures = {"efforts": (effort_line(check.taken), "")} if check.taken else {}
    figures["columns"] = (", ".join(f"{k} = {v}" for k, v in check.columns.items()), "")
    for i, note in enumerate(check.notes):
        figures["log" if i == 0 else " " * i] = (note, "")
    # How well the equations fit; residuals are NaN where noise has prevented the comparison.
    noise = f"noise {100 * check.noise:.2g} % of the effect of the efforts"
    figures["windows"] = (f"{noise} over {check.window} steps", "")
    if not np.isnan(check.share):
        share = f"{100 * check.share:.3g} % of that effect"
        figures["residuals"] = (f"{share}, {100 * check.left:.3g} % after the causes", "")
    if check.motion:
        figures["motion"] = (motion_line(check.motion), "")
    if check.scheme:
        figures["scheme"] = (check.scheme, "")
    if not np.isnan(check.delay):
        ticks = f"{check.delay / check.period:.3g}"
        unit = "tick" if ticks == "1" else "ticks"
        figures["delay"] = (f"efforts act {ticks} {unit} of {1e3 * check.period:.4g} ms late", "")
    # What differs, and other explanations that fit as well.
    for i, cause in enumerate(explanation.causes):
        text = with_interval(cause)
        if cause.quantity == SPEED_LIMIT:
            text += f" in {check.capped[cause.where]:.0%} of the samples".replace("%", " %")
        figures["cause" if i == 0 else f"cause {i + 1}"] = (text, "")
    for cause in explanation.causes:
        # Efforts 1 + s times as large, or all masses 1 / (1 + s) times: the same motion.
        if (cause.quantity, cause.where) == ("gear", EVERY):
            change = 100.0 * (1.0 / (1.0 + (cause.size or 0.0)) - 1.0)
            figures["or"] = (f"all masses, inertias and frictions of the file {change:+.4g} %", "")
    for i, causes in enumerate(explanation.instead):
        figures[f"or {i + 1}"] = ("; ".join(map(with_interval, causes)), "")
    # The verdict.
    finding = report.finding
    verdict = Text(report.verdict or "none", VERDICT_COLOURS[report.verdict])
    why = "" if explanation.causes or not finding.reason else f": {finding.reason}"
    return [*figure_lines(figures), Text.assemble("verdict: ", verdict, why)]
