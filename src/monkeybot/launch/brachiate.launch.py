"""Let the MonkeyBot travel along the wall, hand over hand, by the report's gait.

ros2 launch monkeybot brachiate.launch.py sim:=dart

The rates 0.902 and 10.935 rad/s and the switch at 0.428 s in scenarios/brachiate.yaml are the
report's (docs/monkeybot.md) and stay; 2 N m follows from its times. Others may be tried by
`set:="controller.power=3"`.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "monkeybot", "scenario": "brachiate"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
