"""`accord parity`: what each engine makes of a URDF, and which link makes the difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import RenderableType
from rich.text import Text

from roboaccord.cli.check import finding_text
from roboaccord.cli.command import Result
from roboaccord.cli.console import command_line, make_table, named, note
from roboaccord.cli.options import Seed, complete_robot, listed, read_packages, split_arguments
from roboaccord.cli.pieces import in_pieces
from roboaccord.contract.errors import AccordError, need
from roboaccord.contract.files import check_target
from roboaccord.contract.results import unit_of
from roboaccord.crosscheck.parity.result import Parity, ReadingStatus, RobotParity, errors_of
from roboaccord.crosscheck.parity.robot import SETTINGS, reader_names
from roboaccord.description.findings import Severity
from roboaccord.door.reading import PARITY, choose_readers, files_of, parity, targets_of
from roboaccord.engines.reading import Base
from roboaccord.report.parity import (
    apart_lines,
    body_lines,
    error_text,
    group_causes,
    junit,
    message_lines,
    render_parity,
)
from roboaccord.report.sarif import sarif
from roboaccord.run.output import write_text

T = TypeVar("T", bound=str)

BASES: tuple[Base, ...] = ("fixed", "free")
COLOURS = {
    ReadingStatus.SAME: "green",
    ReadingStatus.DIFFER: "red",
    ReadingStatus.REFUSED: "yellow",
    ReadingStatus.UNDECIDED: "magenta",
}
NAMED = 3  # links or joints of a cause that the table names
REST: tuple[Severity, ...] = ("warning", "note")  # findings that are counted
MESSAGES = 3  # lines that an engine printed


@PARITY
@in_pieces()
def parity_command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE|FOLDER|ROBOT",
            help="URDF, xacro, SDF or MJCF (`-`: standard input), a folder of them, or see "
            "`accord list`.",
            autocompletion=complete_robot,
        ),
    ],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME:=VALUE]...", help="Arguments of a xacro file."),
    ] = None,
    engines: Annotated[
        str,
        typer.Option(
            metavar="LIST", help=f"Of {', '.join(reader_names())}. Default: those installed."
        ),
    ] = "",
    settings: Annotated[
        str,
        typer.Option(metavar="default|accord", help="Settings of the engines: their own, or ours."),
    ] = "default",
    base: Annotated[
        str,
        typer.Option(
            metavar="fixed|free",
            help="How the root moves. Default: free, unless it is the world or has no mass.",
        ),
    ] = "",
    package: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=DIR", help="Folder of a ROS package that meshes name."),
    ] = None,
    repair: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.urdf",
            help="Write the file with the repairs that are certain; for a folder, name a folder.",
        ),
    ] = None,
    page: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Write a page.")] = None,
    report: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE.xml", help="Write the result as JUnit.")
    ] = None,
    annotations: Annotated[
        Path | None,
        typer.Option("--sarif", metavar="FILE.sarif", help="Write the findings as SARIF."),
    ] = None,
    seed: Seed = 0,
) -> Result:
    """Compare what engines read from a URDF: links, joints, and accelerations.

    Each engine's own reader gets the file without geometry, and once as shipped. Joints, axes,
    limits, masses, centres, inertias, mass matrix, gravity forces and the accelerations at 100
    random states are compared with an independent articulated-body algorithm. Each difference is
    named with its link and cause, and confirmed: with that cause alone, and without it. Damping,
    dry friction, effort limits and mimic are listed apart. The rules of `accord check` run first. A
    repair invents no number: it lists those that it needs. Exit status 1 if an engine differs or
    refuses the robot, or is undecided because it did not answer, if a finding is an error, or a
    repair needs a number.

    Examples:

      accord parity my.urdf

      accord parity my.urdf --engines dart,mujoco --repair repaired.urdf

      accord parity ur.urdf.xacro name:=ur ur_type:=ur5e

      accord parity robots/ --page fleet.html

      accord parity snake --json
    """
    if page:
        need("pages need", "report")
    root = one_of("--base", base, BASES) if base else None
    whose = one_of("--settings", settings, SETTINGS)
    chosen = choose_readers(listed(engines), note)
    files = files_of(what, read_packages(package or []), xacro_arguments(words or []), note)
    for path, kind in ((page, ".html"), (report, ".xml"), (annotations, ".sarif")):
        check_target(path, kind)
    targets = targets_of(repair, files, Path(what)) if repair else []
    alone = len(files) == 1
    with named(len(files) * (2 if targets else 1), "reading") as step:

        def done(robot: RobotParity) -> None:
            step(robot.name)
            if not alone:
                note(status_line(robot))

        result = parity(
            files,
            engines=[*chosen],
            settings=whose,
            base=root,
            repair=targets,
            seed=seed,
            done=done,
            command=command_line(),
        )
    robots = result.robots
    if annotations:
        write_text(annotations, sarif([f for r in robots for f in r.findings]), ".sarif")
    if alone and robots[0].unread and errors_of(robots[0]):
        raise AccordError(robots[0].unread)
    if page:
        write_text(page, render_parity(result), ".html")
    if report:
        write_text(report, junit(result), ".xml")
    written = [f"written: {path}" for path in (repair, page, report, annotations) if path]
    return Result(result.to_json(), [*shown_of(result), *written], ok=result.ok)


def xacro_arguments(words: list[str]) -> dict[str, str]:
    """Return the arguments of a xacro file by name.

    Raises:
        AccordError: for a word that is not NAME:=VALUE.
    """
    more, arguments = split_arguments(words)
    if more:
        raise AccordError(f"one file or folder, and NAME:=VALUE for a xacro; not {more[0]!r}")
    return arguments


def status_line(robot: RobotParity) -> str:
    """Return the status of each engine in a line, or why the robot cannot be read."""
    statuses = ", ".join(f"{name} {e.status}" for name, e in robot.engines.items())
    return f"{robot.name}: {robot.unread or statuses}"


def one_of(option: str, value: str, known: Sequence[T]) -> T:
    """Return a value that an option takes.

    Raises:
        AccordError: for another one.
    """
    for each in known:
        if value == each:
            return each
    raise AccordError(f"{option} takes {' or '.join(known)}, not {value!r}")


def shown_of(result: Parity) -> list[RenderableType]:
    """Return the tables of a robot, or of many, and what was repaired."""
    robots = result.robots
    shown = robot_shown(robots[0]) if len(robots) == 1 else fleet_shown(result)
    alone = len(robots) == 1
    return [*shown, *(line for robot in robots for line in repair_lines(robot, alone))]


def status_text(status: ReadingStatus) -> Text:
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
    for name, engine in robot.engines.items():
        found, worst = engine.examined, engine.examined.worst
        table.add_row(
            name,
            found.settings,
            status_text(found.status),
            found.accord,
            engine.shipped.status,
            "" if found.mass is None else f"{found.mass:.6g}",
            f"{worst.quantity} {worst.where}" if worst else " ",
            error_text(worst.finite) if worst else "",
        )
    versions = ", ".join(f"{name} {e.examined.version}" for name, e in robot.engines.items())
    rules = [finding_text(each) for each in errors_of(robot)]
    counts = Counter(each.severity for each in robot.findings)
    rest = [f"{counts[kind]} {kind}{'s' * (counts[kind] > 1)}" for kind in REST if counts[kind]]
    if rest:
        rules.append(Text(f"{' and '.join(rest)} on the file: accord check {robot.file}"))
    words = [Text(line, "dim") for line in message_lines(robot, MESSAGES)]
    return [
        table,
        Text(versions),
        *causes_shown(robot),
        *words,
        *map(Text, apart_lines(robot)),
        *rules,
    ]


def causes_shown(robot: RobotParity) -> list[RenderableType]:
    """Return the table of causes, and a line for each cure."""
    table = make_table("engine", "cause", "where", "with it", "without", words=["cause"],
                       text=["where"])  # fmt: skip
    rows = group_causes(robot)
    for row in rows:
        table.add_row(row.engine, row.cause, Text(places_text(row.where)), row.before, row.after)
    if not rows:
        return []
    fixes = {row.cause: row.fix for row in rows}
    return [table, *(Text.assemble((f"{cause}: ", "bold"), fix) for cause, fix in fixes.items())]


def places_text(places: Sequence[str]) -> str:
    """Return the first places, and how many there are more."""
    more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
    return ", ".join(places[:NAMED]) + more


def fleet_shown(result: Parity) -> list[RenderableType]:
    """Return the tables of many robots: their status, and how often each is."""
    engines = list(result.versions)
    table = make_table("robot", "joints", *engines, words=engines)
    for robot in result.robots:
        cells = [status_text(engine.status) for engine in robot.engines.values()]
        table.add_row(robot.name, str(robot.joints), *cells)
    total = make_table("engine", *COLOURS, "causes", text=["causes"])
    for name, count in result.counts.items():
        most = sorted(count.causes.items(), key=lambda pair: -pair[1])
        causes = ", ".join(f"{cause} {n}" for cause, n in most)
        total.add_row(name, *map(str, count.statuses.values()), causes)
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    alike = f"all read {result.alike} of {len(result.robots)} robots alike; {versions}"
    wrong = sum(bool(errors_of(robot)) for robot in result.robots)
    rules = [Text(f"the rules find errors in {wrong}: accord check FILE")] if wrong else []
    return [table, total, Text(alike), *rules]


def repair_lines(robot: RobotParity, alone: bool) -> Iterator[str]:
    """Yield repairs, what they need, and the engines' verdicts; of one robot the diff, too."""
    if robot.repair is None:
        return
    for flaw in robot.repair.repairs:
        yield f"repaired in {robot.name}: {flaw.cause} at {places_text(flaw.where)}: {flaw.fix}"
    yield from robot.repair.diff.splitlines() if alone else ()
    yield from (f"{robot.name} {line}" for line in robot.repair.needs)
    yield from body_lines(robot.repair) if alone else ()
    statuses = ", ".join(f"{name} {status}" for name, status in robot.repair.repaired.items())
    left = f"; left: {', '.join(robot.repair.left)}" if robot.repair.left else ""
    yield f"after repair {robot.name}: {statuses}{left}"
