"""Robots by name: those that installed packages register, and those that are a file.

A robot is registered by an entry point of the group GROUP; a kind of file, by its ending, by one of
FILES. Names are read without importing the packages, so that listing and completion are quick
(test_start); `load_robot` imports one, and `find_robot` in setup.py checks what it is. GROUP, FILES
and RELEASED stay, because packages and users have them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from roboaccord.contract import AccordError, did_you_mean, plugins
from roboaccord.scenario.user_code import line_of, place_of

GROUP = "robots"  # group of entry points, by name of the robot
FILES = "robot_files"  # group of entry points, by ending of the file: the class of such robots
RELEASED = "released"  # scenario of a robot that is a file, if none is named


def robot_names() -> list[str]:
    """Return the sorted names of the installed robots."""
    return sorted(plugins.entries(GROUP))


def is_file(name: str) -> bool:
    """Return whether the name of a robot is the path of a file, by its ending."""
    return Path(name).suffix[1:] in plugins.entries(FILES)


def package_of(name: str) -> str:
    """Return the package of a robot without importing it; "" for an unknown robot."""
    entry = plugins.entries(GROUP).get(name.replace("-", "_"))
    return entry.module.partition(".")[0] if entry else ""


def load_robot(name: str, *recorded: str) -> Any:
    """Return what the entry point of a robot names, or make a robot of a file.

    Args:
        name: with hyphens or underscores, or the path of a file.
        recorded: URDF and name of a recorded robot that is a file, which is then not opened.

    Raises:
        AccordError: if there is none of that name, its package cannot be imported, or its file
            cannot be read.
    """
    if is_file(name):
        ending = "urdf" if recorded else Path(name).suffix[1:]
        return plugins.entries(FILES)[ending].load()(Path(name), *recorded)
    key = name.replace("-", "_")
    entry = plugins.entries(GROUP).get(key)
    if entry is None:
        hint = did_you_mean(key, robot_names())
        if os.path.exists(name):  # noqa: PTH110 - false for a name that is too long
            is_scenario = name.endswith((".yaml", ".yml"))
            file = (
                f"a scenario: accord run ROBOT {name}" if is_scenario else "a file of another kind"
            )
            hint = ", which is " + ("a folder" if Path(name).is_dir() else file)
        raise AccordError(plugins.lacking(GROUP, key) or f"unknown robot {name}{hint}")
    try:
        return entry.load()
    except AccordError:
        raise
    except (Exception, SystemExit) as error:
        what = f"{line_of(error)}{place_of(error)}".removeprefix("raised ")
        raise AccordError(f"robot {key} cannot be loaded: {what}") from error
