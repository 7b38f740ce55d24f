"""What installed packages add to the core, by entry points.

A package announces a function or class by an entry point in its setup.cfg, in the group
`roboaccord.GROUP`. The core finds it by group and name, and knows no package by name: `entries` and
`added` list entry points, `load` imports the object of one. packages.yaml lists those of all
packages of the repository, installed or not, so that `lacking` can name the package that must be
installed for one (test_plugins compares it with the setup.cfg files). Names of groups, and the
forms below, must stay, because packages of others use them.

An entry point that belongs to a robot or a command has its name in front, `OWNER.NAME`:

    commands     NAME = module:function, a command of `accord`; ROBOT.NAME, of a robot's group;
                 COMMAND.MODE, ROBOT.COMMAND.MODE = module:object, an `AddedMode` of a command
    controllers  ROBOT.NAME = module:class, a controller, planner or diagnosis of a robot;
                 roboaccord.NAME, of robots that are files
    scenarios    PACKAGE = package, which ships scenarios/PACKAGE/*.yaml for the robots of PACKAGE;
                 in packages.yaml PACKAGE.SCENARIO, each of them
    functions    NAME = module:function, a name of `import roboaccord as ra`; FUNCTION.MODE, an
                 `AddedMode` of a function; show.CLASS and plot.CLASS, of results of the package:
                 what is printed, and a flat figure as Plotly has them; check.ROBOT, of conformance
    storages     KIND = module:class, a `bag.records.McapScan` that reads a storage of rosbag2: by
                 the ending, db3, or packed, of an MCAP file in zstd
    twins        ENGINE = module:function, of an engine that is not simulated here, as it made a run
    displays     NAME = module:function, which makes a `cli.run.RunDisplay` of setup and speed, to
                 show a run by `accord run --view`; NAME.node, the node of launches by `view:=`
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from roboaccord.contract.errors import AccordError

PREFIX = "roboaccord"  # of all groups
INDEX = Path(__file__).with_name("packages.yaml")  # entry points of the repository's packages


class NotInstalledError(AccordError):
    """The requested object is in a package that is not installed."""


@cache
def entries(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group, by name."""
    return {entry.name: entry for entry in entry_points(group=f"{PREFIX}.{group}")}


def added(group: str, owner: str) -> Mapping[str, EntryPoint]:
    """Return the entry points `OWNER.NAME` of an owner, a robot or a command, by NAME."""
    start, by_name = f"{owner}.", entries(group)
    return {n.removeprefix(start): entry for n, entry in by_name.items() if n.startswith(start)}


def load(group: str, name: str, what: str = "") -> Any:
    """Import and return the object of an entry point; arguments as of `lacking`.

    Raises:
        AccordError: if no installed package has it, or a library is missing to import it.
    """
    entry = entries(group).get(name)
    if entry is None:
        not_installed = lacking(group, name, what)
        raise AccordError(not_installed or f"no package adds {name} ({PREFIX}.{group})")
    try:
        return entry.load()
    except ImportError as error:
        needs = f"{name} needs {error.name}, which is not installed"
        raise AccordError(f"{needs}: accord doctor reports what to do") from error


def lacking(group: str, name: str, what: str = "") -> str:
    """Return a line that names the package of an entry point that is not installed.

    Return "" for an entry point that is installed, or that no package of the repository has.

    Args:
        group: group of entry points.
        name: name of the entry point.
        what: its name in the line; by default `name`.
    """
    if name in entries(group):
        return ""
    packages = [key for key, groups in _index().items() if name in groups.get(group, ())]
    if not packages:
        return ""
    package = packages[0]
    distribution = package if package.startswith(PREFIX) else f"{PREFIX}_{package}"
    where = f"the distribution {distribution.replace('_', '-')}, not installed"
    return f"{what or name} is in {where}: src/{package} of the repository"


@cache
def _index() -> Mapping[str, Mapping[str, list[str]]]:
    """Return the names of entries that packages of the repository add, by package and group."""
    from importlib.resources import files  # reads from an unpacked wheel and from its archive

    import yaml

    text = files(__package__).joinpath(INDEX.name).read_text("utf-8")
    names: Mapping[str, Mapping[str, list[str]]] = yaml.safe_load(text)
    return names
