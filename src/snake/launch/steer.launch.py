r"""Steer the snake: a quarter turn by the heading loop, or as commanded on /snake/cmd_vel.

ros2 launch snake steer.launch.py sim:=dart
ros2 topic pub -r 10 /snake/cmd_vel geometry_msgs/msg/Twist \
    "{linear: {x: 0.5}, angular: {z: 0.2}}"
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("snake", "steer")
