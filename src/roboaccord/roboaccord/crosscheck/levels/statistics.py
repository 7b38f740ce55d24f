"""Level `statistics`: medians of a figure over seeds, in place of chaotic trajectories.

A chaotic motion cannot be compared state by state. The scenario therefore names a figure (a number
that sums up a run, such as the distance travelled), and engine and reference (the analytical model)
run from many seeds (samples.py). Their medians may differ by an allowance and by what the physics
step changes; the share of runs in which the figure is above 0 may differ by chance.

`compare_cells` compares the runs of an engine with the reference's, and `judge_seeds` judges them;
a cell holds the runs of one simulator at one physics step (run/sweep.py). MAX_IMPRECISION may be
tuned: with too few seeds the verdict stays open. The fields of `StatisticsCheck` are keys of
`--json` and stay; those of `Statistics`, which it extends, are median, mean and spread of a figure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from roboaccord.contract.outcome import Code, Finding, Outcome, because
from roboaccord.contract.results import LEFT_OUT
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.level_context import NO_CONTEXT, LevelContext, judge_by_twin
from roboaccord.engines import REFERENCE
from roboaccord.numerics import statistics
from roboaccord.numerics.statistics import CONFIDENCE, Statistics
from roboaccord.run import UNITS, Cell
from roboaccord.scenario.scenario import StatisticsSpec, Tolerances

# Largest imprecision of a difference of medians that is judged, relative to the reference's median:
# most runs of an engine that passes then go in the same direction, and at least half as far.
MAX_IMPRECISION = 0.5


@dataclass(frozen=True, kw_only=True)
class StatisticsCheck(Statistics):
    """Statistics of a figure over seeds in one engine, beside the reference's.

    Args:
        figure: its name.
        unit: of the figure.
        difference: 95 % confidence interval of the difference from the reference's median
            (bootstrap); None for the reference itself, and with too few runs.
        share_probability: probability of chance alone making the shares of runs above 0 differ as
            much; None as above.
        by_step: effect of the physics step on the median: its change from twice the step to the
            step; where the control period does not allow that, twice the change from the step to
            half of it.
        allowance: largest allowed difference of medians: the scenario's, and the effects of the
            step in engine and reference.
        unsettled: imprecision of the difference (allowance plus half the interval) where it is too
            large to judge by; else 0.
        failures: reason why a run has no value, by seed.
        diverged: whether one of these runs diverged to infinity.
        loop: smallest real part of an eigenvalue of the sampled control loop, from
            `linearise_loop` of samples.py: below -1 joints oscillate with growing amplitude, up to
            their stops. None where it is not known.
        context: checks of other levels on which the judgement depends.
    """

    figure: str
    unit: str
    difference: tuple[float, float] | None
    share_probability: float | None
    by_step: float | None
    allowance: float
    unsettled: float
    failures: dict[str, str]
    diverged: bool = field(default=False, metadata=LEFT_OUT)
    loop: float | None = None
    context: LevelContext = field(default=NO_CONTEXT, metadata=LEFT_OUT)

    @property
    def drives_to_stops(self) -> bool:
        """Whether the control loop drives joints from stop to stop, and no run diverges."""
        return self.loop is not None and self.loop < -1.0 and not self.diverged


class StatisticsLevel(Level[StatisticsCheck]):
    """Judge statistics over seeds: medians by the allowance, and shares above 0 by chance.

    Where the control loop drives joints from stop to stop, the engine's own law of stops decides
    the figure, and a difference is not judged.
    """

    name = "statistics"
    title = "Level 3: statistics over seeds"
    of_reference = True

    def measure(self, case: CheckCase) -> StatisticsCheck | None:
        """Compare the figure of all seeds with the reference's; None without such a figure."""
        samples, spec = case.samples, case.setup.scenario.crosscheck.statistics
        if samples is None or spec is None:
            return None
        pair = samples.cells[REFERENCE], samples.cells[case.name]
        check = compare_cells(*pair, spec, samples.by_step)
        return replace(check, loop=samples.loop, context=LevelContext.of(case))

    def judge(self, check: StatisticsCheck, tolerances: Tolerances) -> Finding:
        """Return the outcome by the seeds; where stops decide the figure, by the twin."""
        finding = judge_seeds(check)
        twin, follows_commands, _ = check.context
        is_undecided = finding.outcome == Outcome.NOT_JUDGED
        if twin and follows_commands and check.drives_to_stops and is_undecided:
            return judge_by_twin(finding, twin)  # statistics decide nothing there, ticks do
        return finding

    def rows(self, check: StatisticsCheck) -> Rows:
        """Return mean, median and spread of the figure, and the difference that is allowed."""
        spread, interval = check.half_width, check.difference
        mean = f"{check.mean:.3g} ± {spread:.2g}" if math.isfinite(spread) else None
        low_high = None if interval is None else f"{interval[0]:.2g} to {interval[1]:.2g}"
        return {
            f"mean {check.figure.replace('_', ' ')}": Entry(mean, check.unit),
            "median": Entry(check.median, check.unit),
            "standard deviation": Entry(check.deviation, check.unit, ".2g"),
            "runs": Entry(check.n),
            "above 0": Entry(check.positive, form=".0%"),
            "difference from the reference": Entry(low_high, check.unit),
            "allowed": Entry(None if interval is None else check.allowance, check.unit, ".2g"),
        }


