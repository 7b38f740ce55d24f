"""Level 3 of a chaotic motion: statistics over seeds, engine against reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from roboaccord.contract.interfaces import Engine
from roboaccord.contract.results import LEFT_OUT
from roboaccord.crosscheck.runs import statistics_steps
from roboaccord.numerics.statistics import median_difference, share_probability
from roboaccord.run.metrics import UNITS
from roboaccord.run.sweep import Cell, sweep
from roboaccord.scenario.scenario import StatisticsSpec
from roboaccord.scenario.setup import Setup

WHY = (
    "The motion is chaotic: trajectories part whatever the step, and impacts on stops end in "
    "different velocities wherever stops differ. So level 3 gives way to statistics over seeds."
)

# A difference must be known to this part of the reference's median: then most runs of an engine
# that passes go the same way, and at least half as far.
KNOWN = 0.5


@dataclass(frozen=True)
class StatisticsCheck:
    """Hold the statistics of a figure over seeds in one engine, beside the reference's.

    Args:
        figure: its name.
        unit: of the figure.
        n, mean, median, deviation, half_width, positive: as in `Statistics`.
        difference: 95 % confidence interval of median - reference's (bootstrap); None for the
            reference itself, and where there are too few runs.
        share_probability: of shares above 0 at least as unlike by chance; None as above.
        by_step: change of the median from twice the physics step to the step, or twice that from
            the step to half of it where the control period allows no more.
        allowance: what the difference may be.
        unsettled: the precision of the difference, allowance and half the interval, where it is
            too poor to judge by; else 0.
        failures: by seed, why there is no value.
        diverged: whether one of them is a motion that left the finite numbers.
    """

    figure: str
    unit: str
    n: int
    mean: float
    median: float
    deviation: float
    half_width: float
    positive: float
    difference: tuple[float, float] | None
    share_probability: float | None
    by_step: float | None
    allowance: float
    unsettled: float
    failures: dict[str, str]
    diverged: bool = field(default=False, metadata=LEFT_OUT)


def check_statistics(
    setup: Setup,
    spec: StatisticsSpec,
    engines: Sequence[Engine],
    done: Callable[[str, float, int], None],
) -> dict[str, StatisticsCheck]:
    """Run every engine from `spec.seeds` seeds, and compare each to the first, the reference.

    At the scenario's physics step, and at twice or half of it to see what the step does.
    """
    steps = statistics_steps(setup)
    cells = sweep(
        setup,
        figure=spec.figure,
        engines=engines,
        physics_steps=steps,
        seeds=spec.seeds,
        done=done,
    )
    own, others = cells[::2], cells[1::2]
    ratio = steps[0] / (steps[1] - steps[0])  # a scheme of first order
    by_step = {
        cell.engine: ratio * (cell.statistics.median - other.statistics.median)
        for cell, other in zip(own, others, strict=True)
    }
    return {cell.engine: compare_cells(own[0], cell, spec, by_step) for cell in own}


def compare_cells(
    reference: Cell, cell: Cell, spec: StatisticsSpec, by_step: Mapping[str, float]
) -> StatisticsCheck:
    """Compare the runs of one engine to the reference's.

    A scheme of first order, as all are through impacts, has at a step the error by which the
    figure moves from twice that step (Richardson). So medians may differ by what both move.
    """
    own, other = cell.statistics, reference.statistics
    moves = [abs(by_step.get(c.engine, 0.0)) for c in (cell, reference)]
    allowance = spec.allowance + sum(moves)
    difference, probability, unsettled = None, None, 0.0
    values, others = list(cell.values.values()), list(reference.values.values())
    if cell is not reference and min(own.n, other.n) > 1:
        low, high = difference = median_difference(values, others)
        probability = share_probability(values, others)
        precision = allowance + 0.5 * (high - low)
        unsettled = precision if precision > KNOWN * abs(other.median) else 0.0
    return StatisticsCheck(
        figure=spec.figure,
        unit=UNITS.get(spec.figure, ""),
        **asdict(own),
        difference=difference,
        share_probability=probability,
        by_step=by_step.get(cell.engine),
        allowance=allowance,
        unsettled=unsettled,
        failures={str(seed): reason for seed, reason in cell.failures.items()},
        diverged=cell.diverged,
    )
