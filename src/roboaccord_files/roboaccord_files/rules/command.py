"""The command `accord check`: check robots' files by the rules, and worlds and models for Gazebo.

The command parses options, lets find.py apply the rules to robots' files and gazebo/files.py check
files for Gazebo, and prints the findings (findings.py). With `--explain` it prints a rule instead.
A new option is a parameter of `check_command` and a word of MODES, which lists the options by the
kind of input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from roboaccord.cli.console import note
from roboaccord.cli.options import read_packages, split_arguments
from roboaccord.cli.result import Result
from roboaccord.contract import Modes, check_target
from roboaccord.engines.formats import read_robot
from roboaccord.run.output import write_text
from roboaccord.scenario.installed import robot_names

from roboaccord_files.gazebo import files as gazebo_files
from roboaccord_files.rules.find import findings
from roboaccord_files.rules.findings import RuleFinding, gathered
from roboaccord_files.rules.sarif import sarif
from roboaccord_files.rules.table import ALL, RULES, explain

FILES_HELP = """URDF, xacro, MJCF or SDF (`-`: standard input), and arguments of a xacro. \
Default: all robots and all SDF files that ship."""
Files = Annotated[
    list[str] | None, typer.Argument(metavar="[FILE]... [NAME:=VALUE]...", help=FILES_HELP)
]
Models = Annotated[list[Path] | None, typer.Option(help="Folder of models, for model://NAME.")]
Package = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=DIR", help="Folder of a ROS package that meshes name."),
]
Mass = Annotated[
    float | None,
    typer.Option("--mass", min=0.0, metavar="KG", help="What the robot weighs, if known."),
]
Sarif = Annotated[
    Path | None, typer.Option("--sarif", metavar="FILE.sarif", help="Write the findings as SARIF.")
]
Explained = Annotated[
    str, typer.Option("--explain", metavar="RULE|all", help="Explain a rule, or list the rules.")
]
# Options by the mode of a call.
MODES = {
    "FILE for Gazebo": "words models",
    "FILE": "words package mass sarif trust := models",
    "RULE": "explain",
}


def _modes_of(given: Mapping[str, Any]) -> list[str]:
    """Return the mode of a call, a key of MODES: a rule, robots, or files for Gazebo alone."""
    if given["explain"]:
        return ["RULE"]
    named, _ = split_arguments(given["words"] or [])
    has_robot = any(gazebo_files.is_robot(Path(name)) for name in named)
    return ["FILE" if has_robot else "FILE for Gazebo"]


@Modes(_modes_of, MODES)
def check_command(
    words: Files = None,
    models: Models = None,
    package: Package = None,
    mass: Mass = None,
    report: Sarif = None,
    rule: Explained = "",
) -> Result:
    """Check a robot's description, or what is given to Gazebo, without any engine.

    A robot's file: masses, units, limits, axes, names, meshes and references. Each finding has its
    line and its cure.

    Worlds, models and bridges: unknown elements, missing systems and unbridged topics, which
    Gazebo accepts silently; sdformat's own checker runs where it is installed. Exit status 1 if
    something is wrong, or undecided because the checker did not answer.

    With --explain: a rule in words, with an example, or the list of all.

    Examples:

      accord check worlds/mine.sdf --models models

      accord check my.urdf --mass 22

      accord check my.urdf.xacro prefix:=left_ --package my_robot=. --sarif my.sarif

      accord check my.urdf worlds/mine.sdf --models models

      accord check --explain axis-length
    """
    if rule:
        return explain_rule(rule)
    named, arguments = split_arguments(words or [])
    check_target(report, ".sarif")
    packages = packages_in(models, package)
    found_by_rules, for_gazebo = list[RuleFinding](), list[Path]()
    for path in map(Path, named):
        is_robot = gazebo_files.is_robot(path)
        if not is_robot or gazebo_files.is_ours(path):
            for_gazebo.append(path)
        if not is_robot:
            continue
        file = read_robot(path, packages, arguments)
        for line in (*file.notes, *gazebo_files.neighbours(path)):
            note(f"{path.name}: {line}")
        found_by_rules += findings(file, mass or 0.0)
    robots = () if named else robot_names()
    files = for_gazebo if named else gazebo_files.all_that_ships()
    result = gazebo_files.check_for_gazebo(files, models or [], robots)
    result = replace(result, findings=tuple(found_by_rules))
    if report:
        write_text(report, sarif(found_by_rules), ".sarif")
    written = [f"written: {report}"] if report else []
    shown = [*gazebo_files.shown_of(replace(result, findings=gathered(found_by_rules))), *written]
    return Result(result.to_json(), shown, ok=result.verdict == "pass")


def packages_in(models: list[Path] | None, package: list[str] | None) -> dict[str, Path]:
    """Return folders by the name of a package or model, as `--models` and `--package` give them.

    Raises:
        AccordError: for a text that is not NAME=DIR.
    """
    inside = (path for folder in models or [] for path in folder.glob("*") if path.is_dir())
    return {path.name: path for path in inside} | read_packages(package or [])


def explain_rule(rule: str) -> Result:
    """Return a rule in words, with an example, or the list of all."""
    explained = explain(rule)
    rules = {name: row.to_json() for name, row in RULES.items() if rule in (ALL, name)}
    data = {"rules": rules} if rule == ALL else {"rule": rule, **rules[rule]}
    return Result(data, [Text(explained)])
