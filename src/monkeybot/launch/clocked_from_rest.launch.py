"""Let the MonkeyBot swing out of rest into its stable gait, which Gazebo can do too.

ros2 launch monkeybot clocked_from_rest.launch.py sim:=gz

The four torques of `before` in scenarios/clocked_from_rest.yaml were found by least squares and
lead onto the orbit of `clocked`: they must stay together. Duration and engine may be changed.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "monkeybot", "scenario": "clocked_from_rest"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
