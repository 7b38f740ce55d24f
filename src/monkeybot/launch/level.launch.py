"""Let the MonkeyBot walk along the wall, its hands changed where the free one sinks to the line.

ros2 launch monkeybot level.launch.py sim:=dart

`power` and the start in scenarios/level.yaml must stay the orbit `level` of config/gaits.yaml; for
one run the start may be another, and is drawn to it. When hands change is decided by
LevelController in monkeybot/controllers.py.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "monkeybot", "scenario": "level"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
