"""Simulate a robot, with its controller; record, cross-check and show it on request.

ros2 launch roboaccord_ros simulate.launch.py robot:=snake scenario:=serpenoid sim:=dart
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments, robot and scenario among them, and start what the planner makes."""
    return simulate_scenario()
