"""The tables of a report: what was measured, what is allowed, and whether it is within.

To add a table, add an entry to `tables_of` and a function that returns its cells. Columns, decimals
and LISTED may be changed. A title must be changed in template.html, too, which explains each table
by its title. Full digits are in summary.json. `number` and `statistics_cells` are used by
cli/levels.py as well.

How to read each is in the page, template.html, by its title.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from roboaccord.contract.outcome import BELOW, Findings
from roboaccord.contract.results import unit_of
from roboaccord.crosscheck.chaotic import Noise, StatisticsCheck
from roboaccord.crosscheck.convergence import ConvergenceCheck
from roboaccord.crosscheck.energy import NoBook
from roboaccord.crosscheck.energy_check import EnergyCheck
from roboaccord.crosscheck.events import EventsCheck
from roboaccord.crosscheck.invariance import InvarianceCheck
from roboaccord.crosscheck.models import AccelerationCheck, ModelCheck
from roboaccord.crosscheck.one_step import OneStepCheck
from roboaccord.crosscheck.report import Report
from roboaccord.crosscheck.scheme import NoTwin, SchemeCheck
from roboaccord.engines.symmetries import MOVES
from roboaccord.run.metrics import UNITS
from roboaccord.scenario.scenario import Allowance, Tolerances, limit_of

LISTED = 6  # differences of a model that a table names
NONE = "–"
NO_FINDINGS: Findings = {}
METRE = unit_of(ConvergenceCheck, "error")
MILLI = f"m{unit_of(ConvergenceCheck, 'dt')}"
KILOGRAM = unit_of(ModelCheck, "total")


class Row(NamedTuple):
    """Hold engine, cells, and the outcome of the level; "" for the reference, not judged."""

    engine: str
    cells: Sequence[str]
    outcome: str = ""


class Table(NamedTuple):
    """Hold one table of the check."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Row]


def tables_of(report: Report) -> list[Table]:
    """Return the tables of the models, of the levels and of the noise."""
    levels, allowed, runs = report.levels, report.tolerances, report.trajectory
    weights = f"total [{KILOGRAM}]|reference [{KILOGRAM}]|off"
    worlds = "|".join(move.name for move in MOVES)
    one_step = "rms|largest|share of the change|order|left at 0|explained|allowed"
    energy = "left at 0 [J]|explained [J]|in parts of [s]|most from t = [s] on"
    common: tuple[Any, ...] = (
        ("Level 1: accelerations", "largest error, relative|states|allowed",
         report.acceleration, partial(_acceleration, allowed), levels.acceleration),
        ("Level 1: models", weights, report.masses, _model, levels.acceleration),
        ("Scheme: a twin of the engine", "largest difference|round-off explains|of|ticks|left out",
         report.scheme, _scheme, levels.scheme),
        ("Invariance: the same motion in other worlds", worlds,
         report.invariance, _changes, levels.invariance),
        ("Level 2: one step", one_step, report.one_step, partial(_one_step, allowed),
         levels.one_step),
    )  # fmt: skip
    steps = [f"{1e3 * dt:g} {MILLI}" for dt in next((run.dt for run in runs.values()), [])]
    of_steps = "|".join([*steps, "order|expected|left at 0|explained|of|allowed"])
    third: tuple[Any, ...] = (
        ("Level 3: whole trajectories", of_steps,
         {e: (e, run) for e, run in runs.items()}, partial(_trajectory, allowed),
         levels.trajectory),
        ("Uncertainty", "comparison error|numerical|input|data", runs, _uncertainty),
    )  # fmt: skip
    if report.statistics:
        first = next(iter(report.statistics.values()))
        unit = f" [{first.unit}]" if first.unit else ""
        figure = f"mean {first.figure.replace('_', ' ')}{unit}"
        more = "median|standard deviation|runs|above 0|difference from the reference|allowed"
        third = (("Level 3: statistics over seeds", f"{figure}|{more}",
                  report.statistics, statistics_cells, levels.statistics),)  # fmt: skip
    last: tuple[Any, ...] = (
        ("Events", "in the log|compared|off", report.log, _log, levels.events),
        ("Energy", energy, report.rest, _rest, levels.energy),
        ("Noise floor and horizon", "floor|rate|agree until", report.noise, _floor),
    )
    return [_table(*each) for each in (*common, *third, *last)]


