"""Level `one_step` of a single run, from a bag or live, which has one physics step.

The reference (the analytical model), put in each recorded state, predicts the next one. Since
errors at smaller physics steps are not known, what time stepping explains is estimated from the
reference's accelerations (period_reference.py). Control periods (ticks) are compared in
step_check.py, one after the other, and summed up as a `RecordedStep`; here the sums are judged, by
`judge_rates` of one_step.py, as those of a fresh run.

MAX_EXPLAINED_SHARE and FALLING_ACCELERATION may be tuned. Fields of `RecordedStep` are keys of
`--json` and of the live verdict, and stay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from roboaccord.contract.outcome import Code, Finding, Outcome, Reason, because, unless_few
from roboaccord.contract.results import LEFT_OUT, Json, Quantity, by_fields, to_json
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.levels.one_step import Rates, judge_rates
from roboaccord.scenario.scenario import Allowance, Tolerances

# Share of the change of rates that time stepping may explain: where it is more than a tenth, an
# error could hide, and nothing is judged.
MAX_EXPLAINED_SHARE = 0.1
# Acceleration of a falling link of 1 m, g / (1 m) [rad/s^2]: scales the error allowed at rest.
FALLING_ACCELERATION = 9.81


@dataclass(frozen=True)
class RecordedStep:
    """Comparison of a run's control periods with the reference's.

    Args:
        ticks: number of control periods; of a live run, so far.
        compared: number of those that were compared.
        left_out: number of those with an event (impact, stop, switch), which no scheme places
            within a step, or from a state that the reference refuses, such as off its terrain.
        skipped: number of those with a sample missing.
        delay: control periods by which efforts act late.
        rms, max: error of the joints' rates; without joints, of the base's turning.
        relative: rms error, less that of the engine's twin, over the rms change of the rates: of
            the joints or of the base's turning, whichever exceeds what is allowed by more.
        allowed: largest `relative` that is allowed.
        rates: joints and base, the one that exceeds what is allowed by more first.
        tolerance: share of the change that is allowed beyond what time stepping explains.
        largest: rms error of any rate, less the twin's [rad/s].
        least: share of the change that time stepping explains, of joints or base, the smaller.
        period: control period [s].
        refused: why the reference refused a state, the first time; None if it refused none.
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
        """Return the figures that `--json` prints for a report of one run."""
        finding, levels = report.finding, report.levels
        data = {"outcome": finding.outcome, "reason": finding.reason, **by_fields(self)}
        if {"drive", "scheme"} & set(levels):
            resolution = [error for errors in report.resolution.values() for error in errors]
            data |= {"levels": levels, "resolution": resolution}
        return {key: to_json(value) for key, value in data.items()}


class RecordedStepLevel(Level[RecordedStep]):
    """Judge errors beyond what time stepping explains by the reference's accelerations."""

    name = "one_step"
    title = "Level 2: one step"

    def measure(self, case: CheckCase) -> None:
        """Return nothing: control periods are compared one by one, in step_check.py."""

    def judge(self, check: RecordedStep, tolerances: Tolerances) -> Finding:
        """Return the outcome, with the reason why the reference refused a state, if it did."""
        return self._judge(check, tolerances).also(*[check.refused] if check.refused else [])

    def _judge(self, check: RecordedStep, tolerances: Tolerances) -> Finding:
        """Return the outcome by the errors of the compared control periods."""
        if not check.compared:
            return Finding.not_judged(because(Code.NO_STEP))
        # Errors of a run at rest: below what level 1 allows of a falling link.
        is_below = check.largest <= tolerances.acceleration * FALLING_ACCELERATION * check.period
        finding = judge_rates(check.tolerance, check.rates, below=is_below)
        if finding == Finding(Outcome.WITHIN) and check.least > MAX_EXPLAINED_SHARE:
            finding = Finding.not_judged(because(Code.STEPPING_HIDES, share=check.least))
        return unless_few(finding, check.compared, check.ticks)

    def rows(self, check: RecordedStep) -> Rows:
        """Return the errors, their share of the change of rates, and what is allowed."""
        return {
            "rms": Entry(check.rms, "rad/s", ".2e"),
            "largest": Entry(check.max, "rad/s", ".2e"),
            "share of the change": Entry(check.relative, form=".2%"),
            "allowed": Entry(check.allowed, form=".2%"),
            "ticks": Entry(check.compared),
        }
