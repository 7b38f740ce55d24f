"""Roll the kinematic ball across waves.

ros2 launch voxel_sphere sinusoid.launch.py sim:=reference
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("voxel_sphere", "sinusoid")
