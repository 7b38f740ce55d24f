"""Drive the ball between its rollers along a figure of eight.

ros2 launch roller_sphere figure_eight.launch.py sim:=dart

Radius, speed and `compensation` may be changed in scenarios/figure_eight.yaml: set the last one to
false to see the path that neglects slip. The two names below stay.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "roller_sphere", "scenario": "figure_eight"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
