"""Options that several commands share, and the setup (robot and scenario) that they describe.

`accord` is built with Typer, which reads the options of a command from the types of its function's
parameters. Each option is such an annotated type here, as `RobotName` or `Out`; its flag, metavar
(the word for its value in the help) and help, in the line above with an underscore (`_robot`,
`_out`), are written once, and commands use the type. Below the types are functions that turn the
texts of options into values: `choose_engines`, `load_setup`, `one_scenario`, `read_packages`.

Names of options stay, as users type them. What the shell offers at Tab is in completion.py; options
that take several numbers are in many_numbers.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, ParamSpec, TypeVar

import typer

from roboaccord.cli.completion import complete_engines, complete_robot, complete_scenario
from roboaccord.cli.console import note
from roboaccord.contract import AccordError, Ratio, Seconds
from roboaccord.description.xacro_file import NO_ARGUMENTS
from roboaccord.engines import REFERENCE, check_engine, simulator_names
from roboaccord.engines.installed import default_names, installed_names
from roboaccord.scenario import Setup, setups
from roboaccord.scenario.keys import keys_of
from roboaccord.scenario.robot_file import remarks_on

P = ParamSpec("P")
R = TypeVar("R")


def listed(text: str) -> list[str]:
    """Return the words of a text that commas separate: of "a, b", "a" and "b"."""
    return [word.strip() for word in text.split(",") if word.strip()]


def enumeration(names: Sequence[str], conjunction: str) -> str:
    """Return two or more names as an enumeration in a sentence: "a, b or c"."""
    return f"{', '.join(names[:-1])} {conjunction} {names[-1]}"


# Robot and scenario.
_robot = typer.Argument(
    metavar="ROBOT|FILE",
    autocompletion=complete_robot,
    help="See `accord list`; or a URDF, xacro, SDF or MJCF file.",
)
RobotName = Annotated[str, _robot]
_scenario = typer.Argument(
    metavar="SCENARIO",
    autocompletion=complete_scenario,
    help="A scenario of the robot, or a YAML file.",
)
ScenarioName = Annotated[str, _scenario]
_scenario_if_any = typer.Argument(
    metavar="[SCENARIO] [NAME:=VALUE]...",
    autocompletion=complete_scenario,
    help="A scenario of the robot, or a YAML file; a robot's file needs none. "
    "Arguments of a xacro file.",
)
ScenarioIfAny = Annotated[list[str] | None, _scenario_if_any]
_set = typer.Option("--set", metavar="KEY=VALUE", help="Change a scenario key; may be repeated.")
Changes = Annotated[list[str] | None, _set]
_faults = typer.Option(
    "--fault",
    metavar="JOINT=KIND[@S]",
    help="Let a joint fail, at a time: frozen, frozen:RAD (from the start), loose, "
    "weak:FRACTION, slipping:N_M, backlash:RAD, stuck or drifting:RAD_PER_S; may be repeated. "
    "It replaces the scenario's key faults.",
)
Faults = Annotated[list[str] | None, _faults]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")]

# A robot that is a file.
_base = typer.Option(
    metavar="BASE", help="How the root of a robot's file moves: fixed (default), planar or free."
)
Base = Annotated[str, _base]
_packages = typer.Option(
    "--package",
    metavar="NAME=DIR",
    help="Folder of a ROS package that a robot's file names; may be repeated. Default: a "
    "folder of that name beside the file or above it, or the package as installed.",
)
Packages = Annotated[list[str] | None, _packages]
_trust = typer.Option("--trust", help="Let the expressions of a xacro file do all that you can.")
Trust = Annotated[bool, _trust]

# Engines.
_engine_choice = f"{enumeration(simulator_names(), 'or')}."
_engine = typer.Option(metavar="NAME", autocompletion=complete_engines, help=_engine_choice)
Engine = Annotated[str, _engine]
_default_engines = enumeration((REFERENCE, *default_names()), "and")
_engines = typer.Option(
    metavar="LIST",
    autocompletion=complete_engines,
    help=f"Engines, separated by commas. Default: {_default_engines}, with a line for each that "
    "is not installed.",
)
Engines = Annotated[str, _engines]

# Results, their display, and where they are computed.
_out = typer.Option(
    "--out",
    metavar="DIR",
    help="Folder for the results; one with something else in it is refused. "
    "Default: a new one under runs/.",
)
Out = Annotated[Path | None, _out]
_force = typer.Option(
    "--force",
    help="Use --out whatever it holds: files that accord wrote there are deleted, others "
    "are kept unless the results have the same names.",
)
Force = Annotated[bool, _force]
# A motion of 10 s takes from half a second to 200 s; other speeds show nothing.
_speed = typer.Option(min=0.05, max=20.0, help="Seconds of motion a second of film or page.")
Speed = Annotated[Ratio, _speed]
_stay = typer.Option(metavar="S", min=0.0, help="How long the page stays; default: until Ctrl-C.")
Stay = Annotated[Seconds, _stay]
_cluster = typer.Option(
    metavar="ADDRESS",
    help="Work on a Dask cluster with this scheduler, tcp://HOST:PORT; default: on the cores "
    "of this machine.",
)
Cluster = Annotated[str, _cluster]


def choose_engines(names: str) -> list[str]:
    """Return the engines of a list with commas, each checked; of "" the installed defaults.

    A default engine that is not installed is reported in a line on stderr.
    """
    chosen = listed(names) or installed_names(note)
    for engine in chosen:
        check_engine(engine)
    return chosen


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
    """Return the setup that `scenario.setups.load_setup` makes; print its remarks on stderr.

    Arguments are the values of the options of the same names here; None stands for none given.
    """
    setup = setups.load_setup(
        robot,
        scenario,
        changes or (),
        faults or (),
        base=base,
        packages=read_packages(packages or ()),
        arguments=arguments,
        endless=endless,
    )
    for subject, remark in remarks_on(setup).items():
        note(f"{subject}: {remark}")
    note_doubts(setup, changes or ())
    return setup


def note_doubts(setup: Setup, changes: Sequence[str]) -> None:
    """Print a line about each change of a number that is hardly meant, although it is accepted."""
    units = {key.key: key.unit for key in keys_of(setup)} if changes else {}
    for key, _, text in (change.partition("=") for change in changes):
        with suppress(ValueError):
            in_rad = math.radians(float(text))
            unit = units.get(key) or units.get(key.rpartition(".")[0])
            if unit == "rad" and abs(float(text)) > math.tau:
                note(f"{key}: {text} rad is more than a turn; {text} degrees are {in_rad:.3g} rad")
            if key == "parameters.gravity" and in_rad < 0.0:
                note(f"{key}: {text} points upwards, a positive number downwards")


def one_scenario(words: Sequence[str] | None) -> tuple[str, dict[str, str]]:
    """Return the scenario among words, "" if there is none, and the arguments of a xacro file.

    Raises:
        AccordError: for more than one scenario.
    """
    names, arguments = split_arguments(words or [])
    if len(names) > 1:
        raise AccordError(f"one scenario, not {names[0]} and {names[1]}")
    return names[0] if names else "", arguments


def split_arguments(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the plain words, and the `NAME:=VALUE` arguments of a xacro file by name."""
    arguments = dict(word.split(":=", 1) for word in words if ":=" in word)
    return [word for word in words if ":=" not in word], arguments


def read_packages(texts: Sequence[str]) -> dict[str, Path]:
    """Return the folders of `NAME=DIR` texts, by name of the package; raise as `pairs_of`."""
    return {name: Path(path) for name, path in pairs_of(texts, "--package takes NAME=DIR").items()}


def pairs_of(texts: Iterable[str], form: str) -> dict[str, str]:
    """Return what stands after the first `=` of each text, by what stands before it.

    Args:
        texts: values of an option that may be repeated.
        form: the option and what it takes, for the error: "--map takes A=B".

    Raises:
        AccordError: for a text without `=`, or with nothing before or after it.
    """
    pairs = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not (name and value):
            raise AccordError(f"{form}, not {text!r}")
        pairs[name] = value
    return pairs


def in_pieces() -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for a command whose work `run_pieces` does: it gets `--cluster`."""
    return marked("in_pieces", True)


def marked(name: str, value: object) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that sets an attribute of a command's function.

    `add_command` (command.py) reads the attribute when it makes the command.
    """

    def set_attribute(function: Callable[P, R]) -> Callable[P, R]:
        function.__dict__[name] = value
        return function

    return set_attribute
