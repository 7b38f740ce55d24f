"""Release the heavy ball in a bowl.

ros2 launch voxel_sphere bowl.launch.py sim:=dart
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("voxel_sphere", "bowl")
