"""Let the snake move by the post's eight configurations.

ros2 launch snake lateral_undulation.launch.py sim:=dart
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("snake", "lateral_undulation")
