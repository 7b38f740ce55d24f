"""Let the MonkeyBot walk along the wall with a short free flight between the hands.

ros2 launch monkeybot flying.launch.py sim:=dart

The 10 ms of flight are `flight` in scenarios/flying.yaml; state and torque there make the gait of
config/gaits.yaml repeat and must stay together, so the flight may be longer only with another
orbit.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "monkeybot", "scenario": "flying"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
