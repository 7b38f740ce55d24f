"""The description of a robot for launches without a simulator: its URDF and its root link.

In a launch with a simulator the simulator node publishes the description. For safety, a user's file
is read by the core, which limits what the file can do, unless the user sets `trust:=true`
(docs/security.md). Another way to find a URDF is added to `Expansion`.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from ament_index_python.packages import get_packages_with_prefixes
from launch import LaunchContext, Substitution
from launch.substitutions import Command, LaunchConfiguration
from launch_ros.substitutions import FindPackageShare

from roboaccord_ros.launch.planner import find_python


def require(context: LaunchContext, **packages: str) -> None:
    """Check that packages are installed.

    Args:
        context: of the launch.
        **packages: launch configuration that needs each package if it is true; "" always needs it.

    Raises:
        RuntimeError: that names the missing packages and what installs them.
    """
    installed = get_packages_with_prefixes()
    configurations = context.launch_configurations
    needed = [n for n, key in packages.items() if not key or configurations.get(key) == "true"]
    if missing := [name for name in needed if name not in installed]:
        raise RuntimeError(f"{', '.join(missing)} not installed: run `make ros` in the workspace")


def robot_description() -> Command:
    """Return the URDF of the robot of a launch."""
    return Command(Expansion(), on_stderr="warn")


class Expansion(Substitution):  # type: ignore[misc]
    """The command that prints the URDF of the robot of the launch."""

    def perform(self, context: LaunchContext) -> str:
        """Return a command with xacro for a robot's package or a trusted file, else the core's."""
        robot, trust = (LaunchConfiguration(n).perform(context) for n in ("robot", "trust"))
        if not robot.endswith((".urdf", ".xacro")):
            name = robot.replace("-", "_")
            share = Path(FindPackageShare(name).perform(context))
            return f"xacro '{share / 'urdf' / name}.urdf.xacro'"
        fenced = f"'{find_python()}' -P -m roboaccord.description"
        return f"{'xacro' if trust == 'true' else fenced} '{robot}'"


class RootLink(Substitution):  # type: ignore[misc]
    """The root link of a URDF, which serves as the fixed frame of RViz."""

    def __init__(self, urdf: Substitution) -> None:
        super().__init__()
        self._urdf = urdf

    def perform(self, context: LaunchContext) -> str:
        """Return the first link that is not a joint's child."""
        robot = ET.fromstring(self._urdf.perform(context))
        children = {child.get("link") for child in robot.findall("joint/child")}
        links = [str(link.get("name")) for link in robot.findall("link")]
        return next((link for link in links if link not in children), "")
