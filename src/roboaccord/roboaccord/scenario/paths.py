"""The paths that a scenario names: which keys have them, and who may name them.

A scenario may come from a bag (a recording) or a message, that is, from anybody, and no file that
such data name may be opened. So only a command line may name a path (`check_paths`), and every key
whose value is a path must be listed in PATHS (test_bag_is_data).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from roboaccord.contract.errors import AccordError
from roboaccord.description.resources import share
from roboaccord.scenario.installed import is_file

PATHS = ("file", "folder", "identified")  # keys of controllers and terrains whose value is a path


def paths_of(data: Mapping[str, Any], section: str = "") -> dict[str, str]:
    """Return the paths in the data of a scenario, by key with dots.

    Args:
        data: of the scenario, or of a section.
        section: name of the section, "" at the top.
    """
    paths = dict[str, str]()
    for name, value in data.items():
        key = f"{section}.{name}".strip(".")
        if isinstance(value, Mapping):
            paths |= paths_of(value, key)
        elif isinstance(value, str) and value:
            is_world_file = key == "world" and ("/" in value or value.endswith(".sdf"))
            is_robot_file = key == "robot" and is_file(value)
            if name in PATHS or section == "packages" or is_world_file or is_robot_file:
                paths[key] = value
    return paths


def path_changes(data: Mapping[str, Any]) -> list[str]:
    """Return the paths of a scenario as `KEY=VALUE`, for the command line of another process."""
    return [f"{key}={json.dumps(path)}" for key, path in paths_of(data).items()]


def check_paths(data: Mapping[str, Any], changes: Sequence[str], package: str) -> None:
    """Refuse paths that the command line did not name: they may come from a bag or a message.

    Args:
        data: of the scenario, with the changes.
        changes: `KEY=VALUE` of the command line.
        package: of the robot; its own meshes may be named.

    Raises:
        AccordError: naming the key.
    """
    changed_keys = tuple(f"{change.partition('=')[0].strip()}." for change in changes)
    for key, path in paths_of(data).items():
        is_shipped = Path(path).name == path and (share(package) / "meshes" / path).is_file()
        if not (is_shipped or f"{key}.".startswith(changed_keys)):
            only = f"only a command line may name a file: --set {key}={path} where it takes that"
            raise AccordError(f"{key}: {path} is not read; {only}")
