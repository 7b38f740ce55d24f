"""Robots by name: those that installed packages register, and those that are a file.

A robot is registered by an entry point of GROUP, a kind of file by one of FILES; neither name
changes, for packages of others have them, nor does RELEASED, which users have. Names are read
without importing a package: listing and completion stay quick (test_start). What is loaded is
checked by `find_robot` in setup.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.plugins import entries, lacking
from roboaccord.scenario.user_code import line_of, place_of

GROUP = "robots"
FILES = "robot_files"  # by the ending of the file: the class of such robots
RELEASED = "released"  # scenario of a robot that is a file, where none is named


def robot_names() -> list[str]:
    """Return the names of the robots that are installed."""
    return sorted(entries(GROUP))


def is_file(name: str) -> bool:
    """Return whether a robot is named by its file."""
    return Path(name).suffix[1:] in entries(FILES)


def package_of(name: str) -> str:
    """Return the ROS package of a robot without importing it, "" for an unknown one."""
    entry = entries(GROUP).get(name.replace("-", "_"))
    return entry.module.partition(".")[0] if entry else ""


def load_robot(name: str, *recorded: str) -> Any:
    """Return what the entry point of a robot gives, or a robot that is a file.

    Args:
        name: with hyphens or underscores, or the path of the file.
        recorded: URDF and name of one that is a file, which is then not opened.

    Raises:
        AccordError: if there is none of that name, its package cannot be imported, or its file
            cannot be read.
    """
    if is_file(name):
        ending = "urdf" if recorded else Path(name).suffix[1:]
        return entries(FILES)[ending].load()(Path(name), *recorded)
    key = name.replace("-", "_")
    entry = entries(GROUP).get(key)
    if entry is None:
        hint = did_you_mean(key, robot_names())
        raise AccordError(lacking(GROUP, key) or f"unknown robot {name}{hint}")
    try:
        return entry.load()
    except AccordError:
        raise
    except (Exception, SystemExit) as error:
        what = f"{line_of(error)}{place_of(error)}".removeprefix("raised ")
        raise AccordError(f"robot {key} cannot be loaded: {what}") from error
