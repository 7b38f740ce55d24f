"""What installed packages add to the workspace, by entry points.

To add a command, controller, scenario or function from a package, change that package's setup.cfg,
not this file, and list it in packages.yaml here (test_plugins compares the two; packages.yaml only
serves to name the package of what is not installed). Groups may be added: a name that some caller
gives to `entries` and a line below. PREFIX and the forms below are fixed: packages of others use
them.

Each package adds by groups `roboaccord.GROUP`; nothing here knows one by name. What belongs to a
robot or a command carries its name, `OWNER.NAME`:

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

PREFIX = "roboaccord"
SHELF = Path(__file__).with_name("packages.yaml")


class NotInstalledError(AccordError):
    """What is asked for is in a package that is not installed."""


@cache
def entries(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group, by name."""
    return {entry.name: entry for entry in entry_points(group=f"{PREFIX}.{group}")}


def added(group: str, owner: str) -> Mapping[str, EntryPoint]:
    """Return what is added to a robot or a command, by its name there."""
    start = f"{owner}."
    return {
        name.removeprefix(start): e for name, e in entries(group).items() if name.startswith(start)
    }


def load(group: str, name: str, what: str = "") -> Any:
    """Return what an entry point names; `what` is as in `lacking`.

    Raises:
        AccordError: if no installed package has it, or its package lacks a library.
    """
    entry = entries(group).get(name)
    if entry is None:
        line = lacking(group, name, what)
        raise AccordError(line or f"no package adds {name} ({PREFIX}.{group})")
    try:
        return entry.load()
    except ImportError as error:
        needs = f"{name} needs {error.name}, which is not installed"
        raise AccordError(f"{needs}: accord doctor reports what to do") from error


def lacking(group: str, name: str, what: str = "") -> str:
    """Return a line that names the package of what is not installed; "" where there is none.

    Args:
        group: of entry points.
        name: of the entry.
        what: what the line calls it; its name by default.
    """
    if name in entries(group):
        return ""
    package = next((key for key, has in _shelf().items() if name in has.get(group, ())), "")
    if not package:
        return ""
    distribution = package if package.startswith(PREFIX) else f"{PREFIX}_{package}"
    where = f"the distribution {distribution.replace('_', '-')}, not installed"
    return f"{what or name} is in {where}: src/{package} of the repository"


@cache
def _shelf() -> Mapping[str, Mapping[str, list[str]]]:
    """Return what each package of the repository adds, by package and group."""
    import yaml

    names: Mapping[str, Mapping[str, list[str]]] = yaml.safe_load(SHELF.read_text("utf-8"))
    return names
