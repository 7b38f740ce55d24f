"""Drive the heavy ball over waves by /voxel_sphere/cmd_vel.

ros2 launch voxel_sphere teleop.launch.py sim:=dart
accord teleop voxel_sphere --ros
It stops when no command has come for 0.5 s.
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("voxel_sphere", "teleop")
