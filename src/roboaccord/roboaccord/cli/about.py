"""`accord list`, `scenario`, `doctor` and `new-robot`: what is available, and a template package.

`list` and `scenario` print robots, scenarios and their keys, `doctor` reports which software is
installed, and `new-robot` writes the package of a pendulum from the templates NAME.jinja in
templates/robot (test_new_robot builds, runs and tests it). A library or program that `doctor` looks
for is added to OPTIONAL or PROGRAMS. `check_name` refuses names that ROS does not take [REP-144].
"""

from __future__ import annotations

import importlib.util
import keyword
import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from roboaccord.cli.completion import complete_robot
from roboaccord.cli.console import make_table, warn
from roboaccord.cli.options import Changes, RobotName, ScenarioName, load_setup
from roboaccord.cli.result import Result
from roboaccord.contract.errors import EXTRAS, AccordError, missing
from roboaccord.contract.results import Json, to_json
from roboaccord.description.resources import modules_of
from roboaccord.engines import Missing, engine_names, spec
from roboaccord.numerics.jit import HAS_NUMBA
from roboaccord.run.output import make_folder, write_text
from roboaccord.scenario.catalogue import read_catalogue
from roboaccord.scenario.installed import robot_names
from roboaccord.scenario.keys import REQUIRED, Key, keys_of

# Optional libraries by importable module: what each is for, and how to get it.
OPTIONAL = {
    "rclpy": "transport ros; from ROS 2, or make",
    "viser": "accord view in the browser; pip install viser",
    "pinocchio": "the Packbot's reference and controllers; pip install pin coal",
    "skimage": "meshes of terrain; pip install scikit-image trimesh fast-simplification",
    "launch": "ros2 launch; from ROS 2",
}
# Optional programs by command: what each is for, and how to get it.
PROGRAMS = {
    "gz": "for sim:=gz; Gazebo Sim",
    "ffmpeg": "for accord view --mp4; apt-get install ffmpeg",
}
TRANSPORTS = "roboaccord.runners"  # group of entry points
# Padding of the facts of a key (top, right, bottom, left) in lines and characters: chosen by eye.
INDENT = (0, 0, 0, 4)
TEMPLATE_SUFFIX = ".jinja"  # of the names of templates
_robot = typer.Argument(help="Robot whose scenarios are listed.", autocompletion=complete_robot)
ListedRobot = Annotated[str, _robot]
NewName = Annotated[str, typer.Argument(help="Name of the robot and of its package.")]
NewFolder = Annotated[Path, typer.Option("--dir", help="Folder for the package.")]


def doctor_command() -> Result:
    """Report which software this machine has, and how to install what is missing.

    Example:

      accord doctor
    """
    # Of each item: whether it is installed, and a note.
    rows: dict[str, tuple[bool, str]] = {
        "python": (True, f"{platform.python_version()} in {sys.prefix}"),
        "numba": (HAS_NUMBA, "" if HAS_NUMBA else "kernels run 100 times slower"),
    }
    for extra in EXTRAS:
        rows[extra] = (not missing(extra), missing(extra))
    for engine in engine_names():
        availability = spec(engine).look()
        if isinstance(availability, Missing):
            rows[engine] = (False, availability.reason)
        else:
            rows[engine] = (True, availability.version)
    for module, use in OPTIONAL.items():
        rows[module] = (True, "") if is_importable(module) else (False, f"for {use}")
    for program, use in PROGRAMS.items():
        rows[f"command {program}"] = (True, "") if shutil.which(program) else (False, use)
    rows["robots"] = (bool(robot_names()), ", ".join(robot_names()))
    rows["transports"] = (True, ", ".join(entry_points(group=TRANSPORTS).names))
    table = make_table("what", "found", "note", words=["found"], text=["note"])
    data = dict[str, Json]()
    for name, (is_installed, note) in rows.items():
        table.add_row(name, Text("yes", "green") if is_installed else Text("no", "yellow"), note)
        data[name] = {"found": is_installed, "note": note}
    return Result(data, [table])


def is_importable(module: str) -> bool:
    """Return whether a module can be imported, by importing it."""
    with suppress(ImportError):
        return bool(importlib.import_module(module))
    return False


