"""Drive the ball between the rollers by /roller_sphere/cmd_vel: linear x and y [m/s].

ros2 launch roller_sphere teleop.launch.py sim:=dart
accord teleop roller_sphere --ros
It stops when no command has come for 0.5 s.

The limit of acceleration may be changed, a key of the controller `drive` in scenarios/teleop.yaml.
This file and a start at rest stay, for test/test_teleop.py asks for both.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "roller_sphere", "scenario": "teleop"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
