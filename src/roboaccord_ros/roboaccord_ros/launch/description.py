"""The description of a robot without a simulator: its URDF, and the link that stands still.

To find the URDF of a robot in another way, extend `Expansion`. Fixed for safety: a file is read by
the core, within its fence, unless the user sets `trust:=true` (docs/security.md). A launch with a
simulator needs none of this, for the simulator node publishes the description.
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
    """Refuse a launch that lacks packages.

    Args:
        context: of the launch.
        **packages: for each, under which launch configuration it is needed; always if empty.

    Raises:
        RuntimeError: naming them, and what installs them.
    """
    there = get_packages_with_prefixes()
    true = {"", *(key for key, value in context.launch_configurations.items() if value == "true")}
    if missing := [name for name, key in packages.items() if key in true and name not in there]:
        raise RuntimeError(f"{', '.join(missing)} not installed: run `make ros` in the workspace")


def robot_description() -> Command:
    """Return the URDF of the robot of a launch."""
    return Command(Expansion(), on_stderr="warn")


class Expansion(Substitution):  # type: ignore[misc]
    """Command that prints the URDF of the robot of the launch."""

    def perform(self, context: LaunchContext) -> str:
        """Return xacro for the package NAME or by `trust:=true`, else the workspace's, fenced."""
        robot, trust = (LaunchConfiguration(n).perform(context) for n in ("robot", "trust"))
        if not robot.endswith((".urdf", ".xacro")):
            name = robot.replace("-", "_")
            share = Path(FindPackageShare(name).perform(context))
            return f"xacro '{share / 'urdf' / name}.urdf.xacro'"
        own = f"'{find_python()}' -P -m roboaccord.description"
        return f"{'xacro' if trust == 'true' else own} '{robot}'"


class RootLink(Substitution):  # type: ignore[misc]
    """Root link of a URDF, the frame in which nothing of the robot's base moves."""

    def __init__(self, urdf: Substitution) -> None:
        super().__init__()
        self._urdf = urdf

    def perform(self, context: LaunchContext) -> str:
        """Return the first link that is not a joint's child."""
        robot = ET.fromstring(self._urdf.perform(context))
        children = {child.get("link") for child in robot.findall("joint/child")}
        links = [str(link.get("name")) for link in robot.findall("link")]
        return next((link for link in links if link not in children), "")
