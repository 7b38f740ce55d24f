"""The tables of a report: what was measured, what is allowed, and whether it is within."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from roboaccord.contract.outcome import BELOW, Findings
from roboaccord.contract.results import unit_of
from roboaccord.crosscheck.chaotic import Noise, StatisticsCheck
from roboaccord.crosscheck.convergence import ConvergenceCheck, Uncertainty
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
Check = TypeVar("Check")


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
    third = (_statistics,) if report.statistics else (_trajectories, _uncertainties)
    shown = (_one_steps, *third, _events, _energy, _noise)
    return [*_common(report), *(table(report) for table in shown)]


def number(value: float | None, form: str = "g", none: str = NONE) -> str:
    """Return a number as text, `none` where there is none."""
    return none if value is None or not math.isfinite(value) else f"{value:{form}}"


def _rows(
    checks: Mapping[str, Check],
    cells: Callable[[Check, str], list[str]],
    found: Findings = NO_FINDINGS,
) -> list[Row]:
    """Return a row for each engine; `cells` are of a check and the engine's name."""
    return [
        Row(engine, cells(check, engine), found[engine].outcome if engine in found else "")
        for engine, check in checks.items()
    ]


def _common(report: Report) -> list[Table]:
    return [*_models(report), _schemes(report), _moved(report)]


def _models(report: Report) -> list[Table]:
    found, allowed = report.levels.acceleration, report.tolerances
    total, reference = (unit_of(ModelCheck, name) for name in ("total", "reference"))
    return [
        Table(
            "Level 1: accelerations",
            "Both are put in the same random states and asked for accelerations; no time passes, "
            "so anything above round-off is a difference between the models.",
            ("engine", "largest error, relative", "states", "allowed"),
            _rows(report.acceleration, lambda check, _: _acceleration(check, allowed), found),
        ),
        Table(
            "Level 1: models",
            "The masses, centres, inertias, lengths, axes, limits, damping and armature of each "
            "engine, compared with the description, and states that are set and read back.",
            ("engine", f"total [{total}]", f"reference [{reference}]", "off"),
            _rows(report.masses, lambda check, _: _model(check), found),
        ),
    ]


def _schemes(report: Report) -> Table:
    shown = ("largest difference", "round-off explains", "of", "ticks", "left out")
    return Table(
        "Scheme: a twin of the engine",
        "Our equations of motion under the engine's own scheme and physics step start from every "
        "recorded state of the engine. Nothing is left to time stepping, so the difference at the "
        "next one is judged by round-off alone. Ticks with an event, a contact or a joint at its "
        "stop are left out.",
        ("engine", *shown),
        _rows(report.scheme, lambda check, _: _scheme(check), report.levels.scheme),
    )


def _scheme(check: SchemeCheck | NoTwin) -> list[str]:
    if isinstance(check, NoTwin):
        return [NONE, NONE, check.reason, NONE, NONE]
    of = f"{check.quantity}, {check.where}"
    counts = [str(check.judged), str(check.left_out)]
    return [number(check.error, ".2g"), number(check.floor, ".2g"), of, *counts]


def _moved(report: Report) -> Table:
    found = report.levels.invariance
    return Table(
        "Invariance: the same motion in other worlds",
        "The recorded efforts act again in a world that is turned about the vertical, mirrored or "
        "shifted, and with the joints in another order. Nothing may change but by round-off.",
        ("engine", *(move.name for move in MOVES)),
        _rows(report.invariance, lambda check, _: _changes(check), found),
    )


def _changes(check: InvarianceCheck) -> list[str]:
    """Return the change by each move, beside what round-off explains."""
    shown = {name: f"{c.error:.1g} ({c.floor:.0e})" for name, c in check.changes.items()}
    return [shown.get(move.name, check.refused.get(move.name, NONE)) for move in MOVES]


def _one_steps(report: Report) -> Table:
    found, allowed = report.levels.one_step, report.tolerances
    shown = ("rms", "largest", "share of the change", "order", "left at 0", "explained", "allowed")
    return Table(
        "Level 2: one step",
        "The reference starts from every recorded state and predicts the next one. The error "
        "does not accumulate, so it shows where in the motion the engines part. A difference "
        "of the models stays when the physics step gets smaller; an integrator's error falls.",
        ("engine", *shown),
        _rows(report.one_step, lambda check, _: _one_step(check, allowed), found),
    )


def _trajectories(report: Report) -> Table:
    found, allowed = report.levels.trajectory, report.tolerances
    steps = next((run.dt for run in report.trajectory.values()), [])
    milli = f"m{unit_of(ConvergenceCheck, 'dt')}"
    shown = ("order", "expected", "left at 0", "explained", "of", "allowed")
    return Table(
        "Level 3: whole trajectories",
        "Largest distance of any link from the converged reference, at smaller and smaller "
        "physics steps. Halving the step must divide it by 2 to the power of the order. Every "
        "coordinate is extrapolated to a step of 0: what is left there must be explained by "
        "the step (twice the difference of two extrapolations), round-off and the reference's "
        "own error.",
        ("engine", *(f"{1e3 * dt:g} {milli}" for dt in steps), *shown),
        _rows(report.trajectory, lambda check, name: _trajectory(check, allowed, name), found),
    )