def judge_seeds(check: StatisticsCheck) -> Finding:
    """Judge statistics by themselves, without the checks of other levels.

    Where joints are driven from stop to stop, a figure that is outside is not judged.
    """
    finding = _judge_figure(check)
    if finding.outcome != Outcome.OUTSIDE or not check.drives_to_stops:
        return finding
    return Finding.not_judged(*finding.reasons, because(Code.THROWN, loop=check.loop))


def _judge_figure(check: StatisticsCheck) -> Finding:
    """Judge a figure by its values, shares above 0 and medians, in that order.

    An engine must give a value for every seed. A run that diverges decides nothing: its physics
    step may be the reason.
    """
    figures = {"figure": check.figure, "unit": check.unit}
    if check.failures:
        seed, reason = next(iter(check.failures.items()))
        first_failure = {"runs": len(check.failures), "seed": seed, "text": reason}
        why = because(Code.NO_FIGURE, **figures, **first_failure)
        if check.diverged:
            return Finding.not_judged(why)
        return Finding.outside(why, quantity=check.figure)
    if check.difference is None:
        return Finding.not_judged(because(Code.FEW_RUNS, **figures))
    probability = check.share_probability
    if probability is not None and probability < 1.0 - CONFIDENCE:
        why = because(Code.SHARES, **figures, positive=check.positive, probability=probability)
        return Finding.outside(why, quantity=check.figure)
    if check.unsettled:
        return Finding.not_judged(because(Code.UNSETTLED, **figures, precision=check.unsettled))
    # The interval of the difference must overlap what is allowed.
    low, high = check.difference
    if not math.isfinite(check.allowance):
        return Finding.not_judged(because(Code.NO_FIGURE_AT_STEP, **figures))
    if low <= check.allowance and high >= -check.allowance:
        return Finding.within()
    why = because(Code.MEDIANS, **figures, low=low, high=high, allowed=check.allowance)
    return Finding.outside(why, quantity=check.figure, size=check.difference[0])


def compare_cells(
    reference: Cell, cell: Cell, spec: StatisticsSpec, by_step: Mapping[str, float]
) -> StatisticsCheck:
    """Compare the runs of one engine with the reference's.

    The error of a first-order scheme, as all are through impacts, is the change of the figure from
    twice the step to the step (Richardson). So medians may differ by the changes of both. A seed
    that has no value in the reference, as in a run shorter than a cycle, needs none in the engine.

    Args:
        reference, cell: runs of the reference and of the engine.
        spec: figure and allowance of the scenario.
        by_step: change of the median with the physics step, by engine (samples.py).
    """
    allowance = spec.allowance + sum(abs(by_step.get(c.engine, 0.0)) for c in (cell, reference))
    difference, probability, unsettled = None, None, 0.0
    if cell is not reference and min(cell.statistics.n, reference.statistics.n) > 1:
        values, expected = list(cell.values.values()), list(reference.values.values())
        difference = statistics.median_difference(values, expected)
        probability = statistics.share_probability(values, expected)
        imprecision = allowance + 0.5 * (difference[1] - difference[0])
        if imprecision > MAX_IMPRECISION * abs(reference.statistics.median):
            unsettled = imprecision
    return StatisticsCheck(
        **asdict(cell.statistics),
        figure=spec.figure,
        unit=UNITS.get(spec.figure, ""),
        difference=difference,
        share_probability=probability,
        by_step=by_step.get(cell.engine),
        allowance=allowance,
        unsettled=unsettled,
        failures={str(s): why for s, why in cell.failures.items() if s in reference.values},
        diverged=cell.diverged,
    )
