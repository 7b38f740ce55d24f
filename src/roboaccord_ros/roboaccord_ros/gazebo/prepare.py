"""Checks before a launch whether Gazebo can run a setup on this machine.

The planner of launches (plan/) calls `check_gazebo`, which names a missing package, or why a
scenario cannot run in Gazebo. `is_installed` finds any package of ROS, without loading it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from roboaccord.contract import AccordError
from roboaccord.gazebo import contact_shapes
from roboaccord.scenario import Setup

from roboaccord_ros.gazebo.engine import check_bindings, gazebo_settings
from roboaccord_ros.gazebo.world import World, refuse_start


def is_installed(package: str) -> bool:
    """Return whether a ROS package is in the ament index."""
    marker = f"share/ament_index/resource_index/packages/{package}"
    prefixes = filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))
    return any(Path(prefix, marker).exists() for prefix in prefixes)


def check_gazebo(setup: Setup) -> None:
    """Check that Gazebo can run a setup here.

    Raises:
        AccordError: if Gazebo or its bindings are missing, or it cannot run the scenario.
    """
    if not shutil.which("gz"):
        raise AccordError("Gazebo Sim (command gz) is not installed; try sim:=dart")
    check_bindings()
    options = gazebo_settings(setup)
    contact_shapes(setup, options.contacts)
    World.write(setup, options.world).check_period(setup.scenario.control_period)
    refuse_start(setup)
