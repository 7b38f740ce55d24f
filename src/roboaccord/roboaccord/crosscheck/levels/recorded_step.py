"""Level `one_step` of one run, from its bag or while it goes on: it has a single physics step.

Fields of `RecordedStep` are keys of `--json` and of the live verdict: they stay. COARSE and FALLING
may be tuned. The control periods are compared in step_check.py, one by one as they come.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from roboaccord.contract.outcome import Code, Finding, Outcome, Reason, because, unless_few
from roboaccord.contract.results import LEFT_OUT, Json, Quantity, by_fields, to_json
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.levels.one_step import Rates, judge_rates
from roboaccord.crosscheck.motion import CheckCase
from roboaccord.scenario.scenario import Allowance, Tolerances

COARSE = 0.1  # share of the change: where time stepping explains more, too much could hide
FALLING = 9.81  # rad/s^2; of a link of 1 m, whose tolerance at level 1 is the floor of a rest


@dataclass(frozen=True)
class RecordedStep:
    """Hold the comparison of a run's control periods with the reference's.

    Args:
        ticks: number of control periods; of a run that goes on, by now.
        compared: of these.
        left_out: with an event (impact, stop, switch), which no scheme places inside a step, or
            from a state that the reference cannot take, as beside its terrain.
        skipped: of which a sample is missing.
        delay: control periods by which efforts act late.
        rms, max: error of the joints' rates, or without joints of the base's turning.
        relative: rms error, less that of the engine's twin, over the rms change of the rates, of
            the joints or of the base's turning, whichever exceeds what is allowed by more.
        allowed: of that.
        rates: both, the one that exceeds it by more first.
        tolerance: share of the change that is allowed beside what time stepping explains.
        largest: rms error of any rate [rad/s], beside the twin's.
        least: share of the change that time stepping explains, where that is less.
        period: of control [s].
        refused: why the reference cannot take a state, the first time.
    """

    ticks: int
    compared: int
    left_out: int
    skipped: int
    delay: int
    rms: Annotated[float, Quantity("rad/s", "rms error of a control period")]
    max: Annotated[float, Quantity("rad/s", "largest error of a control period")]
    relative: Annotated[float, Quantity("1", "share of the change")]
    allowed: Annotated[float, Quantity("1", "share of the change that is allowed")]
    rates: tuple[Rates, ...] = field(default=(), metadata=LEFT_OUT)
    tolerance: float | Allowance = field(default=0.0, metadata=LEFT_OUT)
    largest: float = field(default=0.0, metadata=LEFT_OUT)
    least: float = field(default=0.0, metadata=LEFT_OUT)
    period: float = field(default=0.0, metadata=LEFT_OUT)
    refused: Reason | None = field(default=None, metadata=LEFT_OUT)

    def document(self, report: Any) -> dict[str, Json]:
        """Return the figures that `--json` prints of its report."""
        found, levels = report.finding, report.levels
        data = {"outcome": found.outcome, "reason": found.reason, **by_fields(self)}
        if {"drive", "scheme"} & set(levels):
            resolution = [each for found in report.resolution.values() for each in found]
            data |= {"levels": levels, "resolution": resolution}
        return {key: to_json(value) for key, value in data.items()}


class RecordedStepLevel(Level[RecordedStep]):
    """Judge beside what time stepping explains, which the reference's accelerations show."""

    name = "one_step"
    title = "Level 2: one step"

    def measure(self, case: CheckCase) -> None:
        """Return nothing: control periods are compared one by one, in step_check.py."""

    def judge(self, check: RecordedStep, tolerances: Tolerances) -> Finding:
        return self._judge(check, tolerances).also(*[check.refused] if check.refused else [])

    def _judge(self, check: RecordedStep, tolerances: Tolerances) -> Finding:
        if not check.compared:
            return Finding.not_judged(because(Code.NO_STEP))
        below = check.largest <= tolerances.acceleration * FALLING * check.period
        found = judge_rates(check.tolerance, check.rates, below=below)
        if found == Finding(Outcome.WITHIN) and check.least > COARSE:
            found = Finding.not_judged(because(Code.STEPPING_HIDES, share=check.least))
        return unless_few(found, check.compared, check.ticks)

    def rows(self, check: RecordedStep) -> Rows:
        return {
            "rms": Entry(check.rms, "rad/s", ".2e"),
            "largest": Entry(check.max, "rad/s", ".2e"),
            "share of the change": Entry(check.relative, form=".2%"),
            "allowed": Entry(check.allowed, form=".2%"),
            "ticks": Entry(check.compared),
        }
