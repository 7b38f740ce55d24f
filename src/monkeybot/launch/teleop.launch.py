"""Drive the elbow of the MonkeyBot by /monkeybot/elbow_effort [N m], and switch its magnets.

ros2 launch monkeybot teleop.launch.py sim:=dart
accord teleop monkeybot --ros
The elbow is released when no command has come for 0.5 s.
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("monkeybot", "teleop")
