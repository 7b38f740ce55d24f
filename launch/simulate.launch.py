"""Simulate a robot, with its controller; record, cross-check and show it on request.

ros2 launch roboaccord_ros simulate.launch.py robot:=snake scenario:=serpenoid sim:=dart
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from roboaccord_ros.bringup import start_planned
from roboaccord_ros.plan.arguments import ARGUMENTS


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; start what the planner makes of them once they are known."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=start_planned)])
