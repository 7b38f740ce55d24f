"""Drive the elbow of the MonkeyBot by /monkeybot/elbow_effort [N m], and switch its magnets.

ros2 launch monkeybot teleop.launch.py sim:=dart
accord teleop monkeybot --ros
The elbow is released when no command has come for 0.5 s.

What keys do may be changed in config/teleop/keyboard.yaml; this file's name stays, for
test/test_teleop.py asks for it.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "monkeybot", "scenario": "teleop"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
