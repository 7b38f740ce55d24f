"""Gazebo's Python bindings and messages.

For another version of Gazebo, change PACKAGES and the names of modules (gz.msgs10, gz.sim8,
gz.transport13); a message in a module of another name is entered in MODULES. test_gz_transport
holds what is said if a package is missing.
"""

from __future__ import annotations

import functools
import importlib
from types import ModuleType
from typing import Any, TypeAlias

from roboaccord.contract import AccordError

Message: TypeAlias = Any  # or a class of them: protobuf, which Gazebo brings, has no types
# Messages whose file is not named as all others' are.
MODULES = {"CameraTrack": "cameratrack", "StringMsg": "stringmsg"}
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
    """Import a module of Gazebo's.

    Raises:
        AccordError: naming the package that is missing, or what does not fit.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        lacks = (
            "google" if str(error.name).startswith("google") else ".".join(module.split(".")[:2])
        )
        reason = f"{PACKAGES[lacks]} is missing"
    except Exception as error:  # noqa: BLE001 - protobuf has errors of its own
        reason = f"{module} cannot be loaded: {(str(error).splitlines() or [''])[0]}"
    raise AccordError(f"{reason}; Gazebo Sim is run by it")
