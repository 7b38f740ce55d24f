"""The command `accord parity`: what engines read from a robot's file, or how two files differ.

This module parses the options, lets door.py do the work (as the function `ra.parity` does, too),
prints the result, and writes the files that the user asks for: an HTML page, JUnit XML for servers
of continuous integration, and SARIF, the format of code checkers. A new option is a parameter of
`parity_command` and a word of PARITY in door.py, which states for which kinds of input it is valid.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from roboaccord.cli import Result, complete_robot, options
from roboaccord.cli.console import command_line, counted, note
from roboaccord.cli.options import Seed, in_pieces, listed, read_packages, split_arguments
from roboaccord.contract import Ratio, check_target
from roboaccord.contract.errors import AccordError, need
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.engines.reading import Base
from roboaccord.run.output import write_text

from roboaccord_files.parity import door
from roboaccord_files.parity.bench import SETTINGS, reader_names
from roboaccord_files.parity.files import Source
from roboaccord_files.parity.junit import junit
from roboaccord_files.parity.page import render_parity
from roboaccord_files.parity.pair import TOLERANCE, Pair
from roboaccord_files.parity.pair_shown import pair_findings, pair_shown, render_pair
from roboaccord_files.parity.result import Done, Parity, RobotParity, errors_of
from roboaccord_files.parity.shown import shown_of
from roboaccord_files.rules.command import Models, Package, Sarif, packages_in
from roboaccord_files.rules.sarif import sarif

T = TypeVar("T", bound=str)  # one of the values that an option takes
BASES: tuple[Base, ...] = ("fixed", "free")
# The arguments and options of the command, in the order of its parameters: type, how the help shows
# the value (metavar), and the help; texts of the help that are too long come first.
ROBOT = "URDF, xacro, SDF or MJCF (`-`: standard input), a folder of them, or see `accord list`."
MORE = "Arguments of a xacro file; another robot or file, and its arguments."
BASE = "How the root moves. Default: free, unless it is the world or has no mass."
REPAIR = "Write the file with the repairs that are certain; for a folder, name a folder."
RobotArgument = Annotated[
    str, typer.Argument(metavar="FILE|FOLDER|ROBOT", autocompletion=complete_robot, help=ROBOT)
]
MoreWords = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME:=VALUE]... [B [NAME:=VALUE]...]", help=MORE)
]
Engines = Annotated[
    str,
    typer.Option(metavar="LIST", help=f"Of {', '.join(reader_names())}. Default: those installed."),
]
EngineSettings = Annotated[
    str, typer.Option(metavar="default|accord", help="Settings of the engines: their own, or ours.")
]
RootBase = Annotated[str, typer.Option(metavar="fixed|free", help=BASE)]
Repaired = Annotated[Path | None, typer.Option(metavar="OUT.urdf", help=REPAIR)]
Page = Annotated[Path | None, typer.Option(metavar="FILE.html", help="Write a page.")]
JUnit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE.xml", help="Write the result as JUnit.")
]
NamePairs = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="A=B", help="A link or joint of A, and its name in B."),
]
OtherPackage = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=DIR", help="As --package, for B alone, which else has those."),
]
Tolerance = Annotated[Ratio, typer.Option(help="Below which a quantity of B is no difference.")]


# Longer than 60 lines by its options and the help that it prints.
@door.PARITY
@in_pieces()
def parity_command(
    what: RobotArgument,
    words: MoreWords = None,
    engines: Engines = "",
    settings: EngineSettings = "default",
    base: RootBase = "",
    models: Models = None,
    package: Package = None,
    repair: Repaired = None,
    page: Page = None,
    junit_path: JUnit = None,
    sarif_path: Sarif = None,
    names: NamePairs = None,
    other_package: OtherPackage = None,
    tolerance: Tolerance = TOLERANCE,
    seed: Seed = 0,
) -> Result:
    """Compare what engines read from a URDF, or two descriptions: links, joints, accelerations.

    Each engine's own reader gets the file without geometry, and once as shipped. Joints, axes,
    limits, masses, centres, inertias, mass matrix, gravity forces and the accelerations at 100
    random states are compared with an independent articulated-body algorithm. Each difference is
    named with its link and cause, and confirmed: with that cause alone, and without it. Damping,
    dry friction, effort limits and mimic are listed apart. The rules of `accord check` run first. A
    repair invents no number: it lists those that it needs. Exit status 1 if an engine differs or
    refuses the robot without geometry, or is undecided because it did not answer, if a finding is
    an error, or a repair needs a number. Whether an engine loads the file as shipped sets none.

    Of two files or robots, A and B: are they one robot? Joints and links are matched by name, then
    by place; frames, names and the order of joints may differ. What differs is sorted by how much
    it alone changes accelerations. Exit status 1 if anything differs.

    Examples:

      accord parity my.urdf

      accord parity my.urdf --engines dart,mujoco --repair repaired.urdf

      accord parity ur.urdf.xacro name:=ur ur_type:=ur5e

      accord parity robots/ --page fleet.html

      accord parity old.urdf.xacro name:=ur new.urdf --page changes.html

      accord parity snake --json
    """
    if page:
        need("pages need", "report")
    for path, kind in ((page, ".html"), (junit_path, ".xml"), (sarif_path, ".sarif")):
        check_target(path, kind)
    arguments, other, other_arguments = split_words(words or [])
    packages = packages_in(models, package)
    if other:
        other_packages = read_packages(other_package) if other_package else packages
        first = door.description_of(what, packages, arguments, note)
        second = door.description_of(other, other_packages, other_arguments, note)
        partners = options.pairs_of(names or [], "--map takes A=B")
        pair = door.compare_pair(first, second, partners, tolerance, seed, command_line())
        return _pair_result(pair, second, page, sarif_path)
    root_base = one_of("--base", base, BASES) if base else None
    chosen_settings = one_of("--settings", settings, SETTINGS)
    # Nothing is drawn; without this, importing mujoco starts a process to find a window library.
    os.environ.setdefault("MUJOCO_GL", "disable")
    readers = door.choose_readers(listed(engines), note)
    files = door.files_of(what, packages, arguments, note)
    targets = door.targets_of(repair, files, Path(what)) if repair else []
    with _progress(files, targets) as done:
        result = door.parity(
            files,
            engines=[*readers],
            settings=chosen_settings,
            base=root_base,
            repair=targets,
            seed=seed,
            done=done,
            command=command_line(),
        )
    assert isinstance(result, Parity)
    return _files_result(result, repair, page, junit_path, sarif_path)


def _pair_result(pair: Pair, other: UrdfFile, page: Path | None, sarif_path: Path | None) -> Result:
    """Return the result of a comparison of two robots, and write the files that are asked for."""
    if page:
        write_text(page, render_pair(pair), ".html")
    if sarif_path:
        write_text(sarif_path, sarif([*pair_findings(pair, other)]), ".sarif")
    return Result(pair.to_json(), [*pair_shown(pair), *_written(page, sarif_path)], ok=pair.ok)


def _files_result(
    result: Parity,
    repair: Path | None,
    page: Path | None,
    junit_path: Path | None,
    sarif_path: Path | None,
) -> Result:
    """Return the result of robots in engines, and write the files that are asked for.

    Args:
        result: what the engines read.
        repair: file or folder of the repaired robots, which are written already.
        page, junit_path, sarif_path: files to write as HTML, JUnit and SARIF; None for none.

    Raises:
        AccordError: if there is one file, and it cannot be read.
    """
    robots = result.robots
    if sarif_path:
        findings = [finding for robot in robots for finding in robot.findings]
        write_text(sarif_path, sarif(findings), ".sarif")
    if len(robots) == 1 and robots[0].unread and errors_of(robots[0]):
        raise AccordError(robots[0].unread)
    if page:
        write_text(page, render_parity(result), ".html")
    if junit_path:
        write_text(junit_path, junit(result), ".xml")
    lines = _written(repair, page, junit_path, sarif_path)
    return Result(result.to_json(), [*shown_of(result), *lines], ok=result.ok)


def _written(*paths: Path | None) -> list[str]:
    """Return a line for each file that is written."""
    return [f"written: {path}" for path in paths if path]


@contextmanager
def _progress(files: Sequence[Source], targets: Sequence[Path]) -> Iterator[Done]:
    """Show a progress bar, and yield the function to call with each robot that is finished.

    Each robot counts once when it is examined, and once more when it is repaired. If there are
    several robots, a line is printed with the status of each engine, or why it cannot be read.

    Args:
        files: files of the robots.
        targets: files of the repaired robots; empty if none is repaired.
    """
    with counted(len(files) * (2 if targets else 1), "reading") as step:

        def done(robot: RobotParity) -> None:
            """Count a robot that is finished."""
            step(1, robot.name)
            if len(files) > 1:
                statuses = ", ".join(f"{name} {status}" for name, status in robot.status.items())
                note(f"{robot.name}: {robot.unread or statuses}")

        yield done


def split_words(words: list[str]) -> tuple[dict[str, str], str, dict[str, str]]:
    """Return the arguments of the first file, the second file or robot, and its arguments.

    The arguments are those of xacro files, by name; the second file is "" if there is none.

    Args:
        words: `[NAME:=VALUE]... [B [NAME:=VALUE]...]`, the words after the first file.

    Raises:
        AccordError: for a third file or robot.
    """
    position = next((i for i, word in enumerate(words) if ":=" not in word), len(words))
    second = words[position] if position < len(words) else ""
    third, other_arguments = split_arguments(words[position + 1 :])
    if third:
        raise AccordError(f"one or two files or robots, and NAME:=VALUE of each; not {third[0]!r}")
    _, arguments = split_arguments(words[:position])
    return arguments, second, other_arguments


def one_of(option: str, value: str, values: Sequence[T]) -> T:
    """Return the value of an option, checked to be one of the values that the option takes.

    Raises:
        AccordError: if it is not.
    """
    for allowed in values:
        if value == allowed:
            return allowed
    raise AccordError(f"{option} takes {' or '.join(values)}, not {value!r}")
