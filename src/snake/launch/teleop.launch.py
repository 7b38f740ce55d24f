"""Drive the snake by /snake/cmd_vel: speed along its heading [m/s] and turn rate [rad/s].

ros2 launch snake teleop.launch.py sim:=dart
accord teleop snake --ros
It stops when no command has come for 0.5 s.
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("snake", "teleop")
