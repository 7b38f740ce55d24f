"""Let the MonkeyBot walk along the wall in two unequal steps.

ros2 launch monkeybot two_step.launch.py sim:=dart

Both periods and the start are in scenarios/two_step.yaml, as config/gaits.yaml has the orbit; they
must stay together. The duration may be changed.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "monkeybot", "scenario": "two_step"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
