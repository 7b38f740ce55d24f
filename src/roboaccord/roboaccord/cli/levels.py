"""What `accord crosscheck` prints: tables of distances or statistics, outcomes, and the verdict.

`shown_of` puts it together from a report of a cross-check. For a scenario that is not chaotic the
first table has the distance of each engine from the reference (`distance_tables`), for a chaotic
one statistics over seeds (`statistics_tables`); then come the outcome of each level and the verdict
with its reasons. Nothing is judged here: that is done in crosscheck/levels/.

Figures are added to DISTANCES by name; their unit, heading and decimals come from the type of the
field. Tables must fit 80 columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from roboaccord.cli.console import make_table
from roboaccord.cli.rendering import tables_of
from roboaccord.contract.outcome import Outcome, Verdict
from roboaccord.contract.results import quantities
from roboaccord.crosscheck.levels import LEVELS
from roboaccord.crosscheck.levels.acceleration import AccelerationCheck
from roboaccord.crosscheck.measures.convergence import ConvergenceCheck
from roboaccord.crosscheck.measures.one_step import OneStepCheck
from roboaccord.crosscheck.noise import Noise
from roboaccord.crosscheck.report import Report
from roboaccord.report.cause_words import summary_of
from roboaccord.report.tables import level_table, number, text_of

VERDICTS: dict[Verdict | None, str] = {
    "pass": "green", "fail": "red", "undecided": "yellow", None: "default",
}  # fmt: skip
OUTCOMES: dict[Outcome, Text] = {
    Outcome.WITHIN: Text("within", "green"), Outcome.OUTSIDE: Text("outside", "red"),
    Outcome.NOT_JUDGED: Text("not judged", "yellow"), Outcome.EXCUSED: Text("excused", "yellow"),
    Outcome.DOES_NOT_APPLY: Text("–", "dim"),
}  # fmt: skip
ACCELERATION = f"accel.: {quantities(AccelerationCheck)['max'].meaning}"
FINEST_STEPS = 3  # in the table: those that the verdict needs (STEPS of extrapolation.py)


@dataclass(frozen=True)
class Distance:
    """A row of the table: the distances of an engine from the reference, by level."""

    acceleration: AccelerationCheck | None
    one_step: OneStepCheck | None
    trajectory: ConvergenceCheck
    noise: Noise


DISTANCES = (  # fields of `Distance` that are columns
    "acceleration.max", "one_step.rms", "trajectory.error", "trajectory.order", "noise.floor",
    "noise.horizon",
)  # fmt: skip


def shown_of(report: Report, page: Path | None = None) -> list[RenderableType]:
    """Return the printed report; that of a single recorded run is one line."""
    if report.of_run:
        return [report.line()]
    versions = ", ".join(f"{engine} {report.versions[engine]}" for engine in report.engines)
    verdict = Text(report.describe(), VERDICTS[report.verdict])
    below_verdict = [*report.reasons, *report.remarks]
    for engine, resolved in report.resolution.items():
        below_verdict.append(f"{engine}: would have seen {summary_of(resolved)}")
    return [
        *(statistics_tables(report) if report.chaotic else distance_tables(report)),
        *added_level_tables(report), Text(versions), *outcome_tables(report),
        Text.assemble("verdict: ", verdict),
        *(Padding(Text(line), (0, 0, 0, 2)) for line in below_verdict),
        *([f"report: {page}"] if page else []),
    ]  # fmt: skip


def outcome_tables(report: Report) -> list[Table]:
    """Return the table of outcomes, a row for each level; no table where no level was judged."""
    levels, engines = report.levels, report.engines[1:]
    table = make_table("level", *engines, words=engines)
    for level, findings in levels.items():
        table.add_row(level.replace("_", " "), *(OUTCOMES[findings[e].outcome] for e in engines))
    return [table] if levels else []


def added_level_tables(report: Report) -> list[Table]:
    """Return a table of figures for each level that another package adds."""
    core_levels, tables = {level.name for level in LEVELS}, []
    for level in [name for name in report.rows if name not in core_levels]:
        content = level_table(report, level)
        table = make_table(*content.columns, title=content.title)
        for row in content.rows:
            table.add_row(row.engine, *row.cells)
        tables.append(table)
    return tables


def distance_tables(report: Report) -> list[RenderableType]:
    """Return the table of distances, a row for each engine, and the meaning of its columns."""
    runs = report.checks["trajectory"]
    steps = ", ".join(f"{1e3 * dt:g}" for dt in next(iter(runs.values())).dt[-FINEST_STEPS:])
    accelerations = report.checks.get("acceleration", {})
    one_steps, rows = report.checks.get("one_step", {}), list[Distance]()
    for engine, run in runs.items():
        finest = replace(run, error=run.error[-FINEST_STEPS:])
        checks = accelerations.get(engine), one_steps.get(engine), finest
        rows.append(Distance(*checks, report.noise[engine]))
    title = f"{report.robot} {report.scenario}: distance from the reference at steps of {steps} ms"
    return tables_of(rows, *DISTANCES, title=title, labels=runs)


def statistics_tables(report: Report) -> list[RenderableType]:
    """Return the table of statistics over seeds, a row for each engine, and its meaning."""
    checks, rows = report.checks["statistics"], report.rows["statistics"]
    first = next(iter(checks.values()))
    unit = f" [{first.unit}]" if first.unit else ""
    table = make_table(
        "engine",
        *("accel.\nrel.", "mean", "median", "above\n0", "difference", "allowed\n+-"),
        title=f"{report.robot} {report.scenario}: {first.figure}{unit} over seeds",
    )
    for engine, entries in rows.items():
        mean, median, _, _, positive, difference, allowed = map(text_of, entries.values())
        # Without its interval, which is on the page: the table must fit 80 columns.
        mean = mean.split()[0]
        cells = (acceleration_of(report, engine), mean, median, positive, difference, allowed)
        table.add_row(engine, *cells)
    explained = (
        f"{ACCELERATION}; above 0: share of the runs; difference "
        "of medians, 95 % confidence; allowed: the change at twice the step"
    )
    return [table, Text(explained)]


def acceleration_of(report: Report, engine: str) -> str:
    """Return the largest relative error of acceleration as text; "" where it was not checked."""
    check = report.checks.get("acceleration", {}).get(engine)
    return number(check.max if check else None, ".1e", "")
