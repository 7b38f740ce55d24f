"""Level 3 of a chaotic motion: means over seeds, engine against reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from roboaccord.assembly import Setup
from roboaccord.metrics import UNITS
from roboaccord.scenario import StatisticsSpec
from roboaccord.statistics import difference_of
from roboaccord.sweep import Cell, sweep

WHY = (
    "The motion is chaotic: trajectories part whatever the step, and impacts on stops end in "
    "different velocities wherever stops differ. So levels 2 and 3 give way to means over seeds."
)


@dataclass(frozen=True)
class StatisticsCheck:
    """Hold the mean of a figure over seeds in one engine, beside the reference's.

    Args:
        figure: its name.
        unit: of the figure.
        n, mean, deviation, half_width, positive: as in `Statistics`.
        difference: 95 % confidence interval of engine - reference (Welch); None for the
            reference itself, and where there are too few runs.
        allowance: what the difference may be.
        failures: by seed, why there is no value.
    """

    figure: str
    unit: str
    n: int
    mean: float
    deviation: float
    half_width: float
    positive: float
    difference: tuple[float, float] | None
    allowance: float
    failures: dict[str, str]


def check_statistics(
    setup: Setup,
    spec: StatisticsSpec,
    engines: Sequence[str],
    mass_scale: Mapping[str, Mapping[str, float]],
    done: Callable[[str, float, int], None],
) -> dict[str, StatisticsCheck]:
    """Run every engine from `spec.seeds` seeds, and compare each to the first, the reference."""
    cells = sweep(
        setup,
        figure=spec.figure,
        engines=engines,
        seeds=spec.seeds,
        mass_scale=mass_scale,
        done=done,
    )
    return {cell.engine: compare_cells(cells[0], cell, spec) for cell in cells}


def compare_cells(reference: Cell, cell: Cell, spec: StatisticsSpec) -> StatisticsCheck:
    """Compare the runs of one engine to the reference's."""
    own, other = cell.statistics, reference.statistics
    difference = None
    if cell is not reference and min(own.n, other.n) > 1:
        difference = difference_of(own, other)
    return StatisticsCheck(
        figure=spec.figure,
        unit=UNITS.get(spec.figure, ""),
        **asdict(own),
        difference=difference,
        allowance=spec.allowance,
        failures={str(seed): reason for seed, reason in cell.failures.items()},
    )


def judge_statistics(check: StatisticsCheck) -> str:
    """Return why the means cannot be the same but for the allowance, or nothing.

    Runs without a value count against an engine: it must give one for every seed.
    """
    if check.failures:
        return f"{len(check.failures)} runs have no {check.figure}: " + next(
            f"seed {seed}: {reason}" for seed, reason in check.failures.items()
        )
    if check.difference is None:
        return ""
    low, high = check.difference
    if low <= check.allowance and high >= -check.allowance:
        return ""
    return (
        f"mean {check.figure} differs from the reference's by {low:.3g} to {high:.3g} "
        f"{check.unit}".rstrip()
        + f" with 95 % confidence, allowed {check.allowance:g}"
    )


def statistics_data(checks: Mapping[str, StatisticsCheck]) -> dict[str, Any]:
    """Return the checks as plain data."""
    return {engine: asdict(check) for engine, check in checks.items()}
