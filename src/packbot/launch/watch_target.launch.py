"""Let the tilt of the Packbot's camera go loose, and bring a target back into its sight.

ros2 launch packbot watch_target.launch.py sim:=dart
ros2 launch packbot watch_target.launch.py sim:=gz headless:=true
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "packbot", "scenario": "watch_target"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
