"""Drive the snake by /snake/cmd_vel: speed along its heading [m/s] and turn rate [rad/s].

ros2 launch snake teleop.launch.py sim:=dart
accord teleop snake --ros
It stops when no command has come for 0.5 s.

Nothing to tune here: friction may be changed in scenarios/teleop.yaml, limits of turning and
frequency in snake/controllers/steering.py. The file's name stays: test/test_teleop.py asks for it.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "snake", "scenario": "teleop"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
