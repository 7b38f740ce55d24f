"""Let a carrier drive over the ground, and its rollers dribble a ball ahead of it.

ros2 launch roller_sphere dribble.launch.py sim:=dart
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("roller_sphere", "dribble")
