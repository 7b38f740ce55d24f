"""Write the HTML page of a parity check: all robots in all engines, with causes.

`render_parity` takes the result (result.py) and fills the template parity.html beside this file.
The other functions make lines of text (causes, messages, uncompared quantities) that shown.py
prints in the terminal, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from roboaccord.contract.results import unit_of

from roboaccord_files.parity.result import MAX_MESSAGE_LINES, Parity, Repair, RobotParity
from roboaccord_files.parity.words import status_of
from roboaccord_files.repair.trap import Flaw


def render_parity(result: Parity) -> str:
    """Return the page as HTML."""
    from roboaccord.report.plots import render_page

    robots, engines = result.robots, list(result.versions)
    title = robots[0].name if len(robots) == 1 else f"{len(robots)} robots"
    agreeing = f"{result.agreeing_count} of {len(robots)}"
    return render_page(
        "parity.html",
        package=__package__,
        title=f"What engines make of {title}",
        lead=f"{agreeing} read alike by the reference, {', '.join(engines)}.",
        result=result,
        command=result.command,
        engines=engines,
        groups={robot.file: group_causes(robot) for robot in robots},
        messages={robot.file: message_lines(robot, MAX_MESSAGE_LINES) for robot in robots},
        apart={robot.file: uncompared_lines(robot) for robot in robots},
        body_lines=body_lines,
        unit=unit_of(RobotParity, "mass"),
    )


def error_text(error: float | None) -> str:
    """Return an error with one digit, "" for None."""
    return "" if error is None else f"{error:.0e}"


class CauseRow(NamedTuple):
    """A cause in one engine or several, with all its places, and its proof in words.

    Args:
        engine: names of the engines, separated by commas.
        cause: with all its links or joints.
        before, after: errors of the engine with the cause alone, and without it; "" if not proven.
    """

    engine: str
    cause: Flaw
    before: str
    after: str


def group_causes(robot: RobotParity) -> list[CauseRow]:
    """Return the causes of a robot's differences as rows.

    Causes of one quantity with the same errors are one row, with all their links or joints; and so
    are equal rows of several engines.
    """
    # One row for each engine, quantity and pair of errors.
    by_errors = dict[tuple[str, str, float | None, float | None], CauseRow]()
    for name, check in robot.checks["reading"].items():
        for cause in check.causes:
            key = name, cause.quantity, cause.before, cause.after
            if key in by_errors:
                first = by_errors[key].cause
                cause = replace(first, causes=(*first.causes, *cause.causes))
            before = _error_with_cause(cause, robot.status[name])
            by_errors[key] = CauseRow(name, cause, before, error_text(cause.after))
    # Equal rows of several engines become one.
    merged = dict[tuple[str, tuple[str, ...], str, str], CauseRow]()
    for row in by_errors.values():
        content = row.cause.quantity, row.cause.where, row.before, row.after
        equal = merged.get(content)
        merged[content] = row._replace(engine=f"{equal.engine}, {row.engine}") if equal else row
    return list(merged.values())


def _error_with_cause(cause: Flaw, status: str) -> str:
    """Return the error of an engine with a cause alone, as text; "" if the cause is not proven."""
    if cause.before is not None or cause.after is None:
        return error_text(cause.before)
    # Mimic changes no status: an engine of status "same" refuses the text with mimic.
    return "refused" if status in ("same", "refused") else "not finite"


def message_lines(robot: RobotParity, limit: int) -> list[str]:
    """Return the messages of engines that differ, refuse, or do not load the file's meshes.

    Of a difference whose causes are all proven, messages are returned for the page only.

    Args:
        robot: with its engines.
        limit: largest number of lines of an engine, MAX_MESSAGE_LINES for the page.
    """
    shown = list[str]()
    for name, status in robot.status.items():
        refusal = robot.checks["shipped"][name].refusal
        causes = robot.checks["reading"][name].causes
        proven = all(cause.before is None or cause.after is not None for cause in causes)
        explained = status == "differ" and proven and limit < MAX_MESSAGE_LINES
        messages = [] if status == "same" or explained else robot.messages(name)
        lines = [line for line in dict.fromkeys([refusal, *messages]) if line]
        shown += [f"{name}: {line}" for line in lines[:limit]]
        if len(lines) > limit:
            shown.append(f"{name}: {len(lines) - limit} more lines: --json")
    return shown


def uncompared_lines(robot: RobotParity) -> list[str]:
    """Return lines on what engines read differently, but is not compared (uncompared.py).

    Effort limits of an engine without motors are not listed, and neither is what a cause names. No
    verdict depends on an engine that refuses only the file as shipped; it has a line.
    """
    lines = list[str]()
    for name, check in robot.checks["reading"].items():
        if status_of(robot.levels.shipped[name]) == "refused" and robot.status[name] != "refused":
            lines.append(f"{name}: refused as shipped, which sets no exit status")
        causes = {cause.quantity for cause in check.causes}
        differ = list[str]()
        for quantity, values in check.uncompared.joints.items():
            has_motors = any(in_engine for _, in_engine in values.values())
            if quantity not in causes and (quantity != "effort" or has_motors):
                differ.append(f"{quantity} of {len(values)} joint{'' if len(values) == 1 else 's'}")
        for kind, (in_file, in_engine) in robot.checks["shipped"][name].geometry.items():
            differ.append(f"{in_engine} collision shapes of kind {kind} for {in_file}")
        if check.uncompared.refused:
            differ.append(f"with mimic and transmissions: {check.uncompared.refused}")
        if check.uncompared.lost:
            lost = "; ".join(check.uncompared.lost)
            lines.append(f"{name}: not in the URDF converted from it: {lost}")
        if differ:
            lines.append(f"not compared, but different in {name}: {', '.join(differ)}")
    return lines


def body_lines(repair: Repair) -> list[str]:
    """Return mass, moments of inertia and reach, as shipped and repaired."""
    return [
        f"{name}: {body.mass:.6g} kg, {' '.join(f'{x:.6g}' for x in body.moments)} kg m^2 about "
        f"the centre of mass at q = 0, reach {body.reach:.6g} m"
        for name, body in (("as shipped", repair.before), ("repaired", repair.after))
    ]
