"""Show the result of a parity check in the terminal: tables of engines, causes, robots, repairs.

`shown_of` takes a `Parity` (result.py) and returns tables and lines for the library rich; nothing
is decided here. Lines that the HTML page has, too, come from page.py. In a notebook `show(result)`
prints the same, by the entry point `show.Parity`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.console import make_table
from roboaccord.contract.results import unit_of
from roboaccord.crosscheck.level import Entry

from roboaccord_files.parity.page import body_lines, group_causes, message_lines, uncompared_lines
from roboaccord_files.parity.result import Parity, RobotParity, errors_of
from roboaccord_files.parity.words import STATUSES, status_of
from roboaccord_files.rules.findings import Severity

# Colours of the statuses.
COLOURS = {"same": "green", "differ": "red", "refused": "yellow", "undecided": "magenta"}
# Links or joints of a cause that the table names; further ones are counted, so that each cause fits
# into a row.
MAX_NAMED = 3
COUNTED: tuple[Severity, ...] = ("warning", "note")  # findings that are counted, and not printed
# Lines of an engine's messages that are printed: by choice, for the first ones name the cause; the
# page and --json have more.
MAX_MESSAGES = 3


def shown_of(result: Parity) -> list[RenderableType]:
    """Return the tables of a robot, or of many, and what was repaired."""
    robots = result.robots
    shown = robot_shown(robots[0]) if len(robots) == 1 else fleet_shown(result)
    alone = len(robots) == 1
    return [*shown, *(line for robot in robots for line in repair_lines(robot, alone))]


def robot_shown(robot: RobotParity) -> list[RenderableType]:
    """Return the tables of one robot: engines, then causes."""
    unit = unit_of(RobotParity, "mass")
    words = ["settings", "as read", "with\nours", "as\nshipped"]  # columns of words, not numbers
    figures = f"{robot.joints} joints, {robot.mass:.6g} {unit}, base {robot.base}"
    columns = ["engine", *words, f"mass\n{unit}", "worst", "error"]
    table = make_table(*columns, title=f"{robot.name}: {figures}", words=words, text=["worst"])
    for name, status in robot.status.items():
        rows = robot.rows["reading"][name]
        shipped = status_of(robot.levels.shipped[name])
        ours, mass, worst, error = (cell(rows[c]) for c in ("with ours", "mass", "worst", "error"))
        as_read = Text(status, COLOURS[status])
        table.add_row(name, robot.settings, as_read, ours, shipped, mass, worst or " ", error)
    rules = rule_lines(robot)
    counts = Counter(finding.severity for finding in robot.findings)
    others = [f"{counts[k]} {k}{'s' if counts[k] > 1 else ''}" for k in COUNTED if counts[k]]
    if others:
        rules.append(Text(f"{' and '.join(others)} on the file: accord check {robot.file}"))
    messages = [Text(line, "dim") for line in message_lines(robot, MAX_MESSAGES)]
    uncompared = map(Text, uncompared_lines(robot))
    versions = Text(version_text(robot.versions))
    return [table, versions, *causes_shown(robot), *messages, *uncompared, *rules]


def version_text(versions: Mapping[str, str]) -> str:
    """Return the names and versions of engines in a line."""
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def rule_lines(robot: RobotParity) -> list[RenderableType]:
    """Return the errors of the rules; a cure that was already printed is not repeated."""
    printed_cures = {row.cause.fix for row in group_causes(robot)}
    lines = list[RenderableType]()
    for finding in errors_of(robot):
        line = finding.__rich__()
        lines.append(line.split("\n")[0] if finding.cure in printed_cures else line)
        printed_cures.add(finding.cure)
    return lines


def cell(entry: Entry) -> str:
    """Return the text of an entry in its format; "" for None."""
    value = entry.value
    return f"{value:{entry.form}}" if isinstance(value, float | int) else str(value or "")


def causes_shown(robot: RobotParity) -> list[RenderableType]:
    """Return the table of causes, and a line for each cure."""
    columns = "engine", "cause", "where", "with it", "without"
    table = make_table(*columns, words=["cause"], text=["where"])
    rows = group_causes(robot)
    for row in rows:
        where = Text(places_text(row.cause.where))
        table.add_row(row.engine, row.cause.quantity, where, row.before, row.after)
    if not rows:
        return []
    fixes = {row.cause.quantity: row.cause.fix for row in rows}
    return [table, *(Text.assemble((f"{cause}: ", "bold"), fix) for cause, fix in fixes.items())]


def places_text(places: Sequence[str]) -> str:
    """Return the first MAX_NAMED names of links or joints, and the number of further ones."""
    more = f" and {len(places) - MAX_NAMED} more" if len(places) > MAX_NAMED else ""
    return ", ".join(places[:MAX_NAMED]) + more


def fleet_shown(result: Parity) -> list[RenderableType]:
    """Return the tables of many robots: the status of each, and how often each status occurs."""
    engines = list(result.versions)
    table = make_table("robot", "joints", *engines, words=engines)
    for robot in result.robots:
        cells = [Text(status, COLOURS[status]) for status in robot.status.values()]
        table.add_row(robot.name, str(robot.joints), *cells)
    total = make_table("engine", *COLOURS, "causes", text=["causes"])
    for name, count in result.counts.items():
        causes = [key for key in count if key not in STATUSES]
        by_frequency = sorted(causes, key=lambda cause: -count[cause])
        counted_causes = ", ".join(f"{cause} {count[cause]}" for cause in by_frequency)
        total.add_row(name, *(str(count[status]) for status in STATUSES), counted_causes)
    agreeing = f"all read {result.agreeing_count} of {len(result.robots)} robots alike"
    summary = Text(f"{agreeing}; {version_text(result.versions)}")
    erroneous = sum(bool(errors_of(robot)) for robot in result.robots)
    rules = [Text(f"the rules find errors in {erroneous}: accord check FILE")] if erroneous else []
    return [table, total, summary, *rules]


def repair_lines(robot: RobotParity, alone: bool) -> Iterator[str]:
    """Yield lines on the repairs of a robot, and the verdicts of the engines after them.

    Args:
        robot: the robot; without a repair there are no lines.
        alone: whether it is the only one, so that the diff and its properties are shown, too.
    """
    if robot.repair is None:
        return
    for flaw in robot.repair.repairs:
        yield f"repaired in {robot.name}: {flaw.quantity} at {places_text(flaw.where)}: {flaw.fix}"
    yield from robot.repair.diff.splitlines() if alone else ()
    yield from (f"{robot.name} {line}" for line in robot.repair.needs)
    yield from body_lines(robot.repair) if alone else ()
    statuses = ", ".join(f"{name} {status}" for name, status in robot.repair.repaired.items())
    left = f"; left: {', '.join(robot.repair.left)}" if robot.repair.left else ""
    yield f"after repair {robot.name}: {statuses}{left}"
