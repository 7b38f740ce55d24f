"""Let the MonkeyBot walk along the wall, its hands changed where the free one sinks to the line.

ros2 launch monkeybot level.launch.py sim:=dart
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("monkeybot", "level")
