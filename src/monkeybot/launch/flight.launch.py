"""Let the MonkeyBot let go of the wall, and fly.

ros2 launch monkeybot flight.launch.py sim:=dart

When to let go and to grip is a list, `steps`, in scenarios/flight.yaml, which may be changed, for
this is a demonstration of modes and not a gait. The names below stay.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "monkeybot", "scenario": "flight"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
