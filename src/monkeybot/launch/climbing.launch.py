"""Let the MonkeyBot climb the wall, 12 mm a step.

ros2 launch monkeybot climbing.launch.py sim:=dart

The numbers in scenarios/climbing.yaml must stay together: they are the gait `climbing` of
config/gaits.yaml, and test_scenarios compares them. The rise may be changed once `accord monkeybot
find` has found a gait for it.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "monkeybot", "scenario": "climbing"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
