"""What a launch needs to know before Gazebo runs a robot: whether it can, and where.

To refuse a scenario or ask for a package, extend `check_gazebo`. PARTITION is Gazebo's.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from roboaccord.contract import AccordError
from roboaccord.gazebo import contact_shapes
from roboaccord.scenario import Setup

from roboaccord_ros.gazebo.engine import check_bindings, settings
from roboaccord_ros.gazebo.world import World, refuse_start


def is_installed(package: str) -> bool:
    """Return whether a ROS package is in the ament index."""
    marker = f"share/ament_index/resource_index/packages/{package}"
    prefixes = filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))
    return any(Path(prefix, marker).exists() for prefix in prefixes)


def check_gazebo(setup: Setup) -> None:
    """Check that Gazebo can run a setup here.

    Raises:
        AccordError: where Gazebo or its bindings are missing, or it cannot run the scenario.
    """
    if not shutil.which("gz"):
        raise AccordError("Gazebo Sim (command gz) is not installed; try sim:=dart")
    check_bindings()
    asked = settings(setup)
    contact_shapes(setup, asked.contacts)
    World.of(setup, asked.world).check_period(setup.scenario.control_period)
    refuse_start(setup)
