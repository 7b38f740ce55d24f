"""The tables of a report: what was measured, what is allowed, and whether it is within."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from roboaccord.contract.outcome import BELOW, Finding
from roboaccord.contract.results import unit_of
from roboaccord.crosscheck.acceleration import AccelerationCheck
from roboaccord.crosscheck.chaotic import StatisticsCheck
from roboaccord.crosscheck.convergence import ConvergenceCheck
from roboaccord.crosscheck.models import ModelCheck
from roboaccord.crosscheck.noise import Noise
from roboaccord.crosscheck.one_step import OneStepCheck
from roboaccord.crosscheck.report import Report
from roboaccord.run.metrics import UNITS
from roboaccord.scenario.scenario import Allowance, Tolerances, limit_of

LISTED = 6  # differences of a model that a table names
NONE = "–"
METRE = unit_of(ConvergenceCheck, "error")


class Row(NamedTuple):
    """Hold engine, cells, and the outcome of the level; "" for the reference, not judged."""

    engine: str
    cells: Sequence[str]
    outcome: str = ""


class Table(NamedTuple):
    """Hold one table of the check, and how to read it."""

    title: str
    how: str
    columns: Sequence[str]
    rows: Sequence[Row]


def tables_of(report: Report) -> list[Table]:
    """Return the tables of the models, of the levels and of the noise."""
    if report.statistics:
        return [*_models(report), _statistics(report), _noise(report)]
    return [*_models(report), _one_steps(report), _trajectories(report), _noise(report)]


def number(value: float | None, form: str = "g", none: str = NONE) -> str:
    """Return a number as text, `none` where there is none."""
    return none if value is None or not math.isfinite(value) else f"{value:{form}}"


def _outcome(findings: Mapping[str, Finding], engine: str) -> str:
    return findings[engine].outcome if engine in findings else ""


def _models(report: Report) -> list[Table]:
    found = report.levels.acceleration
    return [
        Table(
            "Level 1: accelerations",
            "Both are put in the same random states and asked for accelerations; no time passes, "
            "so anything above round-off is a difference between the models.",
            ("engine", "largest error, relative", "states", "allowed"),
            [
                Row(engine, _acceleration(check, report.tolerances), _outcome(found, engine))
                for engine, check in report.acceleration.items()
            ],
        ),
        Table(
            "Level 1: models",
            "What each engine has of masses, centres, inertias, lengths, axes, limits, damping and "
            "armature, compared with the description, and states that are set and read back.",
            (
                "engine",
                f"total [{unit_of(ModelCheck, 'total')}]",
                f"reference [{unit_of(ModelCheck, 'reference')}]",
                "off",
            ),
            [
                Row(engine, _model(check), _outcome(found, engine))
                for engine, check in report.masses.items()
            ],
        ),
    ]


def _one_steps(report: Report) -> Table:
    return Table(
        "Level 2: one step",
        "The reference starts from every recorded state and predicts the next one. The error "
        "does not accumulate, so it shows where in the motion the engines part. A difference "
        "of the models stays when the physics step gets smaller; an integrator's error falls.",
        (
            "engine",
            "rms",
            "largest",
            "share of the change",
            "order",
            "left at 0",
            "explained",
            "allowed",
        ),
        [
            Row(
                engine,
                _one_step(check, report.tolerances),
                _outcome(report.levels.one_step, engine),
            )
            for engine, check in report.one_step.items()
        ],
    )


def _trajectories(report: Report) -> Table:
    runs = report.trajectory
    steps = next(iter(runs.values())).dt if runs else ()
    milli = f"m{unit_of(ConvergenceCheck, 'dt')}"
    return Table(
        "Level 3: whole trajectories",
        "Largest distance of any link from the converged reference, at smaller and smaller "
        "physics steps. Halving the step must divide it by 2 to the power of the order. Every "
        "coordinate is extrapolated to a step of 0: what is left there must be explained by "
        "the step (twice the difference of two extrapolations), round-off and the reference's "
        "own error.",
        (
            "engine",
            *(f"{1e3 * dt:g} {milli}" for dt in steps),
            "order",
            "expected",
            "left at 0",
            "explained",
            "of",
            "allowed",
        ),
        [
            Row(
                engine,
                _trajectory(check, report.tolerances, engine),
                _outcome(report.levels.trajectory, engine),
            )
            for engine, check in runs.items()
        ],
    )


def _noise(report: Report) -> Table:
    rate, second = unit_of(Noise, "rate"), unit_of(Noise, "horizon")
    return Table(
        "Noise floor and horizon",
        "Each simulator runs once more, and from a start of which one value has its last bit "
        "changed. The floor is the largest distance of any link that this makes; where it comes to "
        "1 mm, no two runs agree any longer. The rate is that at which small distances grow.",
        ("engine", "floor", "rate", "agree until"),
        [
            Row(
                engine,
                [
                    _milli(found.floor, "2g"),
                    NONE if found.rate is None else f"{found.rate:.2g} {rate}",
                    "the end" if found.horizon is None else f"t = {found.horizon:.4g} {second}",
                ],
            )
            for engine, found in report.noise.items()
        ],
    )


def _statistics(report: Report) -> Table:
    first = next(iter(report.statistics.values()))
    unit = f" [{first.unit}]" if first.unit else ""
    return Table(
        "Level 3: statistics over seeds",
        f"{report.not_compared} The difference of the medians is given with 95 % confidence "
        "(bootstrap); an engine fails where it is larger than allowed throughout, or where the "
        "share above 0 is unlike the reference's (Fisher, 5 %). Allowed is what both medians "
        "move from twice the physics step to the step.",
        (
            "engine",
            f"mean {first.figure.replace('_', ' ')}{unit}",
            "median",
            "standard deviation",
            "runs",
            "above 0",
            "difference from the reference",
            "allowed",
        ),
        [
            Row(engine, statistics_cells(check), _outcome(report.levels.statistics, engine))
            for engine, check in report.statistics.items()
        ],
    )


def statistics_cells(check: StatisticsCheck) -> list[str]:
    """Return mean, median, deviation, runs, share above 0, difference and allowance as text."""
    positive, apart = number(100 * check.positive, ".0f"), check.difference
    spread = number(check.half_width, ".2g")
    return [
        NONE if spread == NONE else f"{check.mean:.3g} ± {spread}",
        number(check.median, ".3g"),
        number(check.deviation, ".2g"),
        str(check.n),
        positive if positive == NONE else f"{positive} %",
        NONE if apart is None else f"{apart[0]:.2g} to {apart[1]:.2g}",
        "" if apart is None else f"{check.allowance:.2g}",
    ]


def metric_rows(metrics: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    """Return rows name, unit, and a cell for each engine, with its difference to the first."""
    engines = list(metrics)
    names = dict.fromkeys(name for values in metrics.values() for name in values)
    rows = []
    for name in names:
        first = metrics[engines[0]].get(name, math.nan)
        cells = []
        for engine in engines:
            value = metrics[engine].get(name, math.nan)
            apart = ""
            if engine != engines[0] and first and math.isfinite(first) and math.isfinite(value):
                apart = f" ({100 * (value / first - 1):+.2g} %)"
            cells.append(number(value, ".5g") + apart)
        rows.append([name.replace("_", " "), UNITS.get(name, ""), *cells])
    return rows


def tolerance_rows(tolerances: Tolerances) -> list[tuple[str, str]]:
    """Return name and value of each tolerance, of trajectories by engine."""
    rows = [
        (name.replace("_", " "), f"{value:g}")
        for name, value in dict(tolerances).items()
        if isinstance(value, float)
    ]
    rows += [
        (f"trajectory of {engine}", f"{limit_of(limit):g} {METRE}")
        for engine, limit in tolerances.trajectory.items()
    ]
    return rows


def _milli(metres: float, form: str) -> str:
    return f"{number(1e3 * metres, f'.{form}')} m{METRE}"


def _acceleration(check: AccelerationCheck, allowed: Tolerances) -> list[str]:
    if check.max is None:
        return [f"not compared: {check.reason}", "", ""]
    return [number(check.max, ".1e"), str(check.states), number(allowed.acceleration)]


def _model(check: ModelCheck) -> list[str]:
    off = [" ".join((d.quantity, d.where, d.text)) for d in check.differences]
    listed = "; ".join(off[:LISTED]) + (f"; and {len(off) - LISTED} more" * (len(off) > LISTED))
    return [f"{check.total:.6g}", f"{check.reference:.6g}", listed or "nothing"]


def _one_step(check: OneStepCheck, allowed: Tolerances) -> list[str]:
    unit, share = unit_of(OneStepCheck, "rms"), limit_of(allowed.one_step)
    loose = isinstance(allowed.one_step, Allowance)
    either = "" if loose else f", or order {1 - allowed.one_step_order:g}"
    return [
        f"{number(check.rms, '.2e')} {unit}",
        f"{number(check.max, '.2e')} {unit}",
        f"{100 * check.relative:.2g} %",
        BELOW if check.rms <= check.floor else number(check.order, ".2f"),
        number(check.left, ".2e"),
        number(check.bound, ".2e"),
        f"{100 * share:g} %{either}",
    ]


def _trajectory(check: ConvergenceCheck, allowed: Tolerances, engine: str) -> list[str]:
    cells = [_milli(error, "3g") for error in check.error]
    order = number(check.order, ".2f")
    if check.order is None and max(check.error) <= check.floor:
        order = BELOW
    cells += [order, str(check.expected_order)]
    cells += [number(check.left, ".2e"), number(check.bound, ".2e"), check.where]
    limit = allowed.trajectory.get(engine)
    if isinstance(limit, Allowance):
        return [*cells, f"{1e3 * limit.limit:g} m{METRE}: {limit.reason}"]
    least = (1.0 - allowed.order) * check.expected_order
    tighter = "" if limit is None else f", {1e3 * limit:g} m{METRE}"
    return [*cells, f"order {least:g} at least{tighter}"]
