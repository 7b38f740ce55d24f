"""Let the snake crawl to four waypoints, one after the other.

ros2 launch snake waypoints.launch.py sim:=mujoco

The points, the acceptance radius and the speed may be changed in scenarios/waypoints.yaml; the
names below stay. The law that leads from one to the next is FollowWaypoints in
snake/controllers/guidance.py.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "snake", "scenario": "waypoints"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
