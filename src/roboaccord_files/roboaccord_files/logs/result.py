"""The result of the check of a log, and the verdict on it.

`LogCheck` has what was measured: noise, residuals, causes. `LogLevel` judges it. Shares are rms
values over the effect of the efforts on the positions within a window, of the joint where they are
largest. Fields are keys of `--json` and of summary.json, in the order of `document`, and stay.
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
from roboaccord_files.logs.efforts import ChosenReading
from roboaccord_files.logs.problem import FAILING, MAX_NOISE


@dataclass(frozen=True)
class LogCheck:
    """What is measured of a log.

    Args:
        window: steps of a window.
        period: time of a step [s].
        noise: share of the noise of the positions.
        noisiest: the joint where it is largest, and its noise [rad or m].
        columns: what was read from which column, by key such as `q/elbow`.
        notes: remarks on how the log was read.
        share: share of the residuals that the integration scheme leaves, without any cause.
        left: share of the residuals that scheme and named causes leave.
        beyond: root of the squares of `left` less those of `noise_share`.
        worst: joint with the largest residuals beyond noise.
        beyond_positions: root of the squares of `left` less those of the noise of positions alone.
        noise_share: share of the noise of positions and efforts together.
        scheme: integration scheme that fits, "" if none is clear.
        judged, windows: number of windows that are judged, and of all.
        explanation: the causes of the residuals.
        taken: what the efforts were taken for.
        span: shortest span with half of the squared residuals of `worst` [s].
        unmeasured: whether all efforts are 0 although the motion needs some.
        motion: which parameters of the robot the motion can show.
        capped: share of the samples in which a joint moves at its largest rate, by joint.
        delay: how late efforts act that are commands [s].
    """

    window: int
    period: float
    noise: float
    noisiest: tuple[str, float]
    columns: Mapping[str, str]
    notes: Sequence[str]
    share: float = np.nan
    left: float = np.nan
    beyond: float = 0.0
    worst: str = ""
    beyond_positions: float = 0.0
    noise_share: float = 0.0
    scheme: str = ""
    judged: int = 0
    windows: int = 0
    explanation: Explanation = field(default_factory=Explanation)
    taken: ChosenReading | None = None
    span: tuple[float, float] = (0.0, 0.0)
    unmeasured: bool = False
    motion: Identified | None = None
    capped: Mapping[str, float] = field(default_factory=dict)
    delay: float = np.nan

    def document(self, report: Report) -> dict[str, Json]:
        """Return what `--json` prints: verdict and levels of the report, and these figures."""
        explanation = self.explanation
        data: dict[str, Any] = {
            "verdict": report.verdict,
            "levels": report.levels,
            "causes": explanation.causes,
            **({"effort": self.taken.document()} if self.taken else {}),
            "instead": explanation.instead,
            "most": () if explanation.causes else explanation.most,
        }
        for name in "window period noise share left scheme delay motion columns notes".split():
            data[name] = getattr(self, name)
        return {name: to_json(value) for name, value in data.items()}


class LogLevel(LevelOf[Any, LogCheck]):
    """Judge the residuals of a log by the equations of its robot's file."""

    name = "one_step"
    title = "One step: windows of a log"

    def measure(self, case: Any) -> None:
        """Return nothing: check.py measures a log."""

    def judge(self, check: LogCheck, tolerances: Tolerances) -> Finding:
        """Return whether the residuals are within the noise, outside, or cannot be judged."""
        # Not judged: too much noise, or no efforts.
        if check.noise > MAX_NOISE:
            where, size = check.noisiest
            figures = {"where": where, "size": size, "share": check.noise, "window": check.window}
            why = because(Code.LOG_NOISE, **figures, most=MAX_NOISE)
            return replace(Finding.not_judged(why), quantity="noise", where=where)
        if check.unmeasured:
            return replace(Finding.not_judged(because(Code.LOG_EFFORT_ZERO)), quantity="effort")
        explanation = check.explanation
        figures = {"share": check.share, "window": check.window, "span": check.span}
        why = because(Code.LOG_RESIDUALS, **figures, of=explanation, where=check.worst)
        # Outside: a cause is named, or residuals exceed the noise without one.
        if explanation.causes:
            first = explanation.causes[0]
            return Finding.outside(why, quantity=first.quantity, where=first.where, size=first.size)
        if check.beyond > FAILING:
            return Finding.outside(why, where=check.worst, size=check.beyond)
        # Not judged: the residuals may be noise of the efforts.
        if check.beyond_positions > FAILING and check.noise_share > MAX_NOISE:
            noise = because(Code.LOG_EFFORT_NOISE, share=check.noise_share)
            return replace(Finding.not_judged(why, noise), quantity="noise")
        return unless_few(Finding.within(), check.judged, check.windows, "windows")

    def rows(self, check: LogCheck) -> Rows:
        """Return the rows of the report's table, by their labels."""
        return {
            "residuals": Entry(check.share, form=".3%"),
            "after the causes": Entry(check.left, form=".3%"),
            "noise": Entry(check.noise, form=".2%"),
            "steps of a window": Entry(check.window),
            "scheme": Entry(check.scheme),
        }
