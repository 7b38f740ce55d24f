"""Write the HTML page of a parity check: all robots in all engines, with causes.

The layout is in parity.html beside this file. The lines made here (causes, messages, what is listed
apart) are also those that shown.py prints in the terminal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from roboaccord.contract.results import unit_of

from roboaccord_files.parity.result import MOST, Parity, Repair, RobotParity
from roboaccord_files.repair.trap import Flaw


def render_parity(result: Parity) -> str:
    """Return the page as HTML."""
    from roboaccord.report.plots import render_page

    robots, engines = result.robots, list(result.versions)
    title = robots[0].name if len(robots) == 1 else f"{len(robots)} robots"
    return render_page(
        "parity.html", package=__package__, title=f"What engines make of {title}",
        lead=f"{result.alike} of {len(robots)} read alike by the reference, {', '.join(engines)}.",
        result=result, command=result.command, engines=engines,
        groups={robot.file: group_causes(robot) for robot in robots},
        messages={robot.file: message_lines(robot, MOST) for robot in robots},
        apart={robot.file: apart_lines(robot) for robot in robots},
        body_lines=body_lines, unit=unit_of(RobotParity, "mass"),
    )  # fmt: skip


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
    # One row for each quantity with the same errors in an engine.
    of_engine = dict[tuple[str, str, float | None, float | None], CauseRow]()
    for name, check in robot.checks["reading"].items():
        for cause in check.causes:
            key = name, cause.quantity, cause.before, cause.after
            if key in of_engine:
                first = of_engine[key].cause
                cause = replace(first, causes=(*first.causes, *cause.causes))
            before = _error_with_it(cause, robot.status[name])
            of_engine[key] = CauseRow(name, cause, before, error_text(cause.after))
    # Equal rows of several engines joined.
    joined = dict[tuple[str, tuple[str, ...], str, str], CauseRow]()
    for row in of_engine.values():
        content = row.cause.quantity, row.cause.where, row.before, row.after
        same = joined.get(content)
        joined[content] = row._replace(engine=f"{same.engine}, {row.engine}") if same else row
    return list(joined.values())


def _error_with_it(cause: Flaw, status: str) -> str:
    """Return the error of an engine with this cause alone, in words; "" if it is not proven."""
    if cause.before is not None or cause.after is None:
        return error_text(cause.before)
    # What mimic does changes no status: an engine that reads the rest alike refuses that.
    return "refused" if status in ("same", "refused") else "not finite"


def message_lines(robot: RobotParity, most: int) -> list[str]:
    """Return the messages of engines that differ, refuse, or do not load the file's meshes.

    Where all causes of a difference are proven, the page alone has them.

    Args:
        robot: with its engines.
        most: lines of an engine.
    """
    shown = list[str]()
    for name, status in robot.status.items():
        refusal = robot.checks["shipped"][name].refusal
        causes = robot.checks["reading"][name].causes
        proven = all(cause.before is None or cause.after is not None for cause in causes)
        silent = status == "same" or (status == "differ" and proven and most < MOST)
        messages = [refusal, *(() if silent else robot.messages(name))]
        lines = [*dict.fromkeys(line for line in messages if line)]
        shown += [f"{name}: {line}" for line in lines[:most]]
        if len(lines) > most:
            shown.append(f"{name}: {len(lines) - most} more lines: --json")
    return shown


def apart_lines(robot: RobotParity) -> list[str]:
    """Return the lines on what engines read differently, but is not compared (apart.py).

    Effort limits of an engine without motors are left out, and so is what a cause already names.
    """
    lines = list[str]()
    for name, check in robot.checks["reading"].items():
        apart, causes = check.apart, {cause.quantity for cause in check.causes}
        differ = list[str]()
        for quantity, pairs in apart.joints.items():
            has_motors = any(in_engine for _, in_engine in pairs.values())
            if quantity not in causes and (quantity != "effort" or has_motors):
                differ.append(f"{quantity} of {len(pairs)} joint{'' if len(pairs) == 1 else 's'}")
        for kind, (in_file, in_engine) in robot.checks["shipped"][name].geometry.items():
            differ.append(f"{in_engine} collision shapes of kind {kind} for {in_file}")
        if apart.refused:
            differ.append(f"with mimic and transmissions: {apart.refused}")
        if apart.left:
            lacks = "; ".join(apart.left)
            lines.append(f"{name}: not in the URDF converted from it: {lacks}")
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
