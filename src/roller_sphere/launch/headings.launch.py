"""Drive the ball between its rollers in twelve headings, each from rest to rest.

ros2 launch roller_sphere headings.launch.py sim:=dart
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("roller_sphere", "headings")
