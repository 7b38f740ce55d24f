"""`accord check`: static checks of a robot's URDF, and of worlds, models and bridges for Gazebo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table, note
from roboaccord.cli.options import read_packages, split_arguments
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import check_target
from roboaccord.contract.modes import Modes
from roboaccord.contract.outcome import Verdict
from roboaccord.contract.results import Json, by_fields
from roboaccord.description.findings import RuleFinding
from roboaccord.description.rules import ALL, RULES, explain, findings
from roboaccord.description.urdf_file import NO_PACKAGES, STANDARD_INPUT, UrdfFile, read_text
from roboaccord.description.xacro_file import NO_ARGUMENTS
from roboaccord.engines.formats import format_of, formats, read_robot
from roboaccord.gazebo.check import check_file
from roboaccord.gazebo.shipped import problems_of_robot, shipped_folder
from roboaccord.gazebo.tool import INSTALL, Problem, schema_folder, sdformat_problems, sdformat_tool
from roboaccord.report.sarif import sarif
from roboaccord.run.output import write_text
from roboaccord.scenario.setup import robot_names

COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}
MISSING = {
    "sdformat": f"sdformat's checker is not installed: {INSTALL}",
    "schema": f"sdformat's schema is not installed: {INSTALL}",
}


@dataclass(frozen=True)
class Check:
    """Hold what is wrong for Gazebo by file and robot, with URDFs, and missing checkers."""

    files: Mapping[str, Sequence[Problem]]
    missing: tuple[str, ...]
    findings: Sequence[RuleFinding] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether nothing is wrong, and nothing undecided."""
        found = [problem for problems in self.files.values() for problem in problems]
        errors = any(each.severity == "error" for each in self.findings)
        if errors or any(isinstance(problem, str) for problem in found):
            return "fail"
        return "undecided" if found else "pass"

    def to_json(self) -> Mapping[str, Json]:
        """Return the fields and the verdict."""
        return {"verdict": self.verdict, **by_fields(self)}


ROBOT, WORLD = "FILE of a robot", "FILE for Gazebo"


def _modes(given: Mapping[str, Any]) -> list[str]:
    if given["explain"]:
        return ["with --explain"]
    return sorted({ROBOT if is_robot(Path(f)) else WORLD for f in given["words"] or ()}) or [WORLD]


@Modes(_modes, {"": "explain", ROBOT: "words package sarif trust :=", WORLD: "words models"})
def check_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]... [NAME:=VALUE]...",
            help="URDF, xacro, MJCF or SDF (`-`: standard input), and arguments of a xacro. "
            "Default: all robots and all SDF files that ship.",
        ),
    ] = None,
    models: Annotated[
        list[Path] | None, typer.Option(help="Folder of models, for model://NAME.")
    ] = None,
    package: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=DIR", help="Folder of a ROS package that meshes name."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--sarif", metavar="FILE.sarif", help="Write the findings as SARIF."),
    ] = None,
    rule: Annotated[
        str,
        typer.Option("--explain", metavar="RULE|all", help="Explain a rule, or list the rules."),
    ] = "",
) -> Result:
    """Check a robot's description, or what is given to Gazebo, without any engine.

    A robot's file: masses, units, limits, axes, names, meshes and references, each with its
    line and cure. Worlds, models and bridges: unknown elements, missing systems and unbridged
    topics, which Gazebo accepts silently; sdformat's own checker runs where it is installed.
    Exit status 1 if something is wrong, or undecided because the checker did not answer.

    Examples:

      accord check my.urdf

      accord check my.urdf.xacro prefix:=left_ --package my_robot=. --sarif my.sarif

      accord check --explain axis-length

      accord check worlds/mine.sdf --models models
    """
    if rule:
        explained = explain(rule)
        rules = {name: row._asdict() for name, row in RULES.items() if rule in (ALL, name)}
        data = {"rules": rules} if rule == ALL else {"rule": rule, **rules[rule]}
        return Result(data, [Text(explained)])
    shipped = shipped_folder()
    folders = [*(models or []), *([shipped / "models"] if shipped else [])]
    named, arguments = split_arguments(words or [])
    files = [Path(name) for name in named]
    if not files and shipped is None:
        raise AccordError("name files: roboaccord_ros, which has the worlds, is not installed")
    check_target(report, ".sarif")
    packages = read_packages(package or [])
    paths = files or sorted([*shipped.glob("worlds/*.sdf"), *shipped.glob("models/*/model.*df")])  # type: ignore[union-attr]
    tool = sdformat_tool()
    found, of_urdfs = dict[str, list[Problem]](), list[RuleFinding]()
    for path in paths:
        if is_robot(path):
            of_urdfs += findings(_read(path, packages, arguments))
            continue
        own = check_file(path, folders)  # which reads bounded files alone
        found[_title(path)] = [*(sdformat_problems(tool, path, folders) if tool else []), *own]
    if not files:
        found |= {f"robot {name}": problems_of_robot(name, tool) for name in robot_names()}
    there = {"sdformat": tool, "schema": schema_folder()}
    missing = tuple(name for name in MISSING if found and not there[name])
    result = Check(found, missing, tuple(of_urdfs))
    for name in result.missing:
        note(MISSING[name])
    if report:
        write_text(report, sarif(result.findings), ".sarif")
    shown = [*map(finding_text, result.findings), *([table_of(result)] if found else [])]
    clean = ["nothing found"] if not shown else []
    written = [f"written: {report}"] if report else []
    passed = result.verdict == "pass"
    return Result(result.to_json(), [*shown, *clean, *written], ok=passed)


def is_robot(path: Path) -> bool:
    """Return whether a file is a robot's description, and not a world or a model for Gazebo."""
    if path.suffix == ".xacro" or path == STANDARD_INPUT:
        return True
    if path.name == "model.sdf" or (path.parent / "model.config").is_file():
        return False
    text = read_text(path, NO_PACKAGES, NO_ARGUMENTS)
    form = format_of(text)
    if form == "sdf":
        return "<joint" in text and "<world" not in text
    return form in {"robot", *formats()}


def _read(path: Path, packages: Mapping[str, Path], arguments: Mapping[str, str]) -> UrdfFile:
    file = read_robot(path, packages, arguments)
    for line in file.notes:
        note(f"{path.name}: {line}")
    return file


def finding_text(each: RuleFinding) -> Text:
    """Return a finding as compilers print one, and its cure."""
    return Text.assemble(
        f"{each.file}:{each.line}: ",
        (each.severity, COLOURS[each.severity]),
        f": {each.message} [{each.rule}]\n    {each.cure}",
    )


def _title(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def table_of(result: Check) -> RenderableType:
    """Return the problems of each file."""
    table = make_table("file", "problems", text=["problems"])
    for title, problems in result.files.items():
        table.add_row(title, "\n".join(map(str, problems)) or "none")
    return table
