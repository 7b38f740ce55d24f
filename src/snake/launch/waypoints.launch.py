"""Let the snake crawl to four waypoints, one after the other.

ros2 launch snake waypoints.launch.py sim:=mujoco
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "snake", "scenario": "waypoints"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
