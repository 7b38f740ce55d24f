"""Let the MonkeyBot walk along the wall without motor and without impacts.

ros2 launch monkeybot passive.launch.py sim:=dart
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("monkeybot", "passive")