def _table(
    title: str,
    columns: str,
    checks: Mapping[str, Any],
    cells: Callable[[Any], list[str]],
    found: Findings = NO_FINDINGS,
) -> Table:
    """Return a table with a row for each engine."""
    outcomes = {engine: each.outcome for engine, each in found.items()}
    rows = [Row(name, cells(check), outcomes.get(name, "")) for name, check in checks.items()]
    return Table(title, ("engine", *columns.split("|")), rows)


def number(value: float | None, form: str = "g", none: str = NONE) -> str:
    """Return a number as text, `none` where there is none."""
    return none if value is None or not math.isfinite(value) else f"{value:{form}}"


def _acceleration(allowed: Tolerances, check: AccelerationCheck) -> list[str]:
    if check.max is None:
        return [f"not compared: {check.reason}", "", ""]
    return [number(check.max, ".1e"), str(check.states), number(allowed.acceleration)]


def _model(check: ModelCheck) -> list[str]:
    off = [" ".join((d.quantity, d.where, d.text)) for d in check.differences]
    return [f"{check.total:.6g}", f"{check.reference:.6g}", _some(off)]


def _scheme(check: SchemeCheck | NoTwin) -> list[str]:
    if isinstance(check, NoTwin):
        return [NONE, NONE, check.reason, NONE, NONE]
    of = f"{check.quantity}, {check.where}"
    counts = [str(check.judged), str(check.left_out)]
    return [number(check.error, ".2g"), number(check.floor, ".2g"), of, *counts]


def _changes(check: InvarianceCheck) -> list[str]:
    """Return the change by each move, beside what round-off explains."""
    shown = {name: f"{c.error:.1g} ({c.floor:.0e})" for name, c in check.changes.items()}
    return [shown.get(move.name, check.refused.get(move.name, NONE)) for move in MOVES]


def _one_step(allowed: Tolerances, check: OneStepCheck) -> list[str]:
    unit, share = unit_of(OneStepCheck, "rms"), limit_of(allowed.one_step)
    loose = isinstance(allowed.one_step, Allowance)
    either = "" if loose else f", or order {check.expected_order - allowed.one_step_order:g}"
    return [
        f"{number(check.rms, '.2e')} {unit}",
        f"{number(check.max, '.2e')} {unit}",
        f"{100 * check.relative:.2g} %",
        BELOW if check.rms <= check.floor else number(check.order, ".2f"),
        number(check.left, ".2e"),
        number(check.bound, ".2e"),
        f"{100 * share:g} %{either}",
    ]


def _trajectory(allowed: Tolerances, named: tuple[str, ConvergenceCheck]) -> list[str]:
    engine, check = named
    cells = [_milli(error, ".3g") for error in check.error]
    order = number(check.order, ".2f")
    if check.order is None and max(check.error) <= check.floor:
        order = BELOW
    cells += [order, str(check.expected_order)]
    cells += [number(check.left, ".2e"), number(check.bound, ".2e"), check.where]
    limit = allowed.of(engine)
    if isinstance(limit, Allowance):
        return [*cells, f"{1e3 * limit.limit:g} m{METRE}: {limit.reason}"]
    least = (1.0 - allowed.order) * check.expected_order
    tighter = "" if limit is None else f", {1e3 * limit:g} m{METRE}"
    return [*cells, f"order {least:g} at least{tighter}"]


def _uncertainty(check: ConvergenceCheck) -> list[str]:
    found = check.uncertainty
    if found is None:
        return [NONE] * 4
    sizes = (found.comparison_error, found.numerical, found.input, found.data)
    return [_milli(size, ".2g") for size in sizes]


def _log(check: EventsCheck) -> list[str]:
    off = [f"{d.kind} of {d.subject} at {d.time:g} s" for d in check.differences]
    return [str(check.logged), str(check.compared), check.why or _some(off)]


def _rest(check: EnergyCheck | NoBook) -> list[str]:
    if isinstance(check, NoBook):
        return [NONE, NONE, NONE, check.reason]
    return [f"{x:.2g}" for x in (check.left, check.bound, check.length)] + [f"{check.time:g}"]


def _floor(found: Noise) -> list[str]:
    rate, second = unit_of(Noise, "rate"), unit_of(Noise, "horizon")
    return [
        _milli(found.floor, ".2g"),
        NONE if found.rate is None else f"{found.rate:.2g} {rate}",
        "the end" if found.horizon is None else f"t = {found.horizon:.4g} {second}",
    ]


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
    return f"{number(1e3 * metres, form)} m{METRE}"


def _some(off: Sequence[str]) -> str:
    more = f"; and {len(off) - LISTED} more" * (len(off) > LISTED)
    return "; ".join(off[:LISTED]) + more or "nothing"
