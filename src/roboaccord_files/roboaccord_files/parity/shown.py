"""Show the result of a parity check in the terminal: tables of engines, causes, robots, repairs.

Lines that the HTML page has, too, come from page.py. Nothing is decided here. In a notebook
`show(result)` prints the same, by the entry point `show.Parity`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.console import make_table
from roboaccord.contract.results import unit_of
from roboaccord.crosscheck.level import Entry

from roboaccord_files.parity.page import body_lines, group_causes, message_lines, uncompared_lines
from roboaccord_files.parity.result import Parity, RobotParity, errors_of
from roboaccord_files.parity.words import STATUSES, status_of
from roboaccord_files.rules.findings import Severity

COLOURS = dict(zip(STATUSES, ("green", "red", "yellow", "magenta"), strict=True))
# Links or joints of a cause that the table names; further ones are counted, so that a cause is one
# row.
NAMED = 3
REST: tuple[Severity, ...] = ("warning", "note")  # findings that are counted, and not printed
MESSAGES = 3  # lines of an engine's messages that are printed; the page and --json have more


def shown_of(result: Parity) -> list[RenderableType]:
    """Return the tables of a robot, or of many, and what was repaired."""
    robots = result.robots
    shown = robot_shown(robots[0]) if len(robots) == 1 else fleet_shown(result)
    alone = len(robots) == 1
    return [*shown, *(line for robot in robots for line in repair_lines(robot, alone))]


def status_text(status: str) -> Text:
    """Return a status in its colour."""
    return Text(status, COLOURS[status])


def robot_shown(robot: RobotParity) -> list[RenderableType]:
    """Return the tables of one robot: engines, then causes."""
    unit = unit_of(RobotParity, "mass")
    table = make_table(
        "engine", "settings", "as read", "with\nours", "as\nshipped", f"mass\n{unit}", "worst",
        "error", title=f"{robot.name}: {robot.joints} joints, {robot.mass:.6g} {unit}, "
        f"base {robot.base}",
        words=["settings", "as read", "with\nours", "as\nshipped"], text=["worst"],
    )  # fmt: skip
    for name, status in robot.status.items():
        rows = robot.rows["reading"][name]
        shipped = status_of(robot.levels.shipped[name])
        ours, mass, worst, error = map(cell, rows.values())
        as_read = status_text(status)
        table.add_row(name, robot.settings, as_read, ours, shipped, mass, worst or " ", error)
    versions = ", ".join(f"{name} {version}" for name, version in robot.versions.items())
    rules = rule_lines(robot)
    counts = Counter(finding.severity for finding in robot.findings)
    rest = [
        f"{counts[kind]} {kind}{'s' if counts[kind] > 1 else ''}" for kind in REST if counts[kind]
    ]
    if rest:
        rules.append(Text(f"{' and '.join(rest)} on the file: accord check {robot.file}"))
    words = [Text(line, "dim") for line in message_lines(robot, MESSAGES)]
    apart = map(Text, uncompared_lines(robot))
    return [table, Text(versions), *causes_shown(robot), *words, *apart, *rules]


def rule_lines(robot: RobotParity) -> list[RenderableType]:
    """Return the errors of the rules; a cure that was already printed is not repeated."""
    cures, lines = {row.cause.fix for row in group_causes(robot)}, list[RenderableType]()
    for finding in errors_of(robot):
        line = finding.__rich__()
        lines.append(line.split("\n")[0] if finding.cure in cures else line)
        cures.add(finding.cure)
    return lines


def cell(entry: Entry) -> str:
    """Return an entry as text, nothing for none."""
    value = entry.value
    return f"{value:{entry.form}}" if isinstance(value, float | int) else str(value or "")


def causes_shown(robot: RobotParity) -> list[RenderableType]:
    """Return the table of causes, and a line for each cure."""
    table = make_table("engine", "cause", "where", "with it", "without", words=["cause"],
                       text=["where"])  # fmt: skip
    rows = group_causes(robot)
    for row in rows:
        where = Text(places_text(row.cause.where))
        table.add_row(row.engine, row.cause.quantity, where, row.before, row.after)
    if not rows:
        return []
    fixes = {row.cause.quantity: row.cause.fix for row in rows}
    return [table, *(Text.assemble((f"{cause}: ", "bold"), fix) for cause, fix in fixes.items())]


def places_text(places: Sequence[str]) -> str:
    """Return the first places, and how many there are more."""
    more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
    return ", ".join(places[:NAMED]) + more


def fleet_shown(result: Parity) -> list[RenderableType]:
    """Return the tables of many robots: the status of each, and how often each status occurs."""
    engines = list(result.versions)
    table = make_table("robot", "joints", *engines, words=engines)
    for robot in result.robots:
        cells = map(status_text, robot.status.values())
        table.add_row(robot.name, str(robot.joints), *cells)
    total = make_table("engine", *COLOURS, "causes", text=["causes"])
    for name, count in result.counts.items():
        most = sorted([*count][len(STATUSES) :], key=lambda cause: -count[cause])
        causes = ", ".join(f"{cause} {count[cause]}" for cause in most)
        total.add_row(name, *(str(count[status]) for status in STATUSES), causes)
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    alike = f"all read {result.agreeing_count} of {len(result.robots)} robots alike; {versions}"
    wrong = sum(bool(errors_of(robot)) for robot in result.robots)
    rules = [Text(f"the rules find errors in {wrong}: accord check FILE")] if wrong else []
    return [table, total, Text(alike), *rules]


def repair_lines(robot: RobotParity, alone: bool) -> Iterator[str]:
    """Yield repairs, what they need, and the engines' verdicts; of one robot the diff, too."""
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
