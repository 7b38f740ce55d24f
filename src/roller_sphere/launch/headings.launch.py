"""Drive the ball between its rollers in twelve headings, each from rest to rest.

ros2 launch roller_sphere headings.launch.py sim:=dart

Number of headings, their time and speed may be changed, keys of the controller in
scenarios/headings.yaml; the angles of the rollers in config/parameters.yaml are fixed by the paper.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "roller_sphere", "scenario": "headings"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
