"""Launch description of a robot's scenario; imports nothing but launch and launch_ros.

`ros2 launch` reads launch files in the Python of ROS, which need not have the core's libraries.
"""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare


def simulate_scenario(robot: str, scenario: str) -> LaunchDescription:
    """Return a description that includes simulate.launch.py, whose other arguments it takes.

    Args:
        robot: name of the robot.
        scenario: name of one of its scenarios.
    """
    shared = PathJoinSubstitution(
        [FindPackageShare("roboaccord_ros"), "launch", "simulate.launch.py"]
    )
    arguments = {"robot": robot, "scenario": scenario}
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=arguments.items())])
