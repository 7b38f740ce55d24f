"""Let the MonkeyBot walk along the wall by the clock, stable without feedback.

ros2 launch monkeybot clocked.launch.py sim:=dart

State, period and torque in scenarios/clocked.yaml must stay the orbit `clocked` of
config/gaits.yaml, which test_scenarios compares. For one run the walk may be disturbed by
`initial.qd.elbow`, and comes back.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "monkeybot", "scenario": "clocked"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
