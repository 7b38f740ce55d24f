"""`accord parity`: what each engine makes of a URDF, and which link makes the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import RenderableType
from rich.text import Text

from roboaccord.cli.command import Result
from roboaccord.cli.console import command_line, make_table, note, progress
from roboaccord.cli.options import Seed, complete_robot
from roboaccord.cli.pieces import in_pieces
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import check_inside, check_target
from roboaccord.crosscheck.parity.collection import (
    Options,
    counts,
    examine_all,
    find_files,
    junit,
    write_repaired,
)
from roboaccord.crosscheck.parity.robot import SETTINGS, reader_names, version_of
from roboaccord.description.resources import share
from roboaccord.description.urdf_file import UrdfFile, read_urdf
from roboaccord.engines import default_names, spec
from roboaccord.engines.reading import Base
from roboaccord.gazebo.form import base_in_gazebo
from roboaccord.report.parity import agree, apart_lines, group_causes, render_parity, verdict_of
from roboaccord.run.output import write_text
from roboaccord.scenario.files import load_scenario, scenario_names
from roboaccord.scenario.setup import Setup, find_robot, robot_names

BASES = ("fixed", "free")
COLOURS = {"same": "green", "differ": "red", "refused": "yellow", "undecided": "magenta"}
NAMED = 3  # links or joints of a cause that the table names


@in_pieces()
def parity_command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE|FOLDER|ROBOT",
            help="URDF or xacro, a folder of them, or see `accord list`.",
            autocompletion=complete_robot,
        ),
    ],
    engines: Annotated[
        str,
        typer.Option(
            metavar="LIST", help=f"Of {', '.join(reader_names())}; those installed by default."
        ),
    ] = "",
    settings: Annotated[
        str, typer.Option(metavar="default|accord", help="The engines' own, or ours.")
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
            metavar="OUT.urdf", help="Write the file with the smallest repairs; a folder's here."
        ),
    ] = None,
    page: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Write a page.")] = None,
    report: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE.xml", help="Write it as JUnit.")
    ] = None,
    seed: Seed = 0,
) -> Result:
    """Compare what engines read from a URDF: links, joints, and accelerations.

    Each engine's own reader gets the file without geometry, and once as shipped. Joints, axes,
    limits, masses, centres, inertias, mass matrix, gravity forces and the accelerations at 100
    random states are held against an own articulated-body algorithm. Each difference is named
    with its link and cause, and proven: with that cause alone, and without it. Damping, dry
    friction, effort limits and mimic are told apart. Exit status 1 if an engine differs or
    refuses the robot, or is undecided because it did not answer.

    Examples:

      accord parity my.urdf

      accord parity my.urdf --engines dart,mujoco --repair mended.urdf

      accord parity robots/ --page fleet.html

      accord parity snake --json
    """
    packages = parse_packages(package or [])
    one_of("--settings", settings, SETTINGS)
    root = cast("Base", one_of("--base", base, BASES)) if base else None
    options = Options(settings, root, seed)
    chosen = choose_readers(engines)
    files = files_of(what, packages, root)
    for path, kind in ((page, ".html"), (report, ".xml")):
        check_target(path, kind)
    targets = targets_of(repair, files, Path(what)) if repair else []
    for path in targets:
        check_target(path, ".urdf")
        check_inside(cast("Path", repair), path)
    with progress() as bar:
        task = bar.add_task("reading", total=len(files) * len(chosen) * (4 if repair else 2))

        def done(name: str) -> None:
            bar.update(task, advance=1, description=name)

        robots = examine_all(files, chosen, options, done)
        if repair:
            write_repaired(files, robots, targets, chosen, options, done)
    data = {
        "robots": robots,
        "verdict": verdict_of(robots),
        "counts": counts(robots),
        "versions": chosen,
        "date": datetime.now(UTC).date().isoformat(),
        "command": command_line(),
    }
    if page:
        write_text(page, render_parity(data), ".html")
    if report:
        write_text(report, junit(robots), ".xml")
    shown = [*(shown_of(robots[0]) if len(robots) == 1 else fleet_of(data)), *repairs_of(robots)]
    written = [f"written: {path}" for path in (repair, page, report) if path]
    return Result(data, [*shown, *written], ok=data["verdict"] == "pass")


def one_of(option: str, value: str, known: Sequence[str]) -> str:
    """Return a value that an option takes.

    Raises:
        AccordError: for another one.
    """
    if value not in known:
        raise AccordError(f"{option} takes {' or '.join(known)}, not {value!r}")
    return value


def parse_packages(texts: Sequence[str]) -> dict[str, Path]:
    """Return the folders of `NAME=DIR` texts.

    Raises:
        AccordError: for another form.
    """
    found = {}
    for text in texts:
        name, equals, folder = text.partition("=")
        if not (name and equals and folder):
            raise AccordError(f"--package takes NAME=DIR, not {text!r}")
        found[name] = Path(folder)
    return found


def choose_readers(names: str) -> dict[str, str]:
    """Return the versions of the engines named, or of all that are installed.

    Raises:
        AccordError: for an unknown one, or one named that is not installed.
    """
    if names:
        chosen = [name.strip() for name in names.split(",") if name.strip()]
        return {name: version_of(name) for name in chosen}
    found = {}
    for name in reader_names():
        try:
            found[name] = version_of(name)
        except AccordError as error:
            note(f"left out: {error}")
    if not found:
        packages = " ".join(spec(name).package for name in default_names())
        raise AccordError(f"no engine is installed: pip install {packages}")
    return found


def files_of(what: str, packages: Mapping[str, Path], base: Base | None = None) -> list[UrdfFile]:
    """Return the robots that are meant: of a file, a folder, or one that is installed."""
    path = Path(what)
    if what.replace("-", "_") in robot_names() and not path.is_file():
        return [file_of(what)]
    if path.is_dir():
        return find_files(path, packages, base, lambda line: note(f"left out: {line}"))
    if not path.exists() and "/" not in what and not path.suffix:
        find_robot(what)  # says what is like it
    return [read_urdf(path, packages)]


def file_of(name: str) -> UrdfFile:
    """Return the URDF of an installed robot, its base as Gazebo has it."""
    robot = find_robot(name)
    setup = Setup.of(load_scenario(robot.package, robot.name, scenario_names(robot.package)[0]))
    text = setup.urdf(base=base_in_gazebo(setup.scenario))
    path = share(robot.package) / "urdf" / f"{robot.name}.urdf.xacro"
    return UrdfFile(path, robot.name, text, {})


def targets_of(out: Path, files: Sequence[UrdfFile], what: Path) -> list[Path]:
    """Return where mended files go: a folder's by their place in it."""
    if not what.is_dir():
        return [out]
    inside = [file.path.relative_to(what.absolute()) for file in files]
    return [out / path.with_name(path.name.removesuffix(".xacro")) for path in inside]


