"""Roll the kinematic ball up an incline, askew.

ros2 launch voxel_sphere incline.launch.py sim:=reference
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("voxel_sphere", "incline")
