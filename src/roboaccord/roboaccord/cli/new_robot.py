"""`accord new-robot`: the smallest package of a robot that runs, cross-checks and tests itself."""

from __future__ import annotations

import importlib.util
import keyword
import os
import re
import shutil
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import typer

from roboaccord.cli.command import Result
from roboaccord.contract.errors import AccordError
from roboaccord.run.output import make_folder, write_text
from roboaccord.scenario.setup import robot_names

SUFFIX = ".jinja"


def new_robot_command(
    name: Annotated[str, typer.Argument(help="Of the robot and of its package.")],
    folder: Annotated[Path, typer.Option("--dir", help="Where the package goes.")] = Path("src"),
) -> Result:
    """Make the package of a new robot: a pendulum, to be made into what you want.

    It has a description, parameters, equations of its own, a scenario, a launch file and tests.

    Example:

      accord new-robot arm
    """
    check_name(name)
    package = folder / name
    made = write_package(name, package)
    local = "--no-build-isolation " if importlib.util.find_spec("setuptools") else ""
    commands = (
        f"pip install --no-deps {local}-e {package}",
        f"accord run {name} swing",
        f"accord crosscheck {name} swing",
        f"python -m pytest {package}",
    )
    shown = [f"{package}: {len(made)} files. Now:", *(f"  {command}" for command in commands)]
    data = {"package": str(package), "files": [str(file) for file in made], "next": commands}
    return Result(data, shown, used={"dir": None})


def check_name(name: str) -> None:
    """Refuse what is no name of a ROS package [REP-144], or is one already.

    Raises:
        AccordError: one line that says why.
    """
    if not re.fullmatch(r"[a-z](_?[a-z0-9])+", name) or keyword.iskeyword(name):
        raise AccordError(
            f"{name!r} is no name for a package: small letters, digits and single underscores, "
            "a letter first"
        )
    if name in robot_names():
        raise AccordError(f"there is a robot {name} already")
    found = importlib.util.find_spec(name)
    if found and found.origin:
        raise AccordError(f"there is a Python package {name} already: choose another name")


def write_package(name: str, package: Path) -> list[Path]:
    """Write the package of a new robot, and return its files.

    Raises:
        AccordError: if the folder holds something, or cannot be written.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    words = {"name": name, "title": "".join(word.capitalize() for word in name.split("_"))}
    made = []
    places = [*reversed(package.parents), package]
    new = next((place for place in places if not os.path.lexists(place)), None)
    try:
        if package.exists() and any(package.iterdir()):
            raise AccordError(f"{package} is there already, and is not empty")
        for path, text in templates():
            file = package / path.replace("NAME", name)
            make_folder(package.parent, file.parent.relative_to(package.parent))
            write_text(file, environment.from_string(text).render(words))
            made.append(file)
    except (AccordError, OSError) as error:
        if new:
            shutil.rmtree(new, ignore_errors=True)
        if isinstance(error, AccordError):
            raise
        raise AccordError(f"cannot write {package}: {error.strerror}") from None
    return made


def templates() -> Iterator[tuple[str, str]]:
    """Yield the path of each file of a package, with NAME for the robot's, and its template."""

    def walk(folder: Traversable, path: str) -> Iterator[tuple[str, str]]:
        for each in sorted(folder.iterdir(), key=lambda each: each.name):
            if each.is_dir():
                yield from walk(each, f"{path}{each.name}/")
            elif each.name.endswith(SUFFIX):
                yield f"{path}{each.name.removesuffix(SUFFIX)}", each.read_text(encoding="utf-8")

    return walk(files("roboaccord.cli") / "templates" / "robot", "")
