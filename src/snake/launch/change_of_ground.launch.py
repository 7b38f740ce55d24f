"""Let the snake come to another ground, notice it, and change its gait.

ros2 launch snake change_of_ground.launch.py sim:=dart
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("snake", "change_of_ground")
