"""What installed packages add to the core, by entry points.

A package announces a function or class by an entry point `NAME = module:object` in its setup.cfg,
in the group `roboaccord.GROUP`. The core finds it by group and name, and knows no package by name:
`entries` and `added` list entry points, `load` imports the object of one. packages.yaml lists those
of all packages of the repository, installed or not, so that `lacking` can name the package that
must be installed for one (test_plugins compares it with the setup.cfg files).

The groups, with the names of their entry points and what the object is. One that belongs to a robot
or a command has its name in front, `OWNER.NAME`. Groups and forms must stay, because packages of
others use them.

    commands     NAME              function of a command of `accord`
                 ROBOT.NAME        function of a command of `accord ROBOT`
                 COMMAND.MODE      `modes.AddedMode` of a command; ROBOT.COMMAND.MODE of a robot's
    controllers  ROBOT.NAME        class of a controller, planner or diagnosis of a robot;
                                   roboaccord.NAME for all robots that are files
    scenarios    PACKAGE           package that ships scenarios/PACKAGE/*.yaml for PACKAGE's robots;
                                   packages.yaml lists each of these files as PACKAGE.SCENARIO
    functions    NAME              function that `import roboaccord as ra` offers as `ra.NAME`
                 FUNCTION.MODE     `modes.AddedMode` of such a function
                 show.CLASS        function that returns what is printed of a result of a class
                 plot.CLASS        function that returns its figure for pages (Plotly)
                 draw.robot        function that draws a robot, some links in red, as PNG
                 check.ROBOT       (this very name) function that the conformance test of every
                                   robot calls; it returns the problems of its files for Gazebo
    storages     db3, packed       class like `bag.records.McapScan` that reads a bag's file which
                                   ends in .db3, or is an MCAP file compressed by zstd
    twins        ENGINE            function that returns an engine which only runs elsewhere, as it
                                   was in a recorded run
    displays     NAME              function of setup and speed that makes the `cli.run.RunDisplay`
                                   of `accord run --view`
                 NAME.node         ROS node that does the same for launches, by `view:=`
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
    start = f"{owner}."
    return {n.removeprefix(start): e for n, e in entries(group).items() if n.startswith(start)}


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
    owners = (key for key, groups in _index().items() if name in groups.get(group, ()))
    package = next(owners, "")
    if not package:
        return ""
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
