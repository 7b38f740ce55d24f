"""Imports Gazebo's Python bindings and messages, when they are needed.

`load` imports a module, `message` the class of a message; where a package is missing, the error
names it. For another version of Gazebo, change PACKAGES and the names of modules (gz.msgs10,
gz.sim8, gz.transport13). A message whose module is not named as `message` expects is entered in
MODULES. test_gz_transport checks the error for each missing package.
"""

from __future__ import annotations

import functools
import importlib
from types import ModuleType
from typing import Any, TypeAlias

from roboaccord.contract import AccordError

# A message of Gazebo, or a class of them: Gazebo's protobuf has no type hints.
Message: TypeAlias = Any
# Modules of messages whose names are not the message's in snake case.
MODULES = {"CameraTrack": "cameratrack", "StringMsg": "stringmsg"}
# Package to install for each module, stated in the error if it is missing.
PACKAGES = {
    "google": "protobuf for Python (package python3-protobuf)",
    "gz.msgs10": "the Python messages of gz-msgs 10 (package ros-jazzy-gz-msgs-vendor)",
    "gz.sim8": "the Python bindings of Gazebo Sim 8 (package ros-jazzy-gz-sim-vendor)",
    "gz.math7": "the Python bindings of gz-math 7 (package ros-jazzy-gz-math-vendor)",
    "gz.transport13": "the Python bindings of gz-transport 13 "
    "(package ros-jazzy-gz-transport-vendor from 0.0.9 on)",
}


@functools.cache
def message(kind: str) -> Message:
    """Return the class of a message of Gazebo, such as `JointTrajectory`."""
    module = "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")
    module = MODULES.get(kind, module)
    return getattr(load(f"gz.msgs10.{module}_pb2"), kind)


def load(module: str) -> ModuleType:
    """Import a module of Gazebo.

    Raises:
        AccordError: that names the missing package, or says why it cannot be loaded.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        is_protobuf = str(error.name).startswith("google")
        package = "google" if is_protobuf else ".".join(module.split(".")[:2])
        reason = f"{PACKAGES[package]} is missing"
    except Exception as error:  # noqa: BLE001 - protobuf has errors of its own
        reason = f"{module} cannot be loaded: {(str(error).splitlines() or [''])[0]}"
    raise AccordError(f"{reason}; Gazebo Sim is run by it")
