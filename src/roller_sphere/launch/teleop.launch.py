"""Drive the ball between the rollers by /roller_sphere/cmd_vel: linear x and y [m/s].

ros2 launch roller_sphere teleop.launch.py sim:=dart
accord teleop roller_sphere --ros
It stops when no command has come for 0.5 s.

The limit of acceleration may be changed, a key of the controller `drive` in scenarios/teleop.yaml.
This file and a start at rest stay, for test/test_teleop.py asks for both.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="roller_sphere", scenario="teleop")