def shown_of(robot: Mapping[str, Any]) -> list[RenderableType]:
    """Return the tables of one robot: engines, then causes."""
    table = make_table(
        "engine", "settings", "as read", "with\nours", "as\nshipped", "mass\nkg", "worst", "error",
        title=f"{robot['name']}: {robot['joints']} joints, {robot['mass']:.6g} kg, "
        f"base {robot['base']}",
        words=["settings", "as read", "with\nours", "as\nshipped"], text=["worst"],
    )  # fmt: skip
    for name, engine in robot["engines"].items():
        worst, status = engine["worst"] or {}, engine["status"]
        table.add_row(
            name,
            engine["settings"],
            Text(status, COLOURS[status]),
            engine["accord"],
            engine["shipped"]["status"],
            "" if engine["mass"] is None else f"{engine['mass']:.6g}",
            f"{worst.get('quantity', '')} {worst.get('where', '')}",
            number(worst.get("error")) if worst else "",
        )
    versions = ", ".join(f"{name} {e['version']}" for name, e in robot["engines"].items())
    return [table, Text(versions), *causes_table(robot), *map(Text, apart_lines(robot))]


def causes_table(robot: Mapping[str, Any]) -> list[RenderableType]:
    """Return the table of causes, and a line for each cure."""
    table = make_table("engine", "cause", "where", "with it", "without", words=["cause"],
                       text=["where"])  # fmt: skip
    groups = group_causes(robot)
    for group in groups:
        places, before, after = group["where"], group["before"], group["after"]
        proven = before is not None or after is not None
        refused = "refused" if group["status"] == "refused" else "not finite"
        table.add_row(
            group["engine"], group["cause"], Text(", ".join(places[:NAMED]) + more(places)),
            (number(before) or refused) if proven else "", number(after),
        )  # fmt: skip
    if not groups:
        return []
    fixes = {group["cause"]: group["fix"] for group in groups}
    return [table, *(Text.assemble((f"{cause}: ", "bold"), fix) for cause, fix in fixes.items())]


def more(places: Sequence[str]) -> str:
    """Return how many places a table does not name."""
    return f" and {len(places) - NAMED} more" if len(places) > NAMED else ""


def number(value: float | None) -> str:
    """Return an error, nothing for none."""
    return "" if value is None else f"{value:.0e}"


def fleet_of(data: Mapping[str, Any]) -> list[RenderableType]:
    """Return the tables of many robots: their status, and how often each is."""
    engines = list(data["versions"])
    table = make_table("robot", "joints", *engines, words=engines)
    for robot in data["robots"]:
        found = [robot["engines"][name]["status"] for name in engines]
        cells = [Text(status, COLOURS[status]) for status in found]
        table.add_row(robot["name"], str(robot["joints"]), *cells)
    total = make_table("engine", *COLOURS, "causes", text=["causes"])
    for name, count in data["counts"].items():
        kinds = {key: n for key, n in count.items() if key not in COLOURS}
        causes_text = ", ".join(
            f"{key} {n}" for key, n in sorted(kinds.items(), key=lambda p: -p[1])
        )
        total.add_row(name, *(str(count[key]) for key in COLOURS), causes_text)
    alike = sum(map(agree, data["robots"]))
    versions = ", ".join(f"{name} {version}" for name, version in data["versions"].items())
    return [
        table,
        total,
        Text(f"all read {alike} of {len(data['robots'])} robots alike; {versions}"),
    ]


def repairs_of(robots: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each repair that was written, and what the engines make of it."""
    lines = []
    for robot in robots:
        for item in robot.get("repairs", ()):
            places = ", ".join(item["where"][:NAMED]) + more(item["where"])
            lines.append(f"repaired in {robot['name']}: {item['cause']} at {places}")
        if "repaired" in robot:
            said = ", ".join(f"{name} {status}" for name, status in robot["repaired"].items())
            left = f"; left: {', '.join(robot['left'])}" if robot["left"] else ""
            lines.append(f"after repair {robot['name']}: {said}{left}")
    return lines
