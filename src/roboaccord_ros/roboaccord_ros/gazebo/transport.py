"""Imports Gazebo's Python bindings and messages, when they are needed.

`gazebo_module` imports the module of a library by its role: sim, math, transport or msgs. Which
release of Gazebo has it under which name, and in which package, is in releases.toml; all modules
are of one release. `message_class` imports the class of a message; one whose module is not named
after it is entered in MESSAGE_MODULES. test_gz_transport checks the choice of a release, and the
error for each missing package.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import ModuleType
from typing import Any, TypeAlias

from roboaccord.contract import AccordError

# A message of Gazebo, or a class of messages: Gazebo's protobuf has no type hints.
Message: TypeAlias = Any
# Modules of messages whose names are not the message's in snake case.
MESSAGE_MODULES = {"CameraTrack": "cameratrack", "Marker_V": "marker_v", "StringMsg": "stringmsg"}
PROTOBUF = "protobuf for Python (package python3-protobuf)"


@dataclass(frozen=True)
class Release:
    """A release of Gazebo and of the ROS that has it; the fields are those of releases.toml.

    Args:
        gazebo, ros: names of the releases.
        ubuntu, python: versions of the Ubuntu that has them, and of its Python.
        end: end of life of ROS, and of Gazebo.
        dart: version of its physics engine.
        modules: Python module of each library, by role.
        packages: Ubuntu package of each of these modules, by role.
    """

    gazebo: str
    ros: str
    ubuntu: str
    python: str
    end: str
    dart: str
    modules: Mapping[str, str]
    packages: Mapping[str, str]

    def lacking(self) -> list[str]:
        """Return the roles whose modules are not installed."""
        return [role for role, module in self.modules.items() if not _is_installed(module)]


TABLE = tomllib.loads(files(__package__).joinpath("releases.toml").read_text(encoding="utf-8"))
RELEASES = tuple(Release(**entry) for entry in TABLE["releases"])  # the newest first


def installed_release() -> Release:
    """Return the newest release that is installed whole, or else the one that lacks the least."""
    return min(RELEASES, key=lambda release: len(release.lacking()))


@functools.cache
def message_class(kind: str) -> Message:
    """Return the class of a message of Gazebo, such as `JointTrajectory`."""
    # In snake case, such as `joint_trajectory`.
    module = "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")
    module = MESSAGE_MODULES.get(kind, module)
    return getattr(gazebo_module("msgs", f".{module}_pb2"), kind)


def gazebo_module(role: str, part: str = "") -> ModuleType:
    """Import the module of a library of Gazebo.

    Args:
        role: sim, math, transport or msgs.
        part: of the module, such as `.empty_pb2`.

    Raises:
        AccordError: that names the missing package of each release, or says why the module cannot
            be loaded.
    """
    release = installed_release()
    if lacking := release.lacking():
        packages = " or ".join(other.packages[lacking[0]] for other in RELEASES)
        reason = f"the Python module of gz-{lacking[0]} is missing: sudo apt install {packages}"
        raise AccordError(f"{reason}; Gazebo Sim is run by it")
    module = release.modules[role] + part
    try:
        return importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - protobuf has errors of its own
        if str(getattr(error, "name", "")).startswith("google"):
            reason = f"{PROTOBUF} is missing"
        else:
            reason = f"{module} cannot be loaded: {(str(error).splitlines() or [''])[0]}"
    raise AccordError(f"{reason}; Gazebo Sim is run by it")


def _is_installed(module: str) -> bool:
    """Return whether a module has a file; a folder of its name alone is a namespace of Python."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # the package that it is in
        return False
    return spec is not None and spec.has_location
