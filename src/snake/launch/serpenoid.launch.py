"""Let the snake crawl by lateral undulation.

ros2 launch snake serpenoid.launch.py sim:=dart

Amplitude, frequency, waves and friction may be changed in scenarios/serpenoid.yaml, or for one run
by `set:="controller.frequency=1.5"`. The two names below stay; for a scenario of your own copy this
file under its name and change them there.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "snake", "scenario": "serpenoid"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
