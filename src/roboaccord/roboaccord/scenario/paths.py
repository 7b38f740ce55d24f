"""Paths that a scenario names: which keys they are, and who may name them.

A key that names a path must be in PATHS, so that no bag, message or shipped file opens what it
names: only a command line may (test_bag_is_data).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from roboaccord.contract.errors import AccordError
from roboaccord.description.resources import share
from roboaccord.scenario.installed import is_file

PATHS = ("file", "folder", "identified")  # keys of controllers and of terrain that name a path


def paths_of(data: Mapping[str, Any], section: str = "") -> dict[str, str]:
    """Return the paths that the data of a scenario name, by key."""
    paths = dict[str, str]()
    for name, value in data.items():
        key = f"{section}.{name}".strip(".")
        if isinstance(value, Mapping):
            paths |= paths_of(value, key)
        elif isinstance(value, str) and value:
            world = key == "world" and ("/" in value or value.endswith(".sdf"))
            other = name in PATHS or section == "packages" or (key == "robot" and is_file(value))
            paths |= {key: value} if world or other else {}
    return paths


def path_changes(data: Mapping[str, Any]) -> list[str]:
    """Return the paths of a scenario as `KEY=VALUE`, by which another process may read them."""
    return [f"{key}={json.dumps(path)}" for key, path in paths_of(data).items()]


def check_paths(data: Mapping[str, Any], changes: Sequence[str], package: str) -> None:
    """Refuse a path that only the scenario names, as that may come from a bag or a message.

    Args:
        data: of the scenario.
        changes: `KEY=VALUE` of the command line, which are in it.
        package: of the robot, whose meshes may be named.

    Raises:
        AccordError: naming the key.
    """
    given = tuple(f"{change.partition('=')[0].strip()}." for change in changes)
    for key, path in paths_of(data).items():
        ships = Path(path).name == path and (share(package) / "meshes" / path).is_file()
        if not (ships or f"{key}.".startswith(given)):
            only = f"only a command line may name a file: --set {key}={path} where it takes that"
            raise AccordError(f"{key}: {path} is not read; {only}")
