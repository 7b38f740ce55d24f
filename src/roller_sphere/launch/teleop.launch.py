"""Drive the ball between the rollers by /roller_sphere/cmd_vel: linear x and y [m/s].

ros2 launch roller_sphere teleop.launch.py sim:=dart
accord teleop roller_sphere --ros
It stops when no command has come for 0.5 s.
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("roller_sphere", "teleop")
