"""Tables of a report: figures and outcome of each level, metrics and tolerances, as text.

A level states its figures as rows of entries (crosscheck/level.py), from which `level_table` makes
its table. The page, template.html, explains each table by the level's name; full digits are in
summary.json. cli/levels.py uses `number` and `text_of` as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from roboaccord.contract.results import unit_of
from roboaccord.crosscheck import Entry, Report
from roboaccord.crosscheck.noise import Noise
from roboaccord.run.metrics import UNITS
from roboaccord.scenario.scenario import Tolerances, limit_of

NONE = "–"  # cell without a value


class Row(NamedTuple):
    """A row of a table.

    Args:
        engine: in the first column.
        cells: of the other columns, in their order, as text.
        outcome: of the level, by which the page colours the row; "" for the reference.
    """

    engine: str
    cells: Sequence[str]
    outcome: str = ""


class Table(NamedTuple):
    """A table of a level, or of the noise.

    Args:
        level: name of the level; "noise" for the noise.
        title: above the table.
        columns: heads of the columns, the first that of the rows' names.
        rows: one for each engine.
    """

    level: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Row]


def tables_of(report: Report) -> list[Table]:
    """Return the tables of all levels that have figures, and that of the noise."""
    tables = [level_table(report, level) for level in report.rows]
    noise = [Row(engine, _noise_cells(noise)) for engine, noise in report.noise.items()]
    columns = ("engine", "floor", "rate", "agree until")
    tables.append(Table("noise", "Noise floor and horizon", columns, noise))
    return [table for table in tables if table.rows]


def level_table(report: Report, level: str) -> Table:
    """Return the table of a level, with a row for each engine that has figures."""
    rows_by_engine = {engine: row for engine, row in report.rows[level].items() if row}
    entries = {head: entry for row in rows_by_engine.values() for head, entry in row.items()}
    columns = [f"{head} [{e.unit}]" if e.unit else head for head, e in entries.items()]
    outcomes = {engine: finding.outcome for engine, finding in report.levels.get(level, {}).items()}
    table_rows = []
    for engine, row in rows_by_engine.items():
        cells = [text_of(row[head]) if head in row else NONE for head in entries]
        table_rows.append(Row(engine, cells, outcomes.get(engine, "")))
    title = report.titles.get(level) or level.replace("_", " ")
    return Table(level, title, ("engine", *columns), table_rows)


def text_of(entry: Entry) -> str:
    """Return an entry of a table as text, without its unit."""
    value = entry.value
    if isinstance(value, float):
        return number(value, entry.form)
    return NONE if value is None or value == "" else str(value)


def number(value: float | None, form: str = "g", none: str = NONE) -> str:
    """Return a number as text; `none` where it is None, NaN or infinite."""
    return none if value is None or not math.isfinite(value) else f"{value:{form}}"


def _noise_cells(noise: Noise) -> list[str]:
    """Return the cells of an engine's noise: floor in mm, rate of growth, and horizon."""
    metre, rate, second = (unit_of(Noise, name) for name in ("floor", "rate", "horizon"))
    return [
        f"{number(1e3 * noise.floor, '.2g')} m{metre}",
        NONE if noise.rate is None else f"{noise.rate:.2g} {rate}",
        "the end" if noise.horizon is None else f"t = {noise.horizon:.4g} {second}",
    ]


def metric_rows(metrics: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    """Return a row for each metric: name, unit, and values of the engines.

    A value has its relative difference from the first engine's in brackets.
    """
    engines = list(metrics)
    names = dict.fromkeys(name for values in metrics.values() for name in values)
    rows = []
    for name in names:
        first = metrics[engines[0]].get(name, math.nan)
        cells = []
        for engine in engines:
            value = metrics[engine].get(name, math.nan)
            difference = ""
            if engine != engines[0] and first and math.isfinite(first) and math.isfinite(value):
                difference = f" ({100 * (value / first - 1):+.2g} %)"
            cells.append(number(value, ".5g") + difference)
        rows.append([name.replace("_", " "), UNITS.get(name, ""), *cells])
    return rows


def tolerance_rows(tolerances: Tolerances) -> list[tuple[str, str]]:
    """Return name and value of each tolerance; those of trajectories are by engine."""
    numbers = {key: value for key, value in dict(tolerances).items() if isinstance(value, float)}
    rows = [(name.replace("_", " "), f"{value:g}") for name, value in numbers.items()]
    for engine, limit in tolerances.trajectory.items():
        rows.append((f"trajectory of {engine}", f"{limit_of(limit):g} m"))
    rows += [(level.replace("_", " "), f"{limit:g}") for level, limit in tolerances.level.items()]
    return rows
