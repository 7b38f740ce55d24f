"""What the check of a log measures, and how that is judged: causes, residuals and noise.

Fields of `LogCheck` are keys of `--json` and of summary.json, in the order of `document`: one may
be added, and those there stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from roboaccord.contract.outcome import Code, Finding, because, unless_few
from roboaccord.contract.results import Json, to_json
from roboaccord.crosscheck.causes.explain import Explanation
from roboaccord.crosscheck.level import Entry, LevelOf, Rows
from roboaccord.crosscheck.report import Report
from roboaccord.scenario.scenario import Tolerances

from roboaccord_files.excitation.identified import Identified
from roboaccord_files.logs.efforts import Taken
from roboaccord_files.logs.problem import NOISY, UNKNOWN


@dataclass(frozen=True)
class LogCheck:
    """What is measured of a log.

    Args:
        window: steps of a window.
        noise: share of what the efforts do in a window, where it is most, and of its joint.
        noisiest: that joint, and its noise [rad or m].
        columns, notes: what was read, and how.
        share, left: residuals beside the scheme's, and what the causes leave of them, likewise.
        beyond, worst: what is left beyond all noise, likewise, and its joint.
        whole, efforts: what is left beyond that of positions, and noise with that of efforts.
        scheme: that fits, "" where it is unknown.
        judged, windows: number of windows that are judged, and of all.
        explanation: of the residuals.
        taken: what the efforts were taken for.
        span: from when to when most of what is left of `worst` lies [s].
        unmeasured: whether efforts are all 0 where some acted.
        motion: what it could have shown.
        capped: joints that move at no more than a rate, and in how much of the log.
    """

    window: int
    noise: float
    noisiest: tuple[str, float]
    columns: Mapping[str, str]
    notes: Sequence[str]
    share: float = np.nan
    left: float = np.nan
    beyond: float = 0.0
    worst: str = ""
    whole: float = 0.0
    efforts: float = 0.0
    scheme: str = ""
    judged: int = 0
    windows: int = 0
    explanation: Explanation = field(default_factory=Explanation)
    taken: Taken | None = None
    span: tuple[float, float] = (0.0, 0.0)
    unmeasured: bool = False
    motion: Identified | None = None
    capped: Mapping[str, float] = field(default_factory=dict)

    def document(self, report: Report) -> dict[str, Json]:
        """Return the figures that `--json` prints of its report."""
        explanation = self.explanation
        data: dict[str, Any] = {
            "verdict": report.verdict,
            "levels": report.levels,
            "causes": explanation.causes,
        }
        if self.taken is not None:
            data["effort"] = self.taken.document()
        data |= {
            "instead": explanation.instead,
            "most": () if explanation.causes else explanation.most,
        }
        names = ("window", "noise", "share", "left", "scheme", "motion", "columns", "notes")
        return {k: to_json(v) for k, v in {**data, **{n: getattr(self, n) for n in names}}.items()}


class LogLevel(LevelOf[Any, LogCheck]):
    """Judge what the equations of a robot's file leave in windows of a log."""

    name = "one_step"
    title = "One step: windows of a log"

    def measure(self, case: Any) -> None:
        """Return nothing: check.py measures a log."""

    def judge(self, check: LogCheck, tolerances: Tolerances) -> Finding:
        if check.noise > NOISY:
            where, size = check.noisiest
            figures = {"where": where, "size": size, "share": check.noise, "window": check.window}
            why = because(Code.LOG_NOISE, **figures, most=NOISY)
            return replace(Finding.not_judged(why), quantity="noise", where=where)
        if check.unmeasured:
            return replace(Finding.not_judged(because(Code.LOG_EFFORT_ZERO)), quantity="effort")
        explanation = check.explanation
        figures = {"share": check.share, "window": check.window, "span": check.span}
        why = because(Code.LOG_RESIDUALS, **figures, of=explanation, where=check.worst)
        if explanation.causes:
            first = explanation.causes[0]
            return Finding.outside(why, quantity=first.quantity, where=first.where, size=first.size)
        if check.beyond > UNKNOWN:
            return Finding.outside(why, where=check.worst, size=check.beyond)
        if check.whole > UNKNOWN and check.efforts > NOISY:
            noise = because(Code.LOG_EFFORT_NOISE, share=check.efforts)
            return replace(Finding.not_judged(why, noise), quantity="noise")
        return unless_few(Finding.within(), check.judged, check.windows, "windows")

    def rows(self, check: LogCheck) -> Rows:
        return {
            "residuals": Entry(check.share, form=".3%"),
            "after the causes": Entry(check.left, form=".3%"),
            "noise": Entry(check.noise, form=".2%"),
            "steps of a window": Entry(check.window),
            "scheme": Entry(check.scheme),
        }
