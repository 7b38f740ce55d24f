"""Find files for Gazebo, check them, and show what is wrong: a part of `accord check`.

`check_for_gazebo` checks worlds, models and robots by the rules of check.py and by sdformat's own
checker (schema.py), and returns a `Check`, which `shown_of` prints. A checker that is not installed
is noted, and makes no problem. rules/command.py calls these functions. Keys of `Check.to_json` are
read by users' scripts, and stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from roboaccord.cli.console import make_table, note
from roboaccord.contract import AccordError, Json, by_fields, read_xml
from roboaccord.contract.outcome import Verdict
from roboaccord.description.urdf_file import NO_PACKAGES, STANDARD_INPUT, read_text
from roboaccord.description.xacro_file import NO_ARGUMENTS
from roboaccord.engines.formats import format_of, formats
from roboaccord.gazebo.tool import INSTALL, sdformat_tool

from roboaccord_files.gazebo.check import check_file
from roboaccord_files.gazebo.schema import VERSION, Problem, schema_folder, sdformat_problems
from roboaccord_files.gazebo.shipped import problems_of_robot, shipped_folder

# What of sdformat may not be installed, in words, by its name in the JSON.
PARTS = {"sdformat": "checker", "schema": "schema"}


@dataclass(frozen=True)
class Check:
    """The result of checking files for Gazebo.

    Args:
        files: problems by file or robot; an undecided one is an object, and not a text.
        missing: checkers that are not installed.
        findings: findings of the rules in robots' files.
    """

    files: Mapping[str, Sequence[Problem]]
    missing: tuple[str, ...]
    findings: Sequence[Any] = ()

    @property
    def verdict(self) -> Verdict:
        """`fail` if something is wrong, `undecided` if a checker did not answer, else `pass`."""
        problems = [problem for of_file in self.files.values() for problem in of_file]
        errors = any(finding.severity == "error" for finding in self.findings)
        if errors or any(isinstance(problem, str) for problem in problems):
            return "fail"
        return "undecided" if problems else "pass"

    def to_json(self) -> Mapping[str, Json]:
        """Return the fields and the verdict."""
        return {"verdict": self.verdict, **by_fields(self)}


def all_that_ships() -> list[Path]:
    """Return the worlds and models that ship.

    Raises:
        AccordError: where they are not installed.
    """
    if not (shipped := shipped_folder()):
        raise AccordError("name files: roboaccord_ros, which has the worlds, is not installed")
    return sorted([*shipped.glob("worlds/*.sdf"), *shipped.glob("models/*/model.*df")])


def check_for_gazebo(files: Sequence[Path], models: Sequence[Path], robots: Sequence[str]) -> Check:
    """Check worlds, models and robots as they are given to Gazebo; note what is not installed.

    Args:
        files: worlds and models.
        models: folders of models.
        robots: names.
    """
    shipped, tool = shipped_folder(), sdformat_tool()
    folders = [*models, shipped / "models"] if shipped else [*models]
    problems = dict[str, list[Problem]]()
    for path in files:
        by_rules = check_file(path, folders, ours=is_ours(path))  # first: it refuses large files
        asks_checker = bool(tool) and _has_known_version(path)
        by_checker = sdformat_problems(tool, path, folders) if asks_checker else []
        problems[_title(path)] = [*by_checker, *by_rules]
    problems |= {f"robot {name}": problems_of_robot(name, tool) for name in robots}
    installed = {"sdformat": tool, "schema": schema_folder()}
    missing = tuple(name for name in PARTS if problems and not installed[name])
    for name in missing:
        note(f"sdformat's {PARTS[name]} is not installed: {INSTALL}")
    return Check(problems, missing)


def shown_of(result: Check) -> list[RenderableType]:
    """Return the findings of the rules, and a table of the problems of each file for Gazebo."""
    if not result.files:
        return [*result.findings] or ["nothing found"]
    table = make_table("file", "problems", text=["problems"])
    for title, problems in result.files.items():
        table.add_row(title, "\n".join(map(str, problems)) or "none")
    return [*result.findings, table]


def is_robot(path: Path) -> bool:
    """Return whether a file is a robot's description, and not a world or an object for Gazebo."""
    if path.suffix == ".xacro" or path == STANDARD_INPUT:
        return True
    text = read_text(path, NO_PACKAGES, NO_ARGUMENTS)
    form = format_of(text)
    if form == "sdf":
        return "<joint" in text and "<world" not in text
    return form in {"robot", *formats()}


def is_ours(path: Path) -> bool:
    """Return whether a file is one of the worlds and models that ship."""
    if not (shipped := shipped_folder()):
        return False
    folders = ((shipped / name).resolve() for name in ("worlds", "models"))
    return any(map(path.resolve().is_relative_to, folders))


def _has_known_version(path: Path) -> bool:
    """Return whether sdformat, if installed, knows a file's version; note where it does not."""
    version = read_xml(path).get("version", VERSION)
    is_known = schema_folder(version) is not None or not schema_folder()
    if not is_known:
        note(f"{path.name}: SDF {version} is not known to sdformat here: its checker is not asked")
    return is_known


def neighbours(path: Path) -> Iterator[str]:
    """Yield a line for each file beside a robot's that is broken, or of another robot."""
    for name in ("model.config", "package.xml"):
        neighbour = path.parent / name
        if not neighbour.is_file():
            continue
        try:
            named = [(e.text or "").strip() for e in read_xml(neighbour).iter("sdf")]
        except AccordError as error:
            yield f"{error}: not used"
            continue
        if named and path.name not in named:
            yield f"{name} beside it names {', '.join(named)}: not used"


def _title(path: Path) -> str:
    """Return the name of a file with its folder, which tells models apart."""
    return f"{path.absolute().parent.name}/{path.name}"
