"""`accord check`: static checks of worlds, models, robots and bridges for Gazebo."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table, note
from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Verdict
from roboaccord.contract.results import Json, by_fields
from roboaccord.description.checks import check_world
from roboaccord.description.resources import share
from roboaccord.gazebo.check import check_file, check_robot
from roboaccord.gazebo.form import base_in_gazebo, expand_for_gazebo
from roboaccord.gazebo.tool import Problem, schema_folder, sdformat_problems, sdformat_tool
from roboaccord.scenario.files import load_scenario, scenario_names
from roboaccord.scenario.setup import Setup, find_robot, robot_names

MISSING = {
    "sdformat": "sdformat's checker is not installed: "
    "apt-get install ignition-tools libsdformat-dev",
    "schema": "sdformat's schema is not installed: apt-get install sdformat-sdf",
}


@dataclass(frozen=True)
class Check:
    """Hold the problems of each file and robot, and the checkers that are not installed."""

    files: Mapping[str, Sequence[Problem]]
    missing: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """Whether nothing is wrong, and nothing undecided."""
        found = [problem for problems in self.files.values() for problem in problems]
        if any(isinstance(problem, str) for problem in found):
            return "fail"
        return "undecided" if found else "pass"

    def to_json(self) -> Mapping[str, Json]:
        """Return the fields and the verdict."""
        return {"verdict": self.verdict, **by_fields(self)}


def check_command(
    files: Annotated[
        list[Path] | None, typer.Argument(help="SDF files; all that ship, and robots, if none.")
    ] = None,
    models: Annotated[
        list[Path] | None, typer.Option(help="Folder of models, for model://NAME.")
    ] = None,
) -> Result:
    """Check what is given to Gazebo: worlds, models, robots and bridges.

    Gazebo takes unknown elements, missing systems and unbridged topics in silence. This looks
    for them, and asks sdformat's own checker where it is installed. Exit status 1 if something
    is wrong, or undecided because the checker did not answer.

    Examples:

      accord check

      accord check worlds/mine.sdf --models models
    """
    shipped = _shipped_folder()
    folders = [*(models or []), *([shipped / "models"] if shipped else [])]
    if files is None and shipped is None:
        raise AccordError("name files: roboaccord_ros, which has the worlds, is not installed")
    paths = files or sorted([*shipped.glob("worlds/*.sdf"), *shipped.glob("models/*/model.*df")])  # type: ignore[union-attr]
    tool = sdformat_tool()
    found = {}
    for path in paths:
        own = check_file(path, folders)  # which reads bounded files alone
        found[_title(path)] = [*(sdformat_problems(tool, path, folders) if tool else []), *own]
    if not files:
        found |= {f"robot {name}": problems_of_robot(name, tool) for name in robot_names()}
    there = {"sdformat": tool, "schema": schema_folder()}
    result = Check(found, tuple(name for name in MISSING if not there[name]))
    for name in result.missing:
        note(MISSING[name])
    return Result(result.to_json(), [table_of(result)], ok=result.verdict == "pass")


def problems_of_robot(name: str, tool: str) -> list[Problem]:
    """Return what is wrong with a robot's description and bridge, as it is put into Gazebo."""
    bridge = share(find_robot(name).package) / "config" / "bridge.yaml"
    if not bridge.is_file():
        return ["config/bridge.yaml is missing"]
    shipped = _shipped_folder()
    worlds = sorted((shipped / "worlds").glob("*.sdf")) if shipped else []
    problems: list[Problem] = []
    for setup in setups_in_gazebo(name):
        urdf = expand_for_gazebo(setup)
        if tool:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"{name}.urdf"
                path.write_text(urdf, encoding="utf-8")
                problems += sdformat_problems(tool, path, [])
        problems += check_robot(urdf, bridge.read_text(encoding="utf-8"), worlds)
        try:
            check_world(urdf, base_in_gazebo(setup.scenario))
        except AccordError as error:
            problems.append(str(error))
    return list(dict.fromkeys(problems))


def setups_in_gazebo(name: str) -> list[Setup]:
    """Return a setup of a robot for each base that its scenarios have in Gazebo."""
    package = find_robot(name).package
    scenarios = [load_scenario(package, name, each) for each in scenario_names(package)]
    return [Setup.of(each) for each in {base_in_gazebo(each): each for each in scenarios}.values()]


def _shipped_folder() -> Path | None:
    try:
        return share("roboaccord_ros")
    except AccordError:
        return None


def _title(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def table_of(result: Check) -> RenderableType:
    """Return the problems of each file."""
    table = make_table("file", "problems", text=["problems"])
    for title, problems in result.files.items():
        table.add_row(title, "\n".join(map(str, problems)) or "none")
    return table
