"""Show the result of `accord parity A B`: as a table in the terminal, a page, and SARIF findings.

The input is a `Pair` (pair.py), the differences of two robots; nothing is decided here. A row of
the table is the difference of one quantity, with both values and its effect on accelerations.
`pair_shown` is for the terminal and, by `show(result)`, for notebooks; `render_pair` makes the HTML
page, and `pair_findings` findings at lines of the second file, which command.py writes as SARIF.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.console import make_table
from roboaccord.description.urdf_file import UrdfFile

from roboaccord_files.parity.pair import Pair, PairDifference
from roboaccord_files.rules.find import from_here
from roboaccord_files.rules.findings import RuleFinding
from roboaccord_files.rules.source import Source
from roboaccord_files.rules.table import RULES

RULE = "description-differs"  # rule of the findings, in rules.yaml
MAX_ROWS = 40  # rows in the terminal, as many as a screen has; further ones are counted
# Units of the two values of a quantity; those of limits are in the difference.
UNITS = {"mass": "kg", "centre": "m", "origin": "m", "inertia": "kg m^2", "zero": "rad"}
# By the unit of a difference, the factor and the unit in which it is shown.
SCALES = {"1": (100.0, "%"), "m": (1e3, "mm"), "rad": (180.0 / math.pi, "deg")}
# Columns of the table: effect on accelerations, quantity, link or joint, both values, difference.
HEADS = ("effect", "quantity", "where", "first", "second", "off by")


def row_of(difference: PairDifference) -> tuple[str, ...]:
    """Return a difference as the cells of a row, in the order of HEADS."""
    cause, other = difference.cause, difference.other
    where = cause.where if other in ("", cause.where) else f"{cause.where} = {other}".lstrip(" =")
    unit = UNITS.get(cause.quantity, cause.unit if cause.quantity == "limit" else "")
    first, second = ("" if x is None else f"{x:.6g}" for x in difference.values)
    values = [first, f"{second} {unit}".rstrip() if second else ""]
    if cause.quantity == "joint":
        values = ["there" if name else "missing" for name in (cause.where, other)]
    factor, shown_unit = SCALES.get(cause.unit, (1.0, cause.unit))
    size = "" if cause.size is None else f"{factor * cause.size:+.3g} {shown_unit}".rstrip()
    effect = "unknown"
    if difference.effect is not None:
        effect = f"{difference.effect:.1e}" if difference.effect else "0"
    return effect, f"{cause.quantity} {cause.axis}".rstrip(), where, *values, size


def pair_lines(pair: Pair) -> list[str]:
    """Return the lines below the table: verdict, notes and matched names."""
    count = len(pair.differences)
    verdict = f"one robot, to {pair.tolerance:g} of each quantity"
    if count:
        verdict = f"two robots: {count} difference{'s' if count > 1 else ''}"
    if count > 1 and pair.acceleration is not None:
        verdict += f"; together they change accelerations by {pair.acceleration:.1e}"
    names = ", ".join(f"{name} = {partner}" for name, partner in pair.names.items())
    matched = [f"matched: {names}"] if names else []
    return [verdict, *pair.notes, *matched]


def robot_lines(pair: Pair) -> list[str]:
    """Return a line for each of the two robots."""
    return [
        f"{which}: {robot.file}: {robot.name}, {robot.joints} joints, {robot.mass:.6g} kg, "
        f"base {robot.base}"
        for which, robot in zip(("first", "second"), pair.robots, strict=True)
    ]


def pair_shown(pair: Pair) -> list[RenderableType]:
    """Return both robots, the differences by effect, and the verdict."""
    table = make_table(*HEADS, words=["quantity", "where"], text=["where"])
    for difference in pair.differences[:MAX_ROWS]:
        table.add_row(*map(Text, row_of(difference)))
    rows: list[RenderableType] = [table] if pair.differences else []
    if len(pair.differences) > MAX_ROWS:
        rows.append(f"{len(pair.differences) - MAX_ROWS} more: --json")
    return [*robot_lines(pair), *rows, *pair_lines(pair)]


def render_pair(pair: Pair) -> str:
    """Return the page as HTML."""
    from roboaccord.report.plots import render_page

    rows = [row_of(difference) for difference in pair.differences]
    title = f"{pair.robots[0].name} and {pair.robots[1].name}"
    values = {"heads": HEADS, "rows": rows, "lines": pair_lines(pair), "sides": robot_lines(pair)}
    return render_page("pair.html", __package__, title=title, command=pair.command, **values)


def pair_findings(pair: Pair, file: UrdfFile) -> Iterator[RuleFinding]:
    """Yield differences as findings in the second file."""
    source, path = Source(file), from_here(file.path)
    for difference in pair.differences:
        effect, quantity, where, first, second, size = row_of(difference)
        is_of_link = difference.cause.quantity in ("mass", "centre", "inertia")
        element = (source.links if is_of_link else source.joints).get(difference.other)
        values = f": {second} for {first}" if first and second else ""
        message = f"{quantity} of {where}{values}, {size} (accelerations: {effect})"
        line = 1 if element is None else source.line(element)
        cure = f"compare {pair.robots[0].file}"
        yield RuleFinding(RULE, RULES[RULE].severity, path, line, message, cure)
