"""Options that several commands share, and the setup (robot and scenario) that they describe.

Each option is an annotated type here, such as `RobotName` or `Out`, which commands use for their
parameters: its name and help are written once. Below them are the functions that read option texts
and load the setup. Names of options stay, as users type them. What the shell offers at Tab is in
completion.py; options that take several numbers are in many_numbers.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ParamSpec, TypeVar

import typer

from roboaccord.cli.completion import complete_engines, complete_robot, complete_scenario
from roboaccord.cli.console import note
from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import Ratio, Seconds
from roboaccord.description.xacro_file import NO_ARGUMENTS
from roboaccord.engines import (
    REFERENCE,
    check_engine,
    default_names,
    installed_names,
    simulator_names,
)
from roboaccord.scenario import setups
from roboaccord.scenario.installed import is_file
from roboaccord.scenario.robot_file import remarks_on
from roboaccord.scenario.setup import Setup

P = ParamSpec("P")
R = TypeVar("R")


def listed(text: str) -> list[str]:
    """Return the words of a text that commas separate: of "a, b", "a" and "b"."""
    return [word.strip() for word in text.split(",") if word.strip()]


def either(names: Sequence[str], word: str = "or") -> str:
    """Return names as an enumeration in a sentence: "a, b or c"."""
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


RobotName = Annotated[str, typer.Argument(
    metavar="ROBOT|FILE", autocompletion=complete_robot,
    help="See `accord list`; or a URDF, xacro, SDF or MJCF file.",
)]  # fmt: skip
ScenarioName = Annotated[str, typer.Argument(
    metavar="SCENARIO", autocompletion=complete_scenario,
    help="A scenario of the robot, or a YAML file.",
)]  # fmt: skip
ScenarioIfAny = Annotated[list[str] | None, typer.Argument(
    metavar="[SCENARIO] [NAME:=VALUE]...", autocompletion=complete_scenario,
    help="A scenario of the robot, or a YAML file; a robot's file needs none. Arguments of a "
    "xacro file.",
)]  # fmt: skip
Changes = Annotated[list[str] | None, typer.Option(
    "--set", metavar="KEY=VALUE", help="Change a scenario key; may be repeated."
)]  # fmt: skip
Faults = Annotated[list[str] | None, typer.Option(
    "--fault", metavar="JOINT=KIND[@S]",
    help="Let a joint fail, at a time: frozen, frozen:RAD (from the start), loose, "
    "weak:FRACTION, slipping:N_M, backlash:RAD, stuck or drifting:RAD_PER_S; may be repeated. "
    "It replaces the scenario's key faults.",
)]  # fmt: skip
Engine = Annotated[str, typer.Option(
    metavar="NAME", autocompletion=complete_engines, help=f"{either(simulator_names())}."
)]  # fmt: skip
Engines = Annotated[str, typer.Option(
    metavar="LIST", autocompletion=complete_engines,
    help="Engines, separated by commas. Default: "
    f"{either((REFERENCE, *default_names()), 'and')}, with a line for each that is not installed.",
)]  # fmt: skip
# A motion of 10 s takes from half a second to 200 s; other speeds show nothing.
Speed = Annotated[Ratio, typer.Option(
    min=0.05, max=20.0, help="Seconds of motion a second of film or page."
)]  # fmt: skip
Stay = Annotated[Seconds, typer.Option(
    metavar="S", min=0.0, help="How long the page stays; default: until Ctrl-C."
)]  # fmt: skip
Seed = Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")]
Out = Annotated[Path | None, typer.Option(
    "--out", metavar="DIR",
    help="Folder for the results; one with something else in it is refused. "
    "Default: a new one under runs/.",
)]  # fmt: skip
Force = Annotated[bool, typer.Option(
    "--force",
    help="Use --out whatever it holds: files that accord wrote there are deleted, others "
    "are kept unless the results have the same names.",
)]  # fmt: skip
Base = Annotated[str, typer.Option(
    metavar="BASE", help="How the root of a robot's file moves: fixed (default), planar or free."
)]  # fmt: skip
Packages = Annotated[list[str] | None, typer.Option(
    "--package", metavar="NAME=DIR",
    help="Folder of a ROS package that a robot's file names; may be repeated. Default: a "
    "folder of that name beside the file or above it, or the package as installed.",
)]  # fmt: skip
Trust = Annotated[bool, typer.Option(
    "--trust", help="Let the expressions of a xacro file do all that you can."
)]  # fmt: skip
Cluster = Annotated[str, typer.Option(
    metavar="ADDRESS",
    help="Work on a Dask cluster with this scheduler, tcp://HOST:PORT; default: on the cores "
    "of this machine.",
)]  # fmt: skip


def choose_engines(names: str) -> list[str]:
    """Return the engines of a list with commas, each checked; of "" the installed defaults.

    A default engine that is not installed is reported in a line on stderr.
    """
    engines = listed(names) or installed_names(note)
    for engine in engines:
        check_engine(engine)
    return engines


def load_setup(
    robot: str,
    scenario: str,
    changes: list[str] | None = None,
    faults: list[str] | None = None,
    base: str = "",
    packages: list[str] | None = None,
    *,
    arguments: Mapping[str, str] = NO_ARGUMENTS,
    endless: bool = False,
) -> Setup:
    """Return the setup that `scenario.setups.load_setup` makes; print its remarks on stderr."""
    setup = setups.load_setup(
        robot, scenario, changes or (), faults or (), base=base,
        packages=read_packages(packages or ()), arguments=arguments, endless=endless,
    )  # fmt: skip
    for subject, words in remarks_on(setup).items():
        note(f"{subject}: {words}")
    return setup


def one_scenario(words: Sequence[str] | None) -> tuple[str, dict[str, str]]:
    """Return the scenario among words, "" if there is none, and the arguments of a xacro file.

    Raises:
        AccordError: for more than one scenario.
    """
    names, arguments = split_arguments(words or [])
    if len(names) > 1:
        raise AccordError(f"one scenario, not {names[0]} and {names[1]}")
    return (names or [""])[0], arguments


def split_arguments(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the plain words, and the `NAME:=VALUE` arguments of a xacro file by name."""
    arguments = dict(word.split(":=", 1) for word in words if ":=" in word)
    return [word for word in words if ":=" not in word], arguments


def read_packages(texts: Sequence[str]) -> dict[str, Path]:
    """Return the folders of `NAME=DIR` texts, by name of the package.

    Raises:
        AccordError: for a text of another form.
    """
    folders = {}
    for text in texts:
        name, equals, folder = text.partition("=")
        if not (name and equals and folder):
            raise AccordError(f"--package takes NAME=DIR, not {text!r}")
        folders[name] = Path(folder)
    return folders


def refuse_missing_bag(name: str) -> None:
    """Refuse a word that looks like the path of a bag, and is no file.

    Raises:
        AccordError: naming it.
    """
    if ("/" in name and not is_file(name)) or name.endswith((".mcap", ".db3")):
        raise AccordError(f"no bag {name}")


def in_pieces() -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for a command whose work `run_pieces` does: it gets `--cluster`."""
    return marked("in_pieces", True)


def marked(name: str, value: object) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that sets an attribute of a command's function, for `add_command`."""

    def mark(function: Callable[P, R]) -> Callable[P, R]:
        function.__dict__[name] = value
        return function

    return mark
