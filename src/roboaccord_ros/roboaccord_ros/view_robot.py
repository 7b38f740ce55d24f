"""Launch description that shows a robot in RViz, without a simulator.

It imports launch, launch_ros and the standard library alone, as bringup.py does.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from launch import LaunchContext, LaunchDescription, Substitution
from launch.actions import DeclareLaunchArgument, Shutdown
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import Command, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from roboaccord_ros.bringup import find_python

BOOL = ("true", "false")
TRUST = "let a stranger's xacro file do all that you can"


def view_robot(robot: str | None = None) -> LaunchDescription:
    """Return a description that starts robot_state_publisher, a source of joint states, and RViz.

    Args:
        robot: default of the argument `robot`; None: the argument is required.
    """
    urdf = Command(Expansion(), on_stderr="warn")
    config = PathJoinSubstitution(
        [FindPackageShare("roboaccord_ros"), "config", "rviz", "view_robot.rviz"]
    )
    gui, rviz = LaunchConfiguration("gui"), LaunchConfiguration("rviz")
    sliders, fixed = "joint_state_publisher_gui", "joint_state_publisher"
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "robot", default_value=robot, description="name of a robot, or a URDF or xacro file"
            ),
            DeclareLaunchArgument(
                "gui",
                default_value="true",
                choices=BOOL,
                description=f"{sliders}, with a slider a joint; false: {fixed}",
            ),
            DeclareLaunchArgument("trust", default_value="false", choices=BOOL, description=TRUST),
            DeclareLaunchArgument(
                "rviz", default_value="true", choices=BOOL, description="show the robot in RViz"
            ),
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                parameters=[{"robot_description": ParameterValue(urdf, value_type=str)}],
                on_exit=Shutdown(),
            ),
            Node(package=sliders, executable=sliders, condition=IfCondition(gui)),
            Node(package=fixed, executable=fixed, condition=UnlessCondition(gui)),
            Node(
                package="rviz2",
                executable="rviz2",
                arguments=["-d", config, "-f", RootLink(urdf)],
                output="log",
                condition=IfCondition(rviz),
                on_exit=Shutdown(),
            ),
        ]
    )


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
