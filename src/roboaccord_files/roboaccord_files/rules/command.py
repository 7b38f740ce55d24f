"""`accord check FILE.urdf`, and `accord check --explain RULE`: modes of `accord check`.

Options may be added: a parameter here and a word of OF_FILES: others are refused. The modes, entry
points of setup.cfg, stay: `check.FILE`, `check.FILES` and `check.RULE`. Worlds among the files are
left to gazebo/. What is found stands in find.py, and how a finding is printed in findings.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from roboaccord.cli.command import Result
from roboaccord.cli.console import note
from roboaccord.cli.options import read_packages, split_arguments
from roboaccord.contract.files import check_target
from roboaccord.contract.modes import AddedMode
from roboaccord.engines.formats import read_robot
from roboaccord.run.output import write_text

from roboaccord_files.gazebo.command import Files, Models, check_for_gazebo, is_robot, shown_of
from roboaccord_files.rules.find import findings
from roboaccord_files.rules.findings import RuleFinding
from roboaccord_files.rules.sarif import sarif
from roboaccord_files.rules.table import ALL, RULES, explain

Package = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=DIR", help="Folder of a ROS package that meshes name."),
]
Sarif = Annotated[
    Path | None, typer.Option("--sarif", metavar="FILE.sarif", help="Write the findings as SARIF.")
]


def check_files(
    words: Files = None, models: Models = None, package: Package = None, report: Sarif = None
) -> Result:
    """A robot's file: masses, units, limits, axes, names, meshes and references.

    Each finding has its line and its cure; worlds among the files are checked for Gazebo.

    Examples:

      accord check my.urdf

      accord check my.urdf.xacro prefix:=left_ --package my_robot=. --sarif my.sarif

      accord check my.urdf worlds/mine.sdf --models models
    """
    named, arguments = split_arguments(words or [])
    check_target(report, ".sarif")
    packages = read_packages(package or [])
    found, others = list[RuleFinding](), list[Path]()
    for path in map(Path, named):
        if not is_robot(path):
            others.append(path)
            continue
        file = read_robot(path, packages, arguments)
        for line in file.notes:
            note(f"{path.name}: {line}")
        found += findings(file)
    result = replace(check_for_gazebo(others, models or [], ()), findings=tuple(found))
    if report:
        write_text(report, sarif(found), ".sarif")
    written = [f"written: {report}"] if report else []
    shown = [*shown_of(result), *written]
    return Result(result.to_json(), shown, ok=result.verdict == "pass")


def explain_rule(
    rule: Annotated[
        str,
        typer.Option("--explain", metavar="RULE|all", help="Explain a rule, or list the rules."),
    ] = "",
) -> Result:
    """With --explain: a rule in words, with an example, or the list of all.

    Examples:

      accord check --explain axis-length
    """
    explained = explain(rule)
    rules = {name: row.to_json() for name, row in RULES.items() if rule in (ALL, name)}
    data = {"rules": rules} if rule == ALL else {"rule": rule, **rules[rule]}
    return Result(data, [Text(explained)])


def _kinds(given: Mapping[str, Any]) -> set[bool]:
    """Return whether files are of robots: of none, one kind or both."""
    named, _ = split_arguments(given["words"] or [])
    return set() if given["explain"] else {is_robot(Path(name)) for name in named}


OF_FILES = "words package sarif trust :="
RULE = AddedMode(lambda given: bool(given["explain"]), "explain", explain_rule)
FILE = AddedMode(lambda given: _kinds(given) == {True}, OF_FILES, check_files)
FILES = AddedMode(lambda given: _kinds(given) == {True, False}, f"{OF_FILES} models", check_files)