def list_command(robot: ListedRobot = "") -> Result:
    """List the robots, or the scenarios of one.

    Examples:

      accord list

      accord list snake
    """
    catalogue = read_catalogue(robot)
    for name, reason in catalogue.broken.items():
        warn(f"robot {name} is left out: {reason}")
    # Suggested command lines, and what they do.
    next_steps = {
        "accord run {} SCENARIO": "run one and record it",
        "accord crosscheck {} SCENARIO": "check the engines on it",
        "accord {} --help": "its own commands",
    }
    if robot:
        rows = {row.scenario: row.description for row in catalogue.scenarios}
        table = make_table("scenario", "what it shows", text=["what it shows"])
    else:
        rows = {row.robot: row.summary for row in catalogue.scenarios}
        table = make_table("robot", "what it is", text=["what it is"])
        next_steps = {"accord list {}": "its scenarios", **next_steps}
    for name, description in rows.items():
        table.add_row(name, description)
    commands = {line.format(robot or "ROBOT"): purpose for line, purpose in next_steps.items()}
    width = max(map(len, commands)) + 2
    lines = [f"{command:<{width}}{purpose}" for command, purpose in commands.items()]
    return Result(catalogue, [table, "", *lines])


def scenario_command(robot: RobotName, scenario: ScenarioName, changes: Changes = None) -> Result:
    """List all keys of a scenario with value, type, unit, default and meaning.

    Each is a line as `--set` takes it, quoted for the shell, with its meaning below. Keys of the
    robot's parameters, of its controller, of friction and terrain are among them.

    Examples:

      accord scenario snake serpenoid

      accord scenario packbot reach --set controller.name=velocity --json
    """
    keys = keys_of(load_setup(robot, scenario, changes))
    output: list[RenderableType] = []
    for key in keys:  # users copy the first line: a plain string is never wrapped
        output += [shlex.quote(f"{key.key}={key.value}"), Padding(Text(_key_facts(key)), INDENT)]
    return Result({"keys": to_json(keys)}, output)


def _key_facts(key: Key) -> str:
    """Return the type, unit, default and meaning of a key as one text."""
    default = REQUIRED if key.default == REQUIRED else f"default {key.default}"
    facts = ", ".join(filter(None, (key.kind, key.unit and f"[{key.unit}]", default)))
    return f"{facts}: {key.meaning}" if key.meaning else facts


def new_robot_command(name: NewName, folder: NewFolder = Path("src")) -> Result:
    """Make the package of a new robot: a pendulum, as a starting point.

    It has a description, parameters, equations of its own, a scenario, a launch file and tests.

    Example:

      accord new-robot arm
    """
    check_name(name)
    package = folder / name
    files = write_package(name, package)
    local = "--no-build-isolation " if importlib.util.find_spec("setuptools") else ""
    commands = (
        f"pip install --no-deps {local}-e {package}",
        f"accord run {name} swing",
        f"accord crosscheck {name} swing",
        f"python -m pytest {package}",
    )
    lines = [f"{package}: {len(files)} files. Now:", *(f"  {command}" for command in commands)]
    data = {"package": str(package), "files": [str(file) for file in files], "next": commands}
    return Result(data, lines, used={"dir": None})


def check_name(name: str) -> None:
    """Refuse a name that is not one of a ROS package [REP-144], or that is in use.

    Raises:
        AccordError: stating why.
    """
    if not re.fullmatch(r"[a-z](_?[a-z0-9])+", name) or keyword.iskeyword(name):
        rule = "small letters, digits and single underscores, a letter first"
        raise AccordError(f"{name!r} is not a name for a package: {rule}")
    if name in robot_names():
        raise AccordError(f"a robot named {name} already exists: choose another name")
    module = importlib.util.find_spec(name)
    if module and module.origin:
        raise AccordError(f"there is a Python package {name} already: choose another name")


def write_package(name: str, package: Path) -> list[Path]:
    """Write the package of a new robot, and return its files.

    Raises:
        AccordError: if the folder is not empty, or cannot be written.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    variables = {"name": name, "title": "".join(word.capitalize() for word in name.split("_"))}
    files = []
    # The topmost folder that does not exist yet is removed again if writing fails.
    folders = [*reversed(package.parents), package]
    new_folder = next((folder for folder in folders if not os.path.lexists(folder)), None)
    try:
        if package.exists() and any(package.iterdir()):
            raise AccordError(f"{package} is there already, and is not empty")
        for path, text in templates():
            file = package / path.replace("NAME", name)
            make_folder(package.parent, file.parent.relative_to(package.parent))
            write_text(file, environment.from_string(text).render(variables))
            files.append(file)
    except (AccordError, OSError) as error:
        if new_folder:
            shutil.rmtree(new_folder, ignore_errors=True)
        if isinstance(error, AccordError):
            raise
        raise AccordError(f"cannot write {package}: {error.strerror}") from None
    return files


def templates() -> Iterator[tuple[str, str]]:
    """Yield (path, template) of each file of a package; NAME in a path stands for the robot."""
    top = (modules_of("roboaccord") or Path()) / "cli" / "templates" / "robot"
    for file in sorted(top.rglob(f"*{TEMPLATE_SUFFIX}")):
        path = file.relative_to(top).as_posix()
        yield path.removesuffix(TEMPLATE_SUFFIX), file.read_text(encoding="utf-8")
