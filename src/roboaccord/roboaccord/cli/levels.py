"""The printed report of `accord crosscheck`: distances or statistics, outcomes, and the verdict.

`accord crosscheck` compares physics engines with the analytical reference in several ways, called
levels; each level has an outcome for each engine, and all together give a verdict. `shown_of` makes
the printed text of a report: for a scenario that is not chaotic the first table has the distance of
each engine from the reference (`distance_tables`), for a chaotic one statistics over seeds of the
random numbers (`statistics_tables`); then come the outcome of each level and the verdict with its
reasons. Nothing is judged here: that is done in crosscheck/levels/.

Figures are added to DISTANCE_COLUMNS by name; their unit, heading and decimals come from the type
of the field. Tables must fit 80 columns.
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

VERDICT_COLOURS: dict[Verdict | None, str] = {
    "pass": "green",
    "fail": "red",
    "undecided": "yellow",
    None: "default",
}
OUTCOME_TEXTS: dict[Outcome, Text] = {
    Outcome.WITHIN: Text("within", "green"),
    Outcome.OUTSIDE: Text("outside", "red"),
    Outcome.NOT_JUDGED: Text("not judged", "yellow"),
    Outcome.EXCUSED: Text("excused", "yellow"),
    Outcome.DOES_NOT_APPLY: Text("–", "dim"),
}
ACCELERATION_MEANING = f"accel.: {quantities(AccelerationCheck)['max'].meaning}"
# Number of physics steps, from the finest on, whose errors are in the table of distances: those
# that the verdict needs (STEPS of crosscheck/extrapolation.py).
FINEST_STEPS = 3


@dataclass(frozen=True)
class Distance:
    """A row of the table: the distances of an engine from the reference, by level.

    Args:
        acceleration: accelerations in random states; None where that level was not checked.
        one_step: changes in a control period; None likewise.
        trajectory: whole motions, at the physics steps FINEST_STEPS.
        noise: how far round-off alone lets two runs part.
    """

    acceleration: AccelerationCheck | None
    one_step: OneStepCheck | None
    trajectory: ConvergenceCheck
    noise: Noise


# Fields of `Distance` that are columns of the table, with dots into fields of the checks.
DISTANCE_COLUMNS = ["acceleration.max", "one_step.rms", "trajectory.error", "trajectory.order"]
DISTANCE_COLUMNS += ["noise.floor", "noise.horizon"]


def shown_of(report: Report, page: Path | None = None) -> list[RenderableType]:
    """Return the printed report; that of a single recorded run is one line."""
    if report.of_run:
        return [report.line()]
    versions = ", ".join(f"{engine} {report.versions[engine]}" for engine in report.engines)
    verdict = Text(report.describe(), VERDICT_COLOURS[report.verdict])
    below_verdict = [*report.reasons, *report.remarks]
    for engine, resolved in report.resolution.items():
        below_verdict.append(f"{engine}: would have seen {summary_of(resolved)}")
    output = statistics_tables(report) if report.chaotic else distance_tables(report)
    output += [*added_level_tables(report), Text(versions), *outcome_tables(report)]
    output.append(Text.assemble("verdict: ", verdict))
    output += [Padding(Text(line), (0, 0, 0, 2)) for line in below_verdict]
    if page:
        output.append(f"report: {page}")
    return output


def outcome_tables(report: Report) -> list[Table]:
    """Return the table of outcomes, a row for each level; no table where no level was judged."""
    engines = report.engines[1:]  # without the reference
    table = make_table("level", *engines, words=engines)
    for level, findings in report.of_engines.items():
        outcomes = [OUTCOME_TEXTS[findings[engine].outcome] for engine in engines]
        table.add_row(level.replace("_", " "), *outcomes)
    return [table] if report.levels else []


def added_level_tables(report: Report) -> list[Table]:
    """Return a table of figures for each level that another package adds."""
    core_levels = {level.name for level in LEVELS}
    tables = []
    for name in [name for name in report.rows if name not in core_levels]:
        content = level_table(report, name)
        table = make_table(*content.columns, title=content.title)
        for row in content.rows:
            table.add_row(row.engine, *row.cells)
        tables.append(table)
    return tables


def distance_tables(report: Report) -> list[RenderableType]:
    """Return the table of distances, a row for each engine, and the meaning of its columns."""
    trajectories = report.checks["trajectory"]
    accelerations = report.checks.get("acceleration", {})
    one_steps = report.checks.get("one_step", {})
    rows = [
        Distance(
            acceleration=accelerations.get(engine),
            one_step=one_steps.get(engine),
            trajectory=replace(check, error=check.error[-FINEST_STEPS:]),
            noise=report.noise[engine],
        )
        for engine, check in trajectories.items()
    ]
    step_sizes = next(iter(trajectories.values())).dt[-FINEST_STEPS:]  # [s]
    steps = ", ".join(f"{1e3 * dt:g}" for dt in step_sizes)
    title = f"{report.robot} {report.scenario}: distance from the reference at steps of {steps} ms"
    return tables_of(rows, *DISTANCE_COLUMNS, title=title, labels=trajectories)


def statistics_tables(report: Report) -> list[RenderableType]:
    """Return the table of statistics over seeds, a row for each engine, and its meaning."""
    first_check = next(iter(report.checks["statistics"].values()))
    unit = f" [{first_check.unit}]" if first_check.unit else ""
    title = f"{report.robot} {report.scenario}: {first_check.figure}{unit} over seeds"
    headings = ("accel.\nrel.", "mean", "median", "above\n0", "difference", "allowed\n+-")
    table = make_table("engine", *headings, title=title)
    accelerations = report.checks.get("acceleration", {})
    for engine, entries in report.rows["statistics"].items():
        # Entries in the order of `rows` of crosscheck/levels/statistics.py.
        texts = [text_of(entry) for entry in entries.values()]
        mean, median, _deviation, _run_count, positive, difference, allowed = texts
        # Without its interval, which is on the page: the table must fit 80 columns.
        mean = mean.split()[0]
        check = accelerations.get(engine)
        acceleration = number(check.max if check else None, ".1e", "")
        table.add_row(engine, acceleration, mean, median, positive, difference, allowed)
    meanings = (
        f"{ACCELERATION_MEANING}; above 0: share of the runs; difference "
        "of medians, 95 % confidence; allowed: the change at twice the step"
    )
    return [table, Text(meanings)]