def _events(report: Report) -> Table:
    return Table(
        "Events",
        "From the state two control periods before an event of the log, reference and engine go on "
        "at smaller and smaller physics steps: time, impulse and energy must come together.",
        ("engine", "in the log", "compared", "off"),
        _rows(report.log, lambda check, _: _log(check), report.levels.events),
    )


def _log(check: EventsCheck) -> list[str]:
    off = [f"{d.kind} of {d.subject} at {d.time:g} s" for d in check.differences]
    return [str(check.logged), str(check.compared), check.why or _some(off)]


def _energy(report: Report) -> Table:
    return Table(
        "Energy",
        "What the energy book does not explain must vanish with the physics step, in each part of "
        "the run: no energy is gained or lost unaccounted.",
        ("engine", "left at 0 [J]", "explained [J]", "in parts of [s]", "most from t = [s] on"),
        _rows(report.rest, lambda check, _: _rest(check), report.levels.energy),
    )


def _rest(check: EnergyCheck | NoBook) -> list[str]:
    if isinstance(check, NoBook):
        return [NONE, NONE, NONE, check.reason]
    return [f"{x:.2g}" for x in (check.left, check.bound, check.length)] + [f"{check.time:g}"]


def _uncertainties(report: Report) -> Table:
    return Table(
        "Uncertainty",
        "In the terms of ASME V&V 20, at the scenario's physics step: the comparison error is the "
        "largest distance of any link from the reference. The numerical uncertainty is what the "
        "physics step makes, by the grid convergence index of the two largest steps. The input "
        "uncertainty is 0, since both read one description. The data uncertainty is the "
        "reference's own error and round-off.",
        ("engine", "comparison error", "numerical", "input", "data"),
        _rows(report.trajectory, lambda check, _: _uncertainty(check.uncertainty)),
    )


def _uncertainty(found: Uncertainty | None) -> list[str]:
    if found is None:
        return [NONE] * 4
    sizes = (found.comparison_error, found.numerical, found.input, found.data)
    return [_milli(size, ".2g") for size in sizes]


def _noise(report: Report) -> Table:
    return Table(
        "Noise floor and horizon",
        "Each simulator runs once more, and once from a start with the last bit of one value "
        "changed. The floor is the largest distance of any link that results; once it reaches "
        "1 mm, no two runs agree any longer. The rate is that at which small distances grow.",
        ("engine", "floor", "rate", "agree until"),
        _rows(report.noise, lambda found, _: _floor(found)),
    )


def _floor(found: Noise) -> list[str]:
    rate, second = unit_of(Noise, "rate"), unit_of(Noise, "horizon")
    return [
        _milli(found.floor, ".2g"),
        NONE if found.rate is None else f"{found.rate:.2g} {rate}",
        "the end" if found.horizon is None else f"t = {found.horizon:.4g} {second}",
    ]


def _statistics(report: Report) -> Table:
    first = next(iter(report.statistics.values()))
    unit = f" [{first.unit}]" if first.unit else ""
    mean = f"mean {first.figure.replace('_', ' ')}{unit}"
    shown = ("median", "standard deviation", "runs", "above 0")
    return Table(
        "Level 3: statistics over seeds",
        f"{report.not_compared} The difference of the medians is given with 95 % confidence "
        "(bootstrap); an engine fails if the whole interval is beyond what is allowed, or if the "
        "share above 0 is unlike the reference's (Fisher, 5 %). Allowed is the change of both "
        "medians from twice the physics step to the step.",
        ("engine", mean, *shown, "difference from the reference", "allowed"),
        _rows(
            report.statistics, lambda check, _: statistics_cells(check), report.levels.statistics
        ),
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
    return f"{number(1e3 * metres, form)} m{METRE}"


def _acceleration(check: AccelerationCheck, allowed: Tolerances) -> list[str]:
    if check.max is None:
        return [f"not compared: {check.reason}", "", ""]
    return [number(check.max, ".1e"), str(check.states), number(allowed.acceleration)]


def _model(check: ModelCheck) -> list[str]:
    off = [" ".join((d.quantity, d.where, d.text)) for d in check.differences]
    return [f"{check.total:.6g}", f"{check.reference:.6g}", _some(off)]


def _some(off: Sequence[str]) -> str:
    more = f"; and {len(off) - LISTED} more" * (len(off) > LISTED)
    return "; ".join(off[:LISTED]) + more or "nothing"


def _one_step(check: OneStepCheck, allowed: Tolerances) -> list[str]:
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


def _trajectory(check: ConvergenceCheck, allowed: Tolerances, engine: str) -> list[str]:
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
