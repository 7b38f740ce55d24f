"""What `accord crosscheck` shows: distances or statistics, the outcome of each level, and why.

Colours and words in VERDICTS and OUTCOMES may be changed; every verdict and outcome must have one.
Figures may be added to DISTANCES, by name: its unit, heading and decimals are those of the field's
type, in crosscheck/. FINEST must keep the table within 80 columns. What is outside is decided in
crosscheck/verdict.py.
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
from roboaccord.crosscheck.causes.words import summary_of
from roboaccord.crosscheck.chaotic import Noise
from roboaccord.crosscheck.convergence import ConvergenceCheck
from roboaccord.crosscheck.models import AccelerationCheck
from roboaccord.crosscheck.one_step import OneStepCheck
from roboaccord.crosscheck.report import Report
from roboaccord.report.tables import number, statistics_cells

VERDICTS: dict[Verdict | None, str] = {
    "pass": "green",
    "fail": "red",
    "undecided": "yellow",
    None: "default",
}
OUTCOMES: dict[Outcome, Text] = {
    "within": Text("within", "green"),
    "outside": Text("outside", "red"),
    "not_judged": Text("not judged", "yellow"),
    "excused": Text("excused", "yellow"),
    "does_not_apply": Text("–", "dim"),
}
ACCELERATION = f"accel.: {quantities(AccelerationCheck)['max'].meaning}"
FINEST = 3  # physics steps of the table; the report has all


@dataclass(frozen=True)
class Distance:
    """Hold how far an engine is from the reference at all levels."""

    acceleration: AccelerationCheck | None
    one_step: OneStepCheck | None
    trajectory: ConvergenceCheck
    noise: Noise


DISTANCES = (
    "acceleration.max", "one_step.rms", "trajectory.error", "trajectory.order", "noise.floor",
    "noise.horizon",
)  # fmt: skip


def shown_of(report: Report, page: Path | None = None) -> list[RenderableType]:
    """Return the levels as a table, and the verdict."""
    versions = ", ".join(f"{engine} {report.versions[engine]}" for engine in report.engines)
    verdict = Text(report.describe(), VERDICTS[report.verdict])
    return [
        *(statistics_tables(report) if report.statistics else distance_tables(report)),
        Text(versions),
        *outcome_tables(report),
        Text.assemble("verdict: ", verdict),
        *(Padding(Text(line), (0, 0, 0, 2)) for line in [*report.reasons, *report.remarks]),
        *(
            Padding(Text(f"{engine}: would have seen {summary_of(found)}"), (0, 0, 0, 2))
            for engine, found in report.resolution.items()
        ),
        *([f"report: {page}"] if page else []),
    ]


def outcome_tables(report: Report) -> list[Table]:
    """Return the outcome of each level, a row for each; no table where there is none."""
    levels, engines = report.levels.checked(), report.engines[1:]
    table = make_table("level", *engines, words=engines)
    for level, found in levels.items():
        table.add_row(level.replace("_", " "), *(OUTCOMES[found[e].outcome] for e in engines))
    return [table] if levels else []


def distance_tables(report: Report) -> list[RenderableType]:
    """Return the distances, a row for each engine, and what the columns are."""
    runs = report.trajectory
    steps = ", ".join(f"{1e3 * dt:g}" for dt in next(iter(runs.values())).dt[-FINEST:])
    rows = [
        Distance(
            report.acceleration.get(engine),
            report.one_step.get(engine),
            replace(run, error=run.error[-FINEST:]),
            report.noise[engine],
        )
        for engine, run in runs.items()
    ]
    title = f"{report.robot} {report.scenario}: distance from the reference at steps of {steps} ms"
    return tables_of(rows, *DISTANCES, title=title, labels=runs)


def statistics_tables(report: Report) -> list[RenderableType]:
    """Return accelerations and the statistics over seeds, a row for each engine."""
    first = next(iter(report.statistics.values()))
    unit = f" [{first.unit}]" if first.unit else ""
    table = make_table(
        "engine",
        *("accel.\nrel.", "mean", "median", "above\n0", "difference", "allowed\n+-"),
        title=f"{report.robot} {report.scenario}: {first.figure}{unit} over seeds",
    )
    for engine, check in report.statistics.items():
        mean, median, _, _, positive, difference, allowed = statistics_cells(check)
        mean = mean.split()[0]  # its interval is in the report: the table fits 80 columns
        cells = (acceleration_of(report, engine), mean, median, positive, difference, allowed)
        table.add_row(engine, *cells)
    explained = (
        f"{ACCELERATION}; above 0: share of the runs; difference "
        "of medians, 95 % confidence; allowed: the change at twice the step"
    )
    return [table, Text(explained)]


def acceleration_of(report: Report, engine: str) -> str:
    """Return the error of level 1 as text, nothing where there is none."""
    check = report.acceleration.get(engine)
    return number(check.max if check else None, ".1e", "")
