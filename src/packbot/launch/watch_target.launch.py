"""Let elbow 2 of the Packbot go loose as the camera watches a target, and see that target again.

ros2 launch packbot watch_target.launch.py sim:=dart
ros2 launch packbot watch_target.launch.py sim:=gz headless:=true

Target, watching distance (`watch`) and the instant of failure may be changed in
scenarios/watch_target.yaml; the names below stay. Which joints bring the view back is planned in
planning/recovery.py.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "packbot", "scenario": "watch_target"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
