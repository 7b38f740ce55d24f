"""Let the MonkeyBot swing down on hand A, and on by hand B.

ros2 launch monkeybot swing.launch.py sim:=dart
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("monkeybot", "swing")
